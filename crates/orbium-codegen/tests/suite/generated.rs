// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generates Rust for a few lines of IDL.

use orbium_codegen::{Options, generate};

/// What is generated for `bank.idl` with that text, and what there is to warn of.
pub(crate) fn generated(idl: &str, options: &Options) -> (String, Vec<String>) {
    let front = orbium_idl::Options::new();
    let model = orbium_idl::compile_source(&front, "bank.idl", idl)
        .model
        .unwrap();
    let generated = generate(&model, options).unwrap();
    let warnings = generated.warnings.iter().map(|it| it.message.clone());
    (generated.code, warnings.collect())
}
