// SPDX-License-Identifier: MIT OR Apache-2.0
//! `@rt` and `@calls` in a build script.

use orbium_build::Extension;
use orbium_idl::Diagnostic;
use orbium_idl::model::Model;

use crate::{Requirements, annotation};

/// The extension of the compiler that reads `@rt` and `@calls`: errors in them are reported, and
/// the generated code may end with the RT_Infos that they declare.
///
/// In a `build.rs`:
///
/// ```no_run
/// orbium_build::Config::new()
///     .extend(orbium_ridl::RtInfos::module("operations"))
///     .compile("idl/rudder.idl");
/// ```
#[derive(Clone, Debug)]
pub struct RtInfos {
    module: Option<String>,
}

impl RtInfos {
    /// Checks the annotations and generates nothing: for programs that do not schedule the
    /// operations that they call or serve.
    #[must_use]
    pub fn checked() -> Self {
        Self { module: None }
    }

    /// Adds a module of that name with the RT_Infos: a constant index for each operation, and
    /// `OPERATIONS`, which `orbium_sched::Repository::declare` registers. The program depends on
    /// the crate `orbium-sched` then.
    #[must_use]
    pub fn module(name: impl Into<String>) -> Self {
        Self {
            module: Some(name.into()),
        }
    }
}

impl Extension for RtInfos {
    fn annotations(&self) -> &[&str] {
        &["rt", "calls"]
    }

    fn check(&self, model: &Model) -> Vec<Diagnostic> {
        Requirements::of(model).diagnostics
    }

    fn code(&self, model: &Model) -> Result<String, String> {
        let Some(module) = &self.module else {
            return Ok(String::new());
        };
        code(model, module)
            .map_err(|reason| format!("there is no module `{module}` of RT_Infos: {reason}"))
    }
}

/// The Rust text of the module.
fn code(model: &Model, module: &str) -> Result<String, String> {
    if !annotation::is_module_name(module) {
        return Err("it is no name of a module".to_owned());
    }
    let repository = Requirements::of(model).repository();
    let repository = repository.map_err(|error| error.to_string())?;
    let mut text = String::from("\n/// The RT_Infos that `@rt` and `@calls` declare.\n");
    text.push_str("#[allow(dead_code, unreachable_pub)]\n");
    text.push_str(&format!("pub mod {module} {{\n"));
    for line in orbium_sched::declarations(&repository).lines() {
        let indent = if line.is_empty() { "" } else { "    " };
        text.push_str(&format!("{indent}{line}\n"));
    }
    text.push_str("}\n");
    Ok(text)
}
