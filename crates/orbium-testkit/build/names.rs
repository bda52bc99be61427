// SPDX-License-Identifier: MIT OR Apache-2.0
//! An IDL file in which every name that means something to Rust or to the code
//! generator stands in every position that IDL has for a name.

use std::fmt::Write;

/// Keywords, primitive types and crates of Rust.
const WORDS: &str = "abstract as async await become box break const continue crate do dyn else \
    enum extern false final fn for gen if impl in let loop macro match mod move mut override priv \
    pub raw ref return self static struct super trait true try type typeof union unsafe unsized \
    use virtual where while yield auto macro_rules safe bool char str u8 u16 u32 u64 u128 usize \
    i8 i16 i32 i64 i128 isize f32 f64 core std alloc test clippy rustfmt orb orbium codegen";

/// The prelude, names imported by many programs, and types and variants that the generator
/// writes.
const TYPES: &str = "Self AsMut AsRef Box Clone Copy Debug Default DoubleEndedIterator Drop Eq \
    Err Error ExactSizeIterator Extend Fn FnMut FnOnce From FromIterator Hash Into IntoIterator \
    Iterator None Ok Option Ord PartialEq PartialOrd Result Send Sized Some String Sync ToOwned \
    ToString TryFrom TryInto Unpin Vec Any Arc Cow Display Formatter PhantomData Rc Call Encode \
    Decode FixedSize Layout Interface Servant ServedBy Skeleton Typed Type TypeCode Raises Raised \
    Reply Sent UntypedReply Operation OperationTable ObjectRef SystemException System UserException DispatchError \
    CdrError CdrErrorKind CdrReader CdrWriter Asynchronous Char WChar Fixed LongDouble Member \
    Field Other";

/// Names that the generator makes of other names.
const DERIVED: &str = "XServant XSkeleton XError Results AsyncResults Zq_peerServant Zq_peerSkeleton \
    Zq_peerDivideResults Zq_peerDivideAsyncResults Zq_refusedError";

/// Of these, those that generated code writes most.
const COMMON: &str = "Self Box Clone Copy Debug Default Err Error From None Ok Option PartialEq \
    Result Send Sized Some String Sync ToOwned TryFrom Vec Any Arc Cow Call System Other Type";

/// Macros, and functions and variables that the generator writes.
const VALUES: &str = "assert assert_eq cfg column compile_error concat dbg derive doc env file \
    format format_args include inline line matches module_path must_use panic print println repr \
    stringify thread_local todo unreachable vec warn write writeln allow deny expect forbid value \
    reader writer call arguments reply outcome results known id item count listed truncated \
    members exception derived servant repository_id out w r sent new_value result f fmt from error \
    encode decode encode_into decode_into encode_slice store load dispatch is_a skeleton \
    as_object from_object with_timeout with_protocols set_value encode_string_5 decode_string_5 \
    encode_wstring_5 decode_wstring_5 decode_wstring encode_string_5_sequence clone eq hash \
    to_owned to_vec as_ref cloned len push unwrap read_str write_str find new default next narrow \
    discriminator OP SWAP TYPE LAYOUT MIN_SIZE REPOSITORY_ID";

/// Of the keywords and crates, those that mean something in a path.
const PATH_WORDS: &str = "crate self super core std alloc test orb orbium codegen type";

/// Operations that would be called like what others bring with them.
const FEATURES: &str = "get_data getData_ get_data_into get_data_async get_data__into set_value \
    with_timeout clone decode_wstring encode_string_5";

/// One definition of every kind, so that every form of generated code stands in
/// the scope of the names.
const SPECIMEN: &str = r#"
  enum zq_hue { zq_red, zq_green };
  typedef string<5> zq_short;
  typedef sequence<zq_short, 7> zq_shorts;
  typedef long zq_matrix[2][3];
  struct zq_plain { long zq_l; zq_hue zq_h; };
  struct zq_heap { zq_short zq_s; wstring zq_w; sequence<zq_heap> zq_r; any zq_a; zq_matrix zq_m; };
  union zq_case switch (zq_hue) { case zq_red: zq_heap zq_h; case zq_green: long zq_l; };
  union zq_flag switch (boolean) { case TRUE: string zq_s; };
  union zq_many switch (long) { case 1: case 2: zq_shorts zq_s; default: zq_plain zq_p; };
  exception zq_refused { zq_short zq_why; };
  exception zq_empty {};
  const fixed zq_price = 1.50d;
  const zq_hue zq_best = zq_green;
  const double zq_half = 0.5;
  local interface zq_near { zq_near zq_get(out boolean zq_b); };
  interface zq_base { readonly attribute wstring<5> zq_name; };
  @ami interface zq_peer : zq_base {
    attribute zq_short zq_label setraises (zq_refused);
    oneway void zq_post(in long zq_l);
    long zq_divide(in zq_many zq_m, inout zq_heap zq_h, out zq_flag zq_f) raises (zq_refused, zq_empty);
    zq_shorts zq_all(in zq_shorts zq_s, in zq_peer zq_p, in Object zq_o, in zq_case zq_c, in wstring zq_w);
    wstring zq_wide(inout zq_short zq_s) raises (zq_refused);
    sequence_of_plain zq_block(in sequence_of_plain zq_p, inout zq_hue zq_h, in zq_matrix zq_m);
  };
"#;

/// The names in some lists, each once, whatever their case: names that differ in
/// case only are one in IDL.
fn names(lists: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in lists.iter().flat_map(|list| list.split_whitespace()) {
        if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            names.push(name.to_owned());
        }
    }
    names
}

/// A definition for each name: `#` stands for the name, `%` for its number.
fn each(names: &[String], definition: &str) -> String {
    let mut text = String::new();
    for (i, name) in names.iter().enumerate() {
        let one = definition
            .replace('%', &i.to_string())
            .replace('#', &format!("_{name}"));
        writeln!(text, "  {one}").expect("text");
    }
    text
}

/// Definitions around several names each: `*` stands for what is made of each.
fn groups(names: &[String], definition: &str, part: &str, between: &str) -> String {
    let mut text = String::new();
    for (i, group) in names.chunks(20).enumerate() {
        let parts: Vec<String> = group
            .iter()
            .map(|name| part.replace('#', &format!("_{name}")))
            .collect();
        let one = definition
            .replace('%', &i.to_string())
            .replace('*', &parts.join(between));
        writeln!(text, "  {one}").expect("text");
    }
    text
}

/// The file.
pub(crate) fn idl() -> String {
    let letters = ('A'..='Z').map(|c| format!("{c} ")).collect::<String>();
    let types = names(&[&letters, TYPES, DERIVED]);
    let common = names(&[&letters, COMMON]);
    // Interfaces take longest to compile, and @ami operations longer than others.
    let interfaces = names(&[&letters, COMMON, DERIVED]);
    let parameters = names(&[&letters, VALUES, "self type match async dyn"]);
    let values = names(&[&letters, WORDS, VALUES]);
    let features = names(&[FEATURES, "type self match S T new value call"]);
    let blocks = "  struct zq_block_item { long zq_l; };
  typedef sequence<zq_block_item> sequence_of_plain;";
    let specimen = format!("{blocks}{SPECIMEN}");
    let uses = "struct zq_u% { # zq_x; sequence<#> zq_y; }; interface zq_i% { # zq_f(in # zq_v, inout # zq_w, out # zq_x); };";
    let few = names(&["S T Option Some Self"]);
    let modules = [
        (
            "fixed",
            each(&types, "struct # { long zq_x; };") + &specimen + &each(&few, uses),
        ),
        (
            "interfaces",
            each(&interfaces, "interface #;")
                + &each(&interfaces, "interface # { void zq_f(in # zq_v); };")
                + &specimen
                + &each(&few, uses),
        ),
        (
            "enums",
            each(&common, "enum # { zq_a%, zq_b% };") + &each(&few, uses),
        ),
        (
            "heap",
            each(&common, "struct # { string<5> zq_x; sequence<#> zq_y; };") + &each(&few, uses),
        ),
        (
            "unions",
            each(
                &common,
                "union # switch (long) { case 1: long zq_x; case 2: case 3: string<5> zq_y; };",
            ) + &each(&few, uses),
        ),
        (
            "typedefs",
            each(&types, "typedef sequence<string<5> > #;") + &each(&few, uses),
        ),
        (
            "exceptions",
            each(&types, "exception # { string<5> zq_x; };")
                + &specimen
                + &groups(
                    &types,
                    "interface zq_i% { string zq_f() raises (*); };",
                    "#",
                    ", ",
                )
                + &each(
                    &few,
                    "interface zq_j% { string<5> zq_f(inout long zq_v) raises (#); };",
                ),
        ),
        (
            "locals",
            each(
                &types,
                "local interface # { # zq_get(out boolean zq_created); void zq_set(in # zq_v); };",
            ),
        ),
        (
            "derived",
            each(
                &few,
                "interface zq_b% { void zq_f(); }; @ami interface # : zq_b% { string zq_g(in # zq_v); };",
            ),
        ),
        ("consts", each(&values, "const long # = %;") + &specimen),
        ("strings", each(&common, "const string # = \"orb::#\";")),
        (
            "members",
            groups(&values, "struct zq_s% { *; };", "long #", "; "),
        ),
        (
            "texts",
            groups(
                &values,
                "struct zq_s% { *; wstring zq_w; };",
                "string<5> #",
                "; ",
            ),
        ),
        (
            "failures",
            groups(&values, "exception zq_s% { *; };", "string<5> #", "; "),
        ),
        (
            "enumerators",
            groups(&types, "enum zq_e% { * };", "#", ", "),
        ),
        (
            "cases",
            format!(
                "union zq_u switch (short) {{ {} default: string<5> zq_d; }};",
                each(&types, "case %: string<5> #;"),
            ),
        ),
        (
            "operations",
            format!(
                "@ami interface zq_i {{ {} }};",
                each(&features, "string<5> #(in string<5> zq_v);")
            ),
        ),
        (
            "methods",
            format!("interface zq_i {{ {} }};", each(&values, "void #();")),
        ),
        (
            "attributes",
            format!(
                "@ami interface zq_i {{ {} }};",
                each(
                    &names(&[FEATURES, "value self type S"]),
                    "attribute wstring<5> #;"
                )
            ),
        ),
        (
            "parameters",
            format!(
                "typedef sequence<string<5> > zq_list; @ami interface zq_i {{ {}{}{}{} }};",
                groups(&parameters, "string<5> zq_f%(*);", "in string<5> #", ", "),
                groups(&parameters, "wstring zq_g%(*);", "inout wstring<5> #", ", "),
                groups(&parameters, "zq_list zq_h%(*);", "out zq_list #", ", "),
                groups(&parameters, "wstring zq_i%(*);", "in long #", ", "),
            ),
        ),
        (
            "modules",
            each(
                &names(&[&letters, PATH_WORDS, COMMON]),
                "module # { struct zq_s { long zq_x; }; module zq_m { const long V = 1; }; };",
            ) + &each(
                &names(&["S T Option Some self"]),
                "module # { interface zq_i { zq_s zq_f(in zq_s zq_v); }; };",
            ),
        ),
        (
            "hollow",
            each(&values, "module # { module zq_m { const long V = 1; }; };"),
        ),
        (
            "inside",
            each(
                &few,
                "interface zq_i% { struct # { long zq_x; }; # zq_f(in # zq_v); };",
            ),
        ),
        (
            "around",
            each(
                &names(&["S T X Option Some Self String Vec Type Result Call"]),
                "interface # { struct zq_s { long zq_x; }; }; struct zq_s% { #::zq_s zq_x; };",
            ),
        ),
    ];
    let mut out = String::new();
    for (name, content) in &modules {
        writeln!(out, "module zq_{name} {{\n{content}}};").expect("text");
    }
    // What ends in `orb` is not the runtime.
    out.push_str("module Borb { module M { const long V = 1; }; };\n");
    out
}

/// An interface with that many operations, some of which give what can be
/// borrowed, raise an exception or have several results.
pub(crate) fn many(operations: usize) -> String {
    let mut idl = String::from(
        "module Many { typedef sequence<octet> Octets; exception Refused { string why; };\n\
         interface Wide {\n",
    );
    for i in 0..operations {
        let operation = match i % 3 {
            0 => format!("long add_{i}(in long a, in string call)"),
            1 => format!("string name_{i}(in string text, inout long n) raises (Refused)"),
            _ => format!("Octets all_{i}(out long count)"),
        };
        writeln!(idl, "    {operation};").expect("text");
    }
    idl + "  };\n};\n"
}
