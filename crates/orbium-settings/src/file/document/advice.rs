// SPDX-License-Identifier: MIT OR Apache-2.0
//! Suggested TOML for lines that are not valid TOML.

use crate::file::service_configurator::{directive, without_comment};
use crate::spelling::toml_value;

/// The suggestion for a line at which the parser of TOML stopped with that message.
pub(super) fn advice(line: &str, message: &str) -> String {
    let line = without_comment(line).trim();
    if directive(line).is_some() {
        return format!(
            "`{line}` is a directive of TAO's service configurator: such lines stand in a file of \
             their own, which `-ORBSvcConf` names beside `-ORBConfigFile`"
        );
    }
    if let Some(section) = line.strip_prefix('[') {
        return of_section(line, section, message);
    }
    let Some((key, value)) = line.split_once('=') else {
        return format!(
            "`{line}` is no setting: write `key = value`, as in `server_strategy = \"reactive\"`"
        );
    };
    let (key, value) = (key.trim(), value.trim());
    if message.contains("duplicate") {
        return format!(
            "`{key}` is there for the second time: write it once, several values in brackets, \
             as in `{key} = [{}, …]`",
            bare(value).map_or_else(|| value.to_owned(), toml_value)
        );
    }
    match bare(value) {
        Some(value) => format!(
            "{key}: this is not TOML ({message}): write `{key} = {}`",
            toml_value(value)
        ),
        None => format!("{key}: this is not TOML: {message}"),
    }
}

fn of_section(line: &str, section: &str, message: &str) -> String {
    let name = section.trim_end_matches(']').trim();
    if let Some(lane) = name.strip_prefix("lane ") {
        return format!("`{line}` is not TOML: write `[lane.{}]`", lane.trim());
    }
    if message.contains("duplicate") {
        return format!("the section `{name}` is there for the second time: write it once");
    }
    format!(
        "`{line}` is no section ({message}): write [limits], [properties], [tls], \
         [initial_reference] or [lane.NAME]"
    )
}

/// A value that is neither quoted nor a list nor a table, as in the files of other ORBs.
fn bare(value: &str) -> Option<&str> {
    let is_bare = !value.is_empty() && !value.starts_with(['"', '\'', '[', '{']);
    is_bare.then_some(value)
}
