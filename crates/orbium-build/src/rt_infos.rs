// SPDX-License-Identifier: MIT OR Apache-2.0
//! The module of RT_Infos that generated code ends with.

use orbium_idl::model::Model;
use orbium_ridl::Requirements;

use crate::Error;

/// The Rust text of the module, its name being `module`.
pub(crate) fn rust(model: &Model, module: &str) -> Result<String, Error> {
    let refused = |reason: String| Error::RtInfos {
        module: module.to_owned(),
        reason,
    };
    let letter = |it: char| it.is_ascii_lowercase() || it == '_';
    let is_name = module.starts_with(letter)
        && !module.trim_matches('_').is_empty()
        && module.chars().all(|it| letter(it) || it.is_ascii_digit());
    if !is_name {
        return Err(refused("it is no name of a module".to_owned()));
    }
    let repository = Requirements::of(model).repository();
    let repository = repository.map_err(|error| refused(error.to_string()))?;
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
