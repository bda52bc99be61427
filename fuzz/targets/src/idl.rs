// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IDL front end on any text, and the generator on what compiles.

use std::path::Path;

use orbium_idl::{Limits, Memory, Options, compile_with};

/// Tighter than the defaults, so that inputs which exhaust them do so in
/// milliseconds: what is tested is that they hold, and end the compilation.
fn limits() -> Limits {
    Limits {
        include_depth: 10,
        includes: 40,
        tokens: 100_000,
        expansion: 20_000,
        inherited: 5_000,
        errors: 50,
        ..Limits::default()
    }
}

/// The first octet chooses options, the rest is the file `main.idl`. Never
/// panics, ends soon, says where and why when it refuses, and says the same the
/// second time; so does the generator when it does not refuse.
pub fn idl(input: &[u8]) {
    let Some((choice, text)) = input.split_first() else {
        return;
    };
    let chosen = |bit: u8| choice & (1 << bit) != 0;
    let mut options = Options::new().define("N", "3").define("TWICE(a)", "a a");
    options.idl4 = chosen(0);
    options.pre_corba3 = chosen(1);
    options.pedantic = chosen(2);
    options.lenient_names = chosen(3);
    options.strict = chosen(3);
    options.limits = limits();
    let loader = Memory::new()
        .with("main.idl", text)
        .with(
            "part.idl",
            "#ifndef PART\n#define PART\nmodule Part { struct S { long l; }; };\n#endif\n",
        )
        .with(
            "prefixed.idl",
            "#pragma prefix \"x.y\"\nmodule P { interface I { void f(); }; };\n",
        );
    let compilation = compile_with(&options, &loader, Path::new("main.idl"));
    let said = compilation.to_string();
    assert_eq!(
        compilation.model.is_none(),
        compilation.errors().next().is_some()
    );
    let Some(model) = compilation.model else {
        assert!(!said.is_empty(), "refused without a word");
        return;
    };
    let back = orbium_codegen::Options::new("main.idl").asynchronous(true);
    let first = orbium_codegen::generate(&model, &back);
    let again = compile_with(&options, &loader, Path::new("main.idl"));
    assert_eq!(again.to_string(), said);
    let model = again.model.expect("a file that compiled a moment ago");
    let second = orbium_codegen::generate(&model, &back);
    assert!(first == second, "generated differently the second time");
}
