// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that are always there: `orb.idl` makes the names of module CORBA visible
//! (CORBA 3.3 Part 1, 7.4), and so do the parts of it that TAO has as files; `Components.idl` has what clients use of module Components (Part 3).

use std::path::PathBuf;

/// The folder that built-in files claim to be in.
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

/// Whether TAO has something of module CORBA in a file of that name: `tao/LongSeq.pidl`.
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
