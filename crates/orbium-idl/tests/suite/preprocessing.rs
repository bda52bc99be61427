// SPDX-License-Identifier: MIT OR Apache-2.0
//! Preprocessing, observed through constants and names.

use std::path::{Path, PathBuf};

use orbium_idl::model::{ConstValue, DefinitionKind};
use orbium_idl::{
    Compilation, Memory, Options, compile_project_with, compile_source, compile_with,
};

fn accept(text: &str) -> Compilation {
    let compilation = compile_source(&Options::new(), "t.idl", text);
    assert!(compilation.model.is_some(), "{compilation}");
    compilation
}

fn value(compilation: &Compilation, name: &str) -> ConstValue {
    let definition = compilation
        .model
        .as_ref()
        .and_then(|m| m.lookup(name))
        .expect("the constant");
    match &definition.kind {
        DefinitionKind::Constant(constant) => constant.value.clone(),
        other => panic!("{other:?}"),
    }
}

fn integer(text: &str) -> i128 {
    match value(&accept(&format!("{text}\n")), "X") {
        ConstValue::Integer(value) => value,
        other => panic!("{other:?}"),
    }
}

fn string(text: &str) -> String {
    match value(&accept(&format!("{text}\n")), "X") {
        ConstValue::String(value) => value,
        other => panic!("{other:?}"),
    }
}

fn rejected(text: &str, code: &str) -> Compilation {
    let compilation = compile_source(&Options::new(), "t.idl", text);
    assert!(
        compilation.errors().any(|d| d.code == code),
        "{code}\n{compilation}"
    );
    compilation
}

/// Conformance: IDL - preprocessor
#[test]
fn macros_are_replaced() {
    assert_eq!(integer("#define N 3\nconst long X = N;"), 3);
    assert_eq!(
        integer("#define TWICE(a) ((a) * 2)\nconst long X = TWICE(TWICE(3) + 1);"),
        14
    );
    assert_eq!(
        integer("#define N 1\n#undef N\nconst long N = 9;\nconst long X = N;"),
        9
    );
}

#[test]
fn arguments_may_span_lines_and_hold_commas_in_parentheses() {
    assert_eq!(
        integer("#define SUM(a, b) (a + b)\nconst long X = SUM(\n  1,\n  SUM(2, 3)\n);"),
        6
    );
    assert_eq!(integer("#define ID(a) a\nconst long X = ID((4));"), 4);
}

#[test]
fn a_macro_is_not_expanded_inside_itself() {
    assert_eq!(
        integer("const long N = 5;\n#define N N\nconst long X = N;"),
        5
    );
    assert_eq!(
        integer("const long b = 7;\n#define a b\n#define b a\nconst long X = b;"),
        7
    );
}

#[test]
fn a_function_like_macro_without_arguments_is_a_plain_name() {
    assert_eq!(
        integer("#define N(x) x\nconst long N = 2;\nconst long X = N;"),
        2
    );
}

/// Conformance: IDL - preprocessor
#[test]
fn tokens_are_made_strings_and_joined() {
    assert_eq!(
        string("#define S(a) #a\nconst string X = S(one \"two\"  three);"),
        "one \"two\" three"
    );
    assert_eq!(integer("#define J(a, b) a##b\nconst long X = J(1, 2);"), 12);
}

/// The end of a line within an argument was no white space: the words around it were joined.
#[test]
fn line_ends_in_arguments_are_white_space() {
    assert_eq!(
        string("#define S(a) #a\nconst string X = S(one\ntwo\n\n  three);"),
        "one two three"
    );
}

#[test]
fn joining_makes_one_token() {
    assert_eq!(
        integer("#define J(a, b) a ## b\nconst long AB = 4;\nconst long X = J(A, B);"),
        4
    );
    assert_eq!(
        integer("#define V(...) (__VA_ARGS__)\nconst long X = V(8);"),
        8
    );
    rejected(
        "#define J(a, b) a ## b\nconst long X = J(+, 1);\n",
        "macro-paste",
    );
}

/// An empty argument next to `##` was ignored, so that the tokens around it were joined.
#[test]
fn empty_arguments_join_nothing() {
    for call in ["D(, X)", "D(X, )", "D(,X,)"] {
        let text = format!("#define D(a, b, ...) const long a##b##__VA_ARGS__ = 4\n{call};");
        assert_eq!(integer(&text), 4, "{call}");
    }
    assert_eq!(
        integer("#define E(a, b) 1 a##b + 1\nconst long X = E(,) ;"),
        2
    );
    assert_eq!(
        integer("#define K(a, b) (3 a ## - ## b 2)\nconst long X = K(,);"),
        1
    );
}

#[test]
fn lines_are_spliced() {
    assert_eq!(integer("#define N 1 + \\\n  2\nconst lo\\\nng X = N;"), 3);
    assert_eq!(
        integer("// a comment \\\n that goes on\r\nconst long X = 1;\r\n"),
        1
    );
}

/// Conformance: IDL - preprocessor
#[test]
fn conditions_choose_groups() {
    let chosen = |condition: &str| {
        integer(&format!(
            "#define ONE 1\n#define EMPTY\n#if {condition}\nconst long X = 1;\n#else\nconst long X = 0;\n#endif"
        ))
    };
    for holds in [
        "ONE",
        "defined ONE && !defined(TWO)",
        "1 + 2 * 3 == 7",
        "(1 << 4) >= 16",
        "0x10 == 16 && 010 == 8",
        "-1 < 0",
        "UNKNOWN == 0",
        "1 ? 1 : 0",
        "'a' == 97",
        "10L % 4 == 2 && (7 / 2) == 3",
        "~0 == -1",
        "1 || 1 / 1",
        "1 || 1 / UNKNOWN",
        "!(defined TWO && 10 / TWO > 1)",
        "ONE ? 1 : 1 / 0",
        "!(0 ? 1 % 0 : 0)",
        "defined EMPTY",
        "2 > 1 != 0",
        "(6 & 3) == 2 && (6 ^ 3) == 5 && (6 | 1) == 7",
        "__ORBIUM_IDL__",
    ] {
        assert_eq!(chosen(holds), 1, "{holds}");
    }
    for fails in [
        "0",
        "!ONE",
        "defined(TWO)",
        "ONE - 1",
        "0 ? 1 : 0",
        "1 == 2",
    ] {
        assert_eq!(chosen(fails), 0, "{fails}");
    }
}

#[test]
fn the_first_group_that_holds_is_taken() {
    let text = "#if 0\n#error no\n#elif 1\nconst long X = 2;\n#elif 1\n#error never\n#else\n#error nor this\n#endif";
    assert_eq!(integer(text), 2);
    let nested = "#ifdef NOT\n# if 1\n don't look \"here\n# else\n#  error x\n# endif\n#else\nconst long X = 3;\n#endif";
    assert_eq!(integer(nested), 3);
}

#[test]
fn mistakes_in_directives_are_reported_where_they_are() {
    for (text, code) in [
        ("#if\n#endif\n", "malformed-directive"),
        ("#if 1 +\n#endif\n", "malformed-directive"),
        ("#if 1 / 0\n#endif\n", "malformed-directive"),
        ("#if 0 && 1 || 1 / 0\n#endif\n", "malformed-directive"),
        ("#else\n", "malformed-directive"),
        ("#endif\n", "malformed-directive"),
        ("#if 1\n#else\n#else\n#endif\n", "malformed-directive"),
        ("#ifdef\n#endif\n", "malformed-directive"),
        ("#define\n", "malformed-directive"),
        ("#define F(a\n", "malformed-directive"),
        ("#define F(a, a) a\n", "malformed-directive"),
        ("#include nothing\n", "malformed-directive"),
        ("#wrong\n", "unknown-directive"),
        ("#define F(a) a\nconst long X = F(1\n", "macro-call"),
        ("#define F(a) a\nconst long X = F(1, 2);\n", "macro-call"),
        ("#pragma prefix nonsense\n", "malformed-pragma"),
    ] {
        let compilation = rejected(text, code);
        assert!(compilation.diagnostics[0].excerpt.is_some());
    }
    let error = rejected("#if 1\n  #error it's no good\n#endif\n", "error-directive");
    assert!(
        error
            .to_string()
            .starts_with("t.idl:2:3: error: #error it's no good"),
        "{error}"
    );
}

#[test]
fn options_define_and_undefine_macros() {
    let options = Options::new()
        .define("A", "4")
        .define("F(x)", "x + A")
        .define("GONE", "1")
        .undefine("GONE");
    let text = "#ifdef GONE\n#error gone\n#endif\nconst long X = F(1);";
    let compilation = compile_source(&options, "t.idl", text);
    assert_eq!(
        value(&compilation, "X"),
        ConstValue::Integer(5),
        "{compilation}"
    );
}

/// Conformance: IDL - preprocessor
#[test]
fn line_markers_rename_places() {
    for marker in ["#line 70 \"real.idl\"", "# 70 \"real.idl\""] {
        let compilation = rejected(&format!("{marker}\ntypedef Foo Bar;\n"), "undeclared-name");
        assert!(
            compilation.to_string().starts_with("real.idl:70:9: error"),
            "{compilation}"
        );
    }
}

#[test]
fn text_preprocessed_elsewhere_knows_its_main_file() {
    let text = "# 1 \"main.idl\"\n# 1 \"other.idl\" 1\n#pragma prefix \"p\"\ntypedef long A;\n# 3 \"main.idl\" 2\ntypedef long B;\n";
    let model = accept(text).model.expect("a model");
    let of = |name: &str| {
        model
            .lookup(name)
            .map(|d| (d.in_main_file, d.repository_id.as_str()))
    };
    assert_eq!(of("A"), Some((false, "IDL:p/A:1.0")));
    assert_eq!(of("B"), Some((true, "IDL:B:1.0")));
}

#[test]
fn the_file_and_line_macros_are_known() {
    assert_eq!(integer("\n\nconst long X = __LINE__;"), 3);
    assert_eq!(string("const string X = __FILE__;"), "t.idl");
}

fn library() -> Memory {
    Memory::new()
        .with(
            "src/main.idl",
            "#include \"near.idl\"\n#include <lib.idl>\ninterface Main : Near, Lib {};\n",
        )
        .with(
            "src/near.idl",
            "#ifndef NEAR\n#define NEAR\n#include \"sub/deep.idl\"\ninterface Near {};\n#endif\n",
        )
        .with(
            "src/sub/deep.idl",
            "#include \"deeper.idl\"\ninterface Deep {};\n",
        )
        .with("src/sub/deeper.idl", "interface Deeper {};\n")
        .with(
            "inc/lib.idl",
            "#define SELF \"near.idl\"\n#include SELF\ninterface Lib {};\n",
        )
        .with("inc/near.idl", "#error the wrong near.idl\n")
        .with("inc2/near.idl", "")
}

/// Conformance: IDL - preprocessor
#[test]
fn files_are_found_in_the_folder_of_the_including_one_and_on_the_search_path() {
    let options = Options::new().include("inc");
    let compilation = compile_with(&options, &library(), Path::new("src/main.idl"));
    let codes: Vec<_> = compilation.errors().map(|d| d.code).collect();
    // inc/lib.idl includes its own neighbour, which says so.
    assert_eq!(codes, ["error-directive"], "{compilation}");
    let expected = [
        "src/main.idl",
        "src/near.idl",
        "src/sub/deep.idl",
        "src/sub/deeper.idl",
        "inc/lib.idl",
        "inc/near.idl",
    ];
    let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
    assert_eq!(compilation.files(), expected);
}

#[test]
fn included_definitions_are_not_of_the_main_file() {
    let loader = Memory::new()
        .with("a.idl", "module M { typedef long A; };")
        .with(
            "main.idl",
            "module M {\n#include \"b.idl\"\n};\n#include \"a.idl\"\nmodule M { typedef A C; };",
        );
    let loader = loader.with("b.idl", "typedef long B;");
    let model = compile_with(&Options::new(), &loader, Path::new("main.idl"))
        .model
        .expect("a model");
    let main = |name: &str| model.lookup(name).map(|d| d.in_main_file);
    assert_eq!(main("M"), Some(true));
    assert_eq!(
        (main("M::A"), main("M::B"), main("M::C")),
        (Some(false), Some(false), Some(true))
    );
    let contents: Vec<&str> = model
        .contents(model.top_level()[0])
        .iter()
        .map(|c| &*model[*c].name)
        .collect();
    assert_eq!(contents, ["B", "A", "C"]);
}

#[test]
fn a_missing_file_is_reported_with_its_includer() {
    let compilation = compile_with(&Options::new(), &Memory::new(), Path::new("gone.idl"));
    assert_eq!(
        compilation.to_string(),
        "error: cannot read `gone.idl`: there is no such file [unreadable-file]\n"
    );
    assert!(compilation.model.is_none());
}

/// Conformance: IDL - preprocessor
#[test]
fn import_finds_the_file_named_after_the_scope() {
    let loader = Memory::new()
        .with(
            "lib/Money.idl",
            "#pragma prefix \"bank\"\nmodule Money { typedef long Cents; };",
        )
        .with(
            "a.idl",
            "import ::Money;\nimport CORBA;\nstruct S { Money::Cents c; CORBA::StringSeq names; };",
        )
        .with(
            "b.idl",
            "import \"IDL:bank/Money:1.0\";\nstruct S { Money::Cents c; };",
        )
        .with("c.idl", "import ::Nothing;\nstruct S { long x; };");
    let options = Options::new().include("lib");
    for name in ["a.idl", "b.idl"] {
        let compilation = compile_with(&options, &loader, Path::new(name));
        assert!(compilation.model.is_some(), "{compilation}");
    }
    let compilation = compile_with(&options, &loader, Path::new("c.idl"));
    assert!(
        compilation
            .errors()
            .any(|d| d.message.contains("`Nothing`")),
        "{compilation}"
    );
}

/// `#pragma once` was ignored: the second inclusion of a file was refused as a redefinition.
///
/// Conformance: IDL - preprocessor
#[test]
fn pragma_once_includes_a_file_once() {
    let base = "#pragma once\n#define BASE 7\ntypedef long Base;\n";
    let main = "#pragma once\n#include \"a.idl\"\n#include \"lib/../lib/base.idl\"\n\
                #include \"b.idl\"\nconst long X = BASE;\n";
    let loader = Memory::new()
        .with("lib/base.idl", base)
        .with("lib/../lib/base.idl", base)
        .with("a.idl", "#include \"lib/base.idl\"\ntypedef Base A;\n")
        .with("b.idl", main)
        .with("c.idl", "#include \"a.idl\"\n#include \"lib/base.idl\"\n");
    let compilation = compile_with(&Options::new(), &loader, Path::new("b.idl"));
    assert_eq!(compilation.to_string(), "");
    assert_eq!(value(&compilation, "X"), ConstValue::Integer(7));
    // In a project each file has the macros of what it includes.
    let options = Options::new();
    let compilation = compile_project_with(&options, &loader, &["a.idl", "b.idl"]);
    assert_eq!(compilation.to_string(), "");
    assert_eq!(value(&compilation, "X"), ConstValue::Integer(7));
    // A file that only includes others stands for all of them.
    let model = compile_with(&options, &loader, Path::new("c.idl")).model;
    let model = model.expect("a model");
    assert!(model.lookup("Base").is_some_and(|it| it.in_main_file));
}
