// SPDX-License-Identifier: MIT OR Apache-2.0
//! All the IDL that packages have installed here: of OMG's services, and of what else there is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use orbium_codegen::{Options, generate};

use crate::golden::skipped;

/// Where packages install IDL.
const ROOTS: [&str; 2] = ["/usr/share/idl", "/usr/include"];

/// Files of the standard services that omniidl refuses as well, and why.
const REFUSED: [(&str, &[&str]); 2] = [
    (
        "it includes IOP.idl, which is not installed",
        &["DCE_CIOPSecurity", "SECIOP", "SSLIOP"],
    ),
    (
        "it uses types that the module CORBA of CORBA 2 had",
        &[
            "CosTSPortability",
            "NRService",
            "Security",
            "SecurityAdmin",
            "SecurityLevel1",
            "SecurityLevel2",
            "SecurityReplaceable",
        ],
    ),
];

/// Why a file is not compiled.
fn refused(file: &Path) -> Option<&'static str> {
    let name = file.file_stem()?.to_str()?;
    let found = REFUSED.iter().find(|(_, files)| files.contains(&name));
    found.map(|(reason, _)| *reason)
}

/// The files of IDL in a folder and those within it.
fn idl_in(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        // Links may lead round.
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.is_ok_and(|kind| kind.is_dir()) {
            idl_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "idl") {
            found.insert(path);
        }
    }
}

/// The front end, with the folders that a file may include from: its own, and those around it.
fn front_end(file: &Path) -> orbium_idl::Options {
    let around = file.ancestors().skip(1).take(3);
    let mut options = around.fold(orbium_idl::Options::new(), orbium_idl::Options::include);
    options.lenient_names = true;
    options
}

/// Conformance: IDL - what the field uses: all that is installed here, OMG's services among it
#[test]
fn all_idl_that_is_installed_has_a_mapping() {
    let mut files = BTreeSet::new();
    for root in ROOTS {
        idl_in(Path::new(root), &mut files);
    }
    if files.len() < 50 {
        return skipped("all_idl_that_is_installed_has_a_mapping: no IDL of OMG's services here");
    }
    let (mut failures, mut passed) = (String::new(), 0);
    for file in &files {
        if let Some(reason) = refused(file) {
            eprintln!("left out: {}: {reason}", file.display());
            continue;
        }
        let compilation = orbium_idl::compile(&front_end(file), file);
        let diagnostics = compilation.to_string();
        // What a native type is, a program says; a local one does not travel.
        let options = Options::new(file.to_string_lossy())
            .deny_unmapped(true)
            .allow_unmapped("native types")
            .allow_unmapped("local types");
        let generated = compilation.model.map(|model| generate(&model, &options));
        match generated {
            Some(Ok(_)) => passed += 1,
            Some(Err(unmapped)) => {
                let left_out = unmapped.warnings.iter().map(|it| it.message.as_str());
                let left_out: Vec<_> = left_out.collect();
                failures.push_str(&format!("{}:\n{}\n", file.display(), left_out.join("\n")));
            }
            None => failures.push_str(&format!("{}:\n{diagnostics}\n", file.display())),
        }
    }
    eprintln!("{passed} of {} files", files.len());
    assert!(failures.is_empty(), "{failures}");
}
