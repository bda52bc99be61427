// SPDX-License-Identifier: MIT OR Apache-2.0
//! Built-in files: `orb.idl` makes the names of module CORBA visible (CORBA 3.3 Part 1, 7.4), as do
//! those parts of it that are separate files in TAO; `Components.idl` has the definitions of module
//! Components that clients use (Part 3).

use std::path::PathBuf;

/// The folder in the paths of built-in files.
pub(crate) const FOLDER: &str = "<built-in>";

/// The built-in file of that name. A file of the same name on the search path comes first.
pub(crate) fn file(name: &str) -> Option<(PathBuf, &'static str)> {
    let base = name.rsplit('/').next().unwrap_or(name);
    match base {
        "orb.idl" | "CORBA.idl" | "corba.idl" => Some((PathBuf::from(FOLDER).join("orb.idl"), ORB)),
        _ if is_part_of_orb(base) => Some((PathBuf::from(FOLDER).join("orb.idl"), ORB)),
        "Components.idl" => Some((PathBuf::from(FOLDER).join(base), COMPONENTS)),
        _ => None,
    }
}

/// Whether a file of that name in TAO has a part of module CORBA: `tao/LongSeq.pidl`.
fn is_part_of_orb(file: &str) -> bool {
    let Some(name) = file.strip_suffix(".pidl") else {
        return false;
    };
    let element = name.strip_suffix("Seq");
    let is_sequence = element.is_some_and(|it| ORB.contains(&format!("> {it}Seq;")));
    is_sequence || matches!(name, "orb_types" | "Policy" | "Current")
}

const ORB: &str = include_str!("builtin/orb.idl");
const COMPONENTS: &str = include_str!("builtin/Components.idl");
