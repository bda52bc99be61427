// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timing requirements in IDL, from the text to RT_Infos and diagnostics.

mod findings;
mod mistakes;
mod quality;
mod reading;
mod rt_infos;

use orbium_idl::{Diagnostic, Options, compile_source};
use orbium_ridl::Requirements;

/// What IDL without errors requires.
#[track_caller]
fn requirements(idl: &str) -> Requirements {
    let compilation = compile_source(&Options::new(), "a.idl", idl);
    let shown = compilation.to_string();
    Requirements::of(&compilation.model.expect(&shown))
}

/// The places of diagnostics, with their codes and texts.
fn shown(diagnostics: &[Diagnostic]) -> Vec<String> {
    let first = |it: &Diagnostic| it.to_string().lines().next().unwrap().to_owned();
    diagnostics.iter().map(first).collect()
}
