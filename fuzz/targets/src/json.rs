// SPDX-License-Identifier: MIT OR Apache-2.0
//! JSON of any form as a value of a type.

use orbium_cdr::TypeCode;
use orbium_dynamic::{Definitions, JsonOptions, from_json, to_json};
use orbium_idl::{Options, compile_source};

const IDL: &str = "
    enum Colour { red, green, blue };
    struct Node; typedef sequence<Node> Nodes; struct Node { string name; Nodes below; };
    union Choice switch (char) { case 'a': octet o; case 'b': case 'c': Nodes tree; default: double d; };
    struct Numbers {
        boolean b; octet o; short s; unsigned long ul; long long ll; unsigned long long ull;
        float f; double d; long double ld; fixed<5,2> m; fixed<31,31> n; char c; wchar w;
    };
    struct Texts {
        string<4> s; wstring<3> w; sequence<octet> y; octet u[4]; sequence<char, 5> z;
        long x[2][3]; Colour c; any a; Object r; Choice one; Numbers many[1];
    };
    valuetype Link { public Link next; public sequence<Link> others; private any more; };
    valuetype Named : truncatable Link { public string called; };
    valuetype Text string;
    struct Graph { Link first; Link second; Text boxed; };
";

const TYPES: &[&str] = &["Colour", "Node", "Choice", "Numbers", "Texts", ANY, "Graph"];

/// Any type; so are numbers beyond the list.
const ANY: &str = "any";

/// The first octet chooses a type (an `any`, or a struct with every type inside), the rest is
/// JSON. Never panics; what is refused is refused with a path; what is read can be written,
/// and reads back bit for bit, as long as no type is described in full: JSON may describe
/// types that no IDL can, such as one inside another of the same id.
pub fn json(input: &[u8]) {
    let Some((choice, text)) = input.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let compiled = compile_source(&Options::new(), "types.idl", IDL);
    let definitions = Definitions::new(compiled.model.expect("the IDL is right"));
    let options = JsonOptions {
        types: Some(&definitions),
        guess_types: choice & 0x80 != 0,
        wide_integers_as_numbers: choice & 0x40 != 0,
        indent: (choice & 0x20 != 0).then_some(1),
    };
    let name = TYPES.get(usize::from(choice & 0x0f));
    let code = match name {
        None | Some(&ANY) => TypeCode::from(orbium_cdr::Type::ANY),
        Some(name) => definitions.type_named(name).expect("a type of the IDL"),
    };
    let any = match from_json(&code, text, &options) {
        Ok(any) => any,
        Err(error) => return assert!(error.path().starts_with('$'), "{error}"),
    };
    let Ok(written) = to_json(&any, &options) else {
        panic!("what was read cannot be written: {any:?}");
    };
    if written.contains("\"kind\"") {
        return;
    }
    let again = from_json(&code, &written, &options);
    let again = again.unwrap_or_else(|error| panic!("{error} in {written}"));
    assert_eq!(any.value_octets(), again.value_octets(), "{written}");
}
