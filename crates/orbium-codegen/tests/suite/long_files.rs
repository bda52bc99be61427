// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long files, as tools write them, take time in proportion: what is asked for
//! each of many definitions must not cost as much as all of them.

use std::fmt::Write;

use orbium_codegen::Options;

fn generated(idl: &str) -> String {
    let compilation = orbium_idl::compile_source(&orbium_idl::Options::new(), "long.idl", idl);
    let model = compilation.model.expect("valid IDL");
    let generated = orbium_codegen::generate(&model, &Options::new("long.idl"));
    generated.expect("nothing unmapped").code
}

// Found by trying sizes that fuzzing does not reach: the names of all
// enumerators were made anew for each label.
#[test]
fn a_union_with_thousands_of_cases() {
    let mut idl = "enum E { e0".to_owned();
    (1..4000).for_each(|i| write!(idl, ", e{i}").expect("text"));
    idl.push_str(" }; union U switch (E) {");
    (0..3999).for_each(|i| write!(idl, "case e{i}: long m{i};").expect("text"));
    idl.push_str("default: string d; };");
    let code = generated(&idl);
    assert!(code.contains("[E::E3998] \"m3998\" => M3998(i32),"));
    assert!(code.contains("@otherwise [] \"d\" => D { discriminator: E, value: String },"));
}

// The names of a module were copied for each item at file scope.
#[test]
fn thousands_of_definitions_at_file_scope() {
    let mut idl = String::new();
    (0..6000).for_each(|i| write!(idl, "const long C{i} = {i};").expect("text"));
    (0..6000).for_each(|i| write!(idl, "typedef sequence<long> T{i};").expect("text"));
    idl.push_str("struct Vec { T5999 all; };");
    let code = generated(&idl);
    assert!(code.contains("pub const C5999: i32 = 5999;"));
    assert!(code.contains("pub type T5999: T5999_TYPE = \"IDL:T5999:1.0\", ::std::vec::Vec<i32>,"));
}

// Properties of a type were computed from those of its parts by recursion: a long
// chain of definitions overflowed the stack.
#[test]
fn long_chains_of_types_cost_no_stack() {
    let chains: [fn(usize) -> String; 4] = [
        |i| format!("typedef X{i} X{};", i + 1),
        |i| format!("typedef sequence<X{i}> X{};", i + 1),
        |i| format!("typedef X{i} X{}[1];", i + 1),
        |i| format!("struct X{} {{ X{i} x; }};", i + 1),
    ];
    for (chain, count) in chains.into_iter().zip([10_000, 5_000, 5_000, 3_000]) {
        // The properties of this struct are needed first.
        let mut idl = String::from("struct First; typedef sequence<First> All; typedef long X0;");
        (0..count).for_each(|i| idl.push_str(&chain(i)));
        idl.push_str(&format!("struct First {{ X{count} x; }};"));
        let code = generated(&idl);
        assert!(code.contains(&format!("x: X{count}")), "{}", chain(0));
    }
}
