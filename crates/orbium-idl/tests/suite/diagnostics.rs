// SPDX-License-Identifier: MIT OR Apache-2.0
//! Format of diagnostics: plain data in a fixed order.

use std::path::Path;

use orbium_idl::{Memory, Options, Severity, compile_bytes, compile_source, compile_with};

/// Conformance: IDL - diagnostics
#[test]
fn a_diagnostic_shows_the_line_and_says_what_to_do() {
    let text = "interface Bank {\n\tvoid close(in Acount a);\n};\ntypedef long Account;\n";
    let compilation = compile_source(&Options::new(), "bank.idl", text);
    let expected = "bank.idl:2:16: error: `Acount` is not declared [undeclared-name]\n\
                    2 | \tvoid close(in Acount a);\n\
                    \u{20} | \t              ^^^^^^\n\
                    \u{20} = help: declare it before it is used, include the file that does, or write it with its module (`Module::Name`)\n";
    assert_eq!(compilation.to_string(), expected);
    let mut rendered = String::new();
    compilation
        .render(&mut rendered)
        .expect("a string takes everything");
    assert_eq!(rendered, expected);
}

#[test]
fn a_second_place_is_shown_below_the_first() {
    let loader = Memory::new()
        .with(
            "main.idl",
            "#include \"base.idl\"\n\n\n\n\n\n\n\n\ninterface B : A { void ping(); };\n",
        )
        .with("base.idl", "interface A {\n  void ping();\n};\n");
    let compilation = compile_with(&Options::new(), &loader, Path::new("main.idl"));
    let expected = "main.idl:10:24: error: the operation `ping` redefines the inherited operation `ping`: inherited operations, attributes and members cannot be redefined or overloaded [redefines-inherited]\n\
                    10 | interface B : A { void ping(); };\n\
                    \u{20}  |                        ^^^^\n\
                    \u{20} --> base.idl:2:8\n\
                    \u{20}2 |   void ping();\n\
                    \u{20}  |        ---- inherited from here\n\
                    \u{20}  = help: choose another name\n";
    assert_eq!(compilation.to_string(), expected);
}

/// Conformance: IDL - diagnostics
#[test]
fn a_misspelt_name_is_suggested() {
    let text = "typedef long Account;\ninterface Bank { void close(in Acount which); };\n";
    let compilation = compile_source(&Options::new(), "bank.idl", text);
    assert_eq!(
        compilation.diagnostics[0].help.as_deref(),
        Some("did you mean `Account`?")
    );
}

#[test]
fn a_misspelt_keyword_is_suggested_and_a_full_name_is_spelled_out() {
    let first_help = |text: &str| {
        compile_source(&Options::new(), "t.idl", text).diagnostics[0]
            .help
            .clone()
    };
    assert_eq!(
        first_help("strutc S { long x; };").as_deref(),
        Some("did you mean `struct`?")
    );
    let help = first_help("module M { typedef long Foo; interface I { void f(in Foo foo); }; };");
    assert_eq!(
        help.as_deref(),
        Some("choose another name, or write the type with its full name `::M::Foo`")
    );
}

#[test]
fn diagnostics_come_in_the_order_of_the_text_whatever_found_them() {
    let text = "interface Never;\nstruct S { Nothing x; };\n#bad\nconst short X = 70000;\ninterface I { void f(in Never n) raises(S) };\n";
    let compilation = compile_source(&Options::new(), "order.idl", text);
    let lines: Vec<_> = compilation
        .diagnostics
        .iter()
        .filter_map(|d| d.excerpt.as_ref())
        .map(|e| e.line)
        .collect();
    let mut sorted = lines.clone();
    sorted.sort_unstable();
    assert_eq!(lines, sorted, "{compilation}");
    assert!(lines.len() >= 5, "{compilation}");
    assert_eq!(
        compilation.to_string(),
        compile_source(&Options::new(), "order.idl", text).to_string()
    );
}

#[test]
fn warnings_do_not_take_the_model_away() {
    let compilation = compile_source(
        &Options::new(),
        "w.idl",
        "interface Never;\ntypedef long T;\n",
    );
    assert!(compilation.model.is_some());
    assert_eq!(compilation.diagnostics[0].severity, Severity::Warning);
    assert_eq!(
        (compilation.errors().count(), compilation.warnings().count()),
        (0, 1)
    );
}

#[test]
fn pedantic_warnings_come_only_on_request() {
    let text = "#pragma odd\nstruct S { sequence<long> x; long y[2]; };\n";
    assert!(
        compile_source(&Options::new(), "p.idl", text)
            .diagnostics
            .is_empty()
    );
    let pedantic = Options {
        pedantic: true,
        ..Options::new()
    };
    let codes: Vec<_> = compile_source(&pedantic, "p.idl", text)
        .diagnostics
        .iter()
        .map(|d| d.code)
        .collect();
    assert_eq!(
        codes,
        ["unknown-pragma", "anonymous-type", "anonymous-type"]
    );
}

#[test]
fn a_second_typeprefix_must_agree() {
    let good = "module M { typedef long T; }; typeprefix M \"p\"; typeprefix M \"p\";";
    assert!(
        compile_source(&Options::new(), "t.idl", good)
            .model
            .is_some()
    );
    let bad = "module M { typedef long T; }; typeprefix M \"p\"; typeprefix M \"q\";";
    let compilation = compile_source(&Options::new(), "t.idl", bad);
    assert!(
        compilation.errors().any(|d| d.code == "typeprefix"),
        "{compilation}"
    );
}

/// The file of a case: `\n` and `\xNN` stand for what cannot be written on a line.
fn unescaped(line: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        rest = match after.strip_prefix('n') {
            Some(rest) => {
                bytes.push(b'\n');
                rest
            }
            None => {
                let digits = after.get(1..3).expect("`\\xNN`");
                bytes.push(u8::from_str_radix(digits, 16).expect("`\\xNN`"));
                &after[3..]
            }
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// What newcomers from other languages write, and slips that used to give a message about something
/// else, two messages, or no advice. Behind each line `=== file` is everything that is said.
#[test]
fn slips_are_reported_once_with_what_to_write_instead() {
    let golden = include_str!("slips.txt");
    let mut cases = 0;
    for case in golden.split("=== ").skip(1) {
        let (file, expected) = case.split_once('\n').unwrap_or((case, ""));
        let compilation = compile_bytes(&Options::new(), "x.idl", &unescaped(file));
        assert_eq!(compilation.to_string(), expected, "{file}");
        cases += 1;
    }
    assert!(cases > 40, "{cases}");
}
