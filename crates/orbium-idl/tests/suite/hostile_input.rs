// SPDX-License-Identifier: MIT OR Apache-2.0
//! Input made to hurt: it ends in diagnostics, soon, and never in a panic.

use std::path::Path;

use orbium_idl::{
    Compilation, Memory, Options, compile, compile_bytes, compile_source, compile_with,
};

const KITCHEN: &str = include_str!("../../../../idl/kitchen.idl");

fn rejected(text: &str, code: &str) -> Compilation {
    let compilation = compile_source(&Options::new(), "bad.idl", text);
    assert!(compilation.model.is_none());
    let codes: Vec<_> = compilation.errors().map(|d| d.code).collect();
    assert!(codes.contains(&code), "{code} is not among {codes:?}");
    compilation
}

/// Conformance: IDL - hostile IDL
#[test]
fn nesting_is_bounded_everywhere() {
    let deep = 100_000;
    let around = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(deep), close.repeat(deep))
    };
    rejected(&around("module M { ", "", "};"), "nesting");
    rejected(
        &format!("typedef {} T;", around("sequence<", "long", " >")),
        "nesting",
    );
    rejected(
        &format!("const long X = {};", around("(", "1", ")")),
        "nesting",
    );
    rejected(&around("struct S { ", "long x;", "} s;"), "nesting");
    rejected(
        &around("union U switch (long) { case 1: ", "long x;", "} s;"),
        "nesting",
    );
    rejected(
        &format!("#if {}\n#endif\n", around("(", "1", ")")),
        "malformed-directive",
    );
    rejected(&format!("typedef long X{};", "[1".repeat(deep)), "syntax");
}

/// Conformance: IDL - hostile IDL
#[test]
fn long_expressions_cost_no_stack() {
    let sum = vec!["1"; 200_000].join("+");
    let compilation = compile_source(
        &Options::new(),
        "long.idl",
        &format!("const long X = {sum};"),
    );
    assert!(compilation.model.is_some(), "{compilation}");
    let signs = "-".repeat(200_000);
    let compilation = compile_source(
        &Options::new(),
        "long.idl",
        &format!("const long X = {signs}1;"),
    );
    assert!(compilation.model.is_some(), "{compilation}");
    let condition = format!(
        "#if {}\n#error x\n#endif\nconst long X = 1;",
        vec!["0"; 200_000].join("||")
    );
    assert!(
        compile_source(&Options::new(), "long.idl", &condition)
            .model
            .is_some()
    );
}

#[test]
fn long_chains_of_definitions_cost_no_stack() {
    let mut text = String::from("typedef long T0;\ninterface I0 {};\n");
    for n in 1..5_000 {
        text.push_str(&format!(
            "typedef sequence<T{}> T{n};\ninterface I{n} : I{} {{}};\n",
            n - 1,
            n - 1
        ));
    }
    text.push_str("struct S { T4999 t; }; interface U { void f(in S value, in I4999 target); };");
    let compilation = compile_source(&Options::new(), "chain.idl", &text);
    assert!(compilation.model.is_some(), "{compilation}");
}

/// Conformance: IDL - hostile IDL
#[test]
fn macro_expansion_is_bounded() {
    let mut doubling = String::from("#define A0 1 +\n");
    let mut nested = String::from("#define F0(x) x x\n");
    for n in 1..64 {
        doubling.push_str(&format!("#define A{n} A{} A{}\n", n - 1, n - 1));
        nested.push_str(&format!("#define F{n}(x) F{}(F{}(x))\n", n - 1, n - 1));
    }
    rejected(
        &format!("{doubling}const long X = A63 1;"),
        "expansion-too-large",
    );
    rejected(
        &format!("{nested}const long X = F63(1);"),
        "expansion-too-large",
    );
    rejected("#define F(x) x F\nconst long X = F(1)(2)(3)(4);", "syntax");
    let deep = format!(
        "#define F(x) x\nconst long X = {}1{};",
        "F(".repeat(20_000),
        ")".repeat(20_000)
    );
    compile_source(&Options::new(), "deep.idl", &deep);
}

/// Conformance: IDL - hostile IDL
#[test]
fn including_without_end_is_stopped() {
    let loader = Memory::new().with(
        "self.idl",
        "typedef long T;\n#include \"self.idl\"\n#include \"self.idl\"\n",
    );
    let compilation = compile_with(&Options::new(), &loader, Path::new("self.idl"));
    assert!(
        compilation.errors().any(|d| d.code == "include-too-deep"),
        "{compilation}"
    );
    let wide = "#include \"leaf.idl\"\n".repeat(20_000);
    let loader = Memory::new()
        .with("wide.idl", wide)
        .with("leaf.idl", "// nothing\n");
    let compilation = compile_with(&Options::new(), &loader, Path::new("wide.idl"));
    assert!(
        compilation.errors().any(|d| d.code == "include-too-deep"),
        "{compilation}"
    );
}

#[test]
fn errors_are_not_reported_without_end() {
    let text = "typedef Missing_ X;\n".repeat(10_000)
        + &(0..10_000)
            .map(|n| format!("typedef M{n} X{n};\n"))
            .collect::<String>();
    let compilation = compile_source(&Options::new(), "bad.idl", &text);
    assert_eq!(
        compilation.diagnostics.last().map(|d| d.code),
        Some("too-many-errors")
    );
    assert!(compilation.diagnostics.len() <= 501);
}

#[test]
fn one_very_long_line_is_shown_in_pieces() {
    let text = format!("typedef Missing X; {}", " ".repeat(1_000_000));
    let shown = rejected(&text, "undeclared-name").to_string();
    assert!(shown.len() < 2_000, "{}", shown.len());
    let far = format!("/*{}*/ typedef Missing X;", "é".repeat(500_000));
    let shown = rejected(&far, "undeclared-name").to_string();
    assert!(
        shown.len() < 2_000 && shown.contains("typedef Missing X"),
        "{shown}"
    );
}

/// Conformance: IDL - hostile IDL
#[test]
fn every_truncation_of_a_file_is_survived() {
    for end in (0..KITCHEN.len()).filter(|end| KITCHEN.is_char_boundary(*end)) {
        let compilation = compile_source(&Options::new(), "cut.idl", &KITCHEN[..end]);
        assert!(compilation.diagnostics.len() < 20, "{end}: {compilation}");
        let rendered = compilation.to_string();
        assert!(
            compilation.model.is_some() || rendered.contains("error"),
            "{end}"
        );
    }
}

/// A small generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap_or(0)
    }
}

/// Conformance: IDL - hostile IDL
#[test]
fn random_bytes_are_survived() {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for _ in 0..300 {
        let bytes: Vec<u8> = (0..numbers.below(400))
            .map(|_| numbers.below(256) as u8)
            .collect();
        compile_bytes(&Options::new(), "noise.idl", &bytes).to_string();
    }
}

/// Conformance: IDL - hostile IDL
#[test]
fn shuffled_tokens_are_survived() {
    let words: Vec<&str> = KITCHEN
        .split_inclusive([' ', ';', '{', '}', '(', ')', '<', '>', '\n', ','])
        .collect();
    let idl4 = Options {
        idl4: true,
        pedantic: true,
        ..Options::new()
    };
    let mut numbers = Numbers(42);
    for round in 0..400 {
        let count = numbers.below(300);
        let text: String = (0..count)
            .map(|_| words[numbers.below(words.len())])
            .collect();
        let options = if round % 2 == 0 {
            Options::new()
        } else {
            idl4.clone()
        };
        compile_source(&options, "shuffled.idl", &text).to_string();
    }
}

#[test]
fn damaged_bytes_are_survived() {
    let mut numbers = Numbers(7);
    for _ in 0..500 {
        let mut bytes = KITCHEN.as_bytes().to_vec();
        for _ in 0..=numbers.below(5) {
            let position = numbers.below(bytes.len());
            bytes[position] = b"{}();<>,:#\"'\\/*= \n\xe9a0"[numbers.below(21)];
        }
        compile_bytes(&Options::new(), "damaged.idl", &bytes).to_string();
    }
}

#[test]
fn odd_little_files_are_survived() {
    for text in [
        "#",
        "#define",
        "#define A(",
        "#define A(x",
        "#define A(x) #x\nA(",
        "#include",
        "#include <",
        "#include \"",
        "#if",
        "#pragma",
        "#line",
        "# 1",
        "#pragma prefix",
        "#pragma ID",
        "#pragma version A",
        "\\",
        "\\\n",
        "'",
        "\"",
        "L'",
        "L\"",
        "'\\",
        "\"\\",
        "/*",
        "/",
        "//",
        "//\\",
        "_",
        "@",
        "@a(",
        "@a(b=",
        "const",
        "const long X =",
        "const long X = -",
        "typedef",
        "union U switch",
        "}",
        "};",
        "{",
        "interface I {",
        "interface I : ",
        "module M { interface",
        "::",
        "import",
        "import ::",
        "typeprefix",
        "typeid",
        "struct S { struct T { ",
        "enum E { a,",
        "valuetype",
        "valuetype V :",
        "component",
        "home",
        "@annotation",
        "@annotation A {",
        "#define A ##\nA",
        "#define A(x) ## x\nA(1)",
        "#define A(x) x ##\nA(1)",
        "\u{feff}",
        "\0",
        "const fixed X = 1d/0d;",
        "const long X = 9223372036854775807 * 9223372036854775807 * 9223372036854775807;",
        "const fixed X = d;",
        "const long X = 0x;",
    ] {
        compile_source(&Options::new(), "odd.idl", text).to_string();
    }
}

#[test]
fn inheritance_is_bounded() {
    let mut text = String::from("interface I0 { void f0(); };\n");
    for n in 1..4_000 {
        text.push_str(&format!(
            "interface I{n} : I{} {{ void f{n}(); }};\n",
            n - 1
        ));
    }
    rejected(&text, "inheritance-too-large");
}

/// A device was read until memory was full, and a pipe without an end. Main files had no limit.
///
/// Conformance: IDL - hostile IDL
#[test]
fn only_regular_files_of_limited_size_are_read() {
    let folder = std::env::temp_dir().join(format!("orbium-idl-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let main = folder.join("main.idl");
    let pipe = folder.join("pipe.idl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let mut options = Options::new();
    options.limits.file_size = 1000;
    for special in ["/dev/zero", pipe.to_str().unwrap()] {
        let text = format!("#include \"{special}\"\ntypedef long T;\n");
        std::fs::write(&main, text).unwrap();
        let included = compile(&options, &main).to_string();
        let alone = compile(&options, Path::new(special)).to_string();
        for shown in [included, alone] {
            assert!(shown.contains("it is not a regular file"), "{shown}");
        }
    }
    let text = format!("typedef long T; //{}", "-".repeat(1000));
    std::fs::write(&main, &text).unwrap();
    for compilation in [
        compile(&options, &main),
        compile_source(&options, "main.idl", &text),
    ] {
        let shown = compilation.to_string();
        assert!(compilation.model.is_none(), "{shown}");
        assert!(shown.contains("it has more than 1000 octets"), "{shown}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A long name was copied into each definition of its scope.
///
/// Conformance: IDL - hostile IDL
#[test]
fn identifiers_are_limited() {
    let module = |length| format!("module {} {{ typedef long T; }};", "m".repeat(length));
    let compilation = rejected(&module(1025), "identifier-too-long");
    assert_eq!(compilation.errors().count(), 1, "{compilation}");
    let longest = compile_source(&Options::new(), "long.idl", &module(1024));
    assert_eq!(longest.to_string(), "");
}

/// Names of scopes, prefixes, comments and values were copied without a bound.
///
/// Conformance: IDL - hostile IDL
#[test]
fn text_copied_into_definitions_is_limited() {
    let mut options = Options::new();
    options.limits.text = 10_000;
    let long = "x".repeat(900);
    let many: Vec<_> = (0..30).map(|n| format!("t{n}")).collect();
    let many = many.join(", ");
    for text in [
        format!("module {long} {{ typedef long {many}; }};"),
        format!("#pragma prefix \"{long}\"\ntypedef long {many};"),
        format!("/** {long} */\ntypedef long {many};"),
        format!("struct S {{\n/** {long} */\nlong {many}; }};"),
        format!("struct S {{ @unit(\"{long}\") long {many}; }};"),
        format!("@unit(\"{long}\") typedef long {many};"),
    ] {
        let compilation = compile_source(&options, "bad.idl", &text);
        let mut errors = compilation.errors().map(|it| it.code);
        assert!(errors.all(|it| it == "text-too-large"), "{compilation}");
        assert!(compilation.model.is_none(), "{text}");
        let usual = compile_source(&Options::new(), "good.idl", &text);
        assert!(usual.model.is_some(), "{usual}");
    }
}

/// A name inherited from many bases counted as one, though it has an entry for each.
///
/// Conformance: IDL - hostile IDL
#[test]
fn inherited_names_of_many_bases_are_counted() {
    let mut text = String::new();
    let names: Vec<_> = (0..1000).map(|n| format!("B{n}")).collect();
    for name in &names {
        text.push_str(&format!("interface {name} {{ typedef long T; }};\n"));
    }
    text.push_str(&format!("interface J0 : {} {{}};\n", names.join(", ")));
    for n in 1..1000 {
        text.push_str(&format!("interface J{n} : J{} {{}};\n", n - 1));
    }
    rejected(&text, "inheritance-too-large");
}

/// Each of these files took time in proportion to the square of its size.
///
/// Conformance: IDL - hostile IDL
#[test]
fn long_files_take_time_in_proportion() {
    let count = 30_000;
    let numbered = |part: &dyn Fn(usize) -> String| (0..count).map(part).collect::<String>();
    let members = numbered(&|n| format!("@unit(\"m\") long m{n}; "));
    let annotated = format!("struct S {{ {members} }};");
    assert!(
        compile_source(&Options::new(), "a.idl", &annotated)
            .model
            .is_some()
    );
    let dotted = format!("typedef a{} T;", ".a".repeat(count));
    let shown = rejected(&dotted, "dotted-name");
    assert_eq!(
        shown.errors().filter(|it| it.code == "dotted-name").count(),
        1
    );
    let chain = numbered(&|n| format!("interface I{} : I{n} {{}};\n", n + 1));
    let chain = format!("interface I0 {{}};\n{chain}");
    assert!(
        compile_source(&Options::new(), "c.idl", &chain)
            .model
            .is_some()
    );
    let names = numbered(&|n| format!("p{n}, "));
    let body = numbered(&|n| format!("p{n} + "));
    let values = "1, ".repeat(count);
    let parameters = format!("#define F({names} q) {body} q\nconst long X = F({values} 1);\n");
    assert!(
        compile_source(&Options::new(), "m.idl", &parameters)
            .model
            .is_some()
    );
}
