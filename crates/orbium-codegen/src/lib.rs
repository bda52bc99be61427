// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generator of Rust from a checked IDL model.
//!
//! This crate does not read IDL text, is independent of the wire format, and accesses no files: it
//! turns a [`Model`] into the text of a Rust module that imports one module of the façade, the
//! *runtime*, under the name `orb`.
//!
//! Constructs without a mapping (components and connectors without a module `Components`) are left
//! out together with their users, with a warning each; see [`Options::deny_unmapped`].
//!
//! The same model and options always give the same text, formatted as by rustfmt.
#![forbid(unsafe_code)]

mod ami;
mod constructs;
mod docs;
mod emit;
mod implied;
mod interface;
mod mapped;
mod names;
mod options;
mod plan;
mod prepared;
mod runtime_names;
mod text;
mod types;
mod warnings;

use std::fmt;

use orbium_idl_model::Model;

pub use options::Options;
pub use warnings::{Warning, WarningKind};

use plan::Plan;
use prepared::Prepared;

/// Result of a generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The text of a Rust file, to be compiled directly or by `include!`.
    pub code: String,
    /// Warnings about definitions that were left out and ignored annotations, in the order of the
    /// definitions.
    pub warnings: Vec<Warning>,
}

/// A definition has no mapping, and [`Options::deny_unmapped`] was set.
#[derive(Clone, PartialEq, Eq)]
pub struct Unmapped {
    /// The definitions that would have been left out, and all other warnings.
    pub warnings: Vec<Warning>,
}

impl fmt::Display for Unmapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unmapped = self
            .warnings
            .iter()
            .filter(|warning| warning.kind == WarningKind::LeftOut);
        write!(
            f,
            "{} definitions have no mapping to Rust",
            unmapped.count()
        )
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for Unmapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Unmapped {}

/// Generates Rust for all definitions of the model's main files, and for those of included files
/// that they use.
///
/// # Errors
/// A definition would be left out, and [`Options::deny_unmapped`] is set.
pub fn generate(model: &Model, options: &Options) -> Result<Generated, Unmapped> {
    let prepared = Prepared::new(model, options);
    let plan = Plan::new(&prepared);
    let warnings = checked(&plan)?;
    let code = emit::file(&plan);
    Ok(Generated { code, warnings })
}

/// Generates servant templates for the interfaces that the main files of the model define: structs
/// that implement the traits of [`generate`], with `todo!()` for bodies.
///
/// `around` is the path of the Rust module that contains the code of [`generate`], such as `crate`.
///
/// # Errors
/// A definition would be left out, and [`Options::deny_unmapped`] is set.
pub fn stub(model: &Model, options: &Options, around: &str) -> Result<Generated, Unmapped> {
    let prepared = Prepared::new(model, options);
    let plan = Plan::new(&prepared);
    let warnings = checked(&plan)?;
    let code = interface::stub::file(&plan, around);
    Ok(Generated { code, warnings })
}

/// The warnings, unless their definitions are denied.
fn checked(plan: &Plan<'_>) -> Result<Vec<Warning>, Unmapped> {
    let warnings = warnings::of(plan);
    let left_out = warnings
        .iter()
        .any(|warning| warning.kind == WarningKind::LeftOut);
    if plan.options.denies_unmapped() && left_out {
        return Err(Unmapped { warnings });
    }
    Ok(warnings)
}
