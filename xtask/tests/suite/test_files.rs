// SPDX-License-Identifier: MIT OR Apache-2.0
//! Test files are modules of few programs. A file that no program names is not compiled,
//! which nothing else notices.

use std::fs;
use std::path::{Path, PathBuf};

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The file that declares the modules of a folder.
fn declaring(folder: &Path) -> Option<PathBuf> {
    let candidates = [folder.join("main.rs"), folder.join("mod.rs")];
    candidates.into_iter().find(|file| file.is_file())
}

/// Adds the modules below a folder that its `main.rs` or `mod.rs` does not declare.
fn undeclared(folder: &Path, found: &mut Vec<PathBuf>) {
    let Some(root) = declaring(folder) else {
        return;
    };
    let text = fs::read_to_string(&root).unwrap();
    for path in entries(folder) {
        let is_module = path.is_dir() && declaring(&path).is_some()
            || path.extension().is_some_and(|it| it == "rs") && path != root;
        let name = path.file_stem().unwrap().to_str().unwrap();
        if is_module && !text.lines().any(|line| declared(line) == Some(name)) {
            found.push(path.clone());
        }
        if path.is_dir() {
            undeclared(&path, found);
        }
    }
}

/// The name in `pub(crate) mod name;`, if that is no comment.
pub(crate) fn declared(line: &str) -> Option<&str> {
    let head = line.trim_end().strip_suffix(';')?;
    let (visibility, name) = head.rsplit_once("mod ")?;
    (!visibility.contains("//")).then_some(name)
}

#[test]
fn every_test_file_is_a_module_of_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    let mut programs = 0;
    for group in ["crates", "examples", "benches", "."] {
        for package in entries(&root.join(group)) {
            for folder in entries(&package.join("tests")) {
                programs += usize::from(folder.join("main.rs").is_file());
                undeclared(&folder, &mut found);
            }
        }
    }
    assert!(programs > 10, "only {programs} programs");
    assert!(found.is_empty(), "declared nowhere: {found:#?}");
}

#[test]
fn a_file_that_is_not_declared_is_found() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("test_files");
    let inner = folder.join("inner");
    fs::create_dir_all(&inner).unwrap();
    fs::write(folder.join("main.rs"), "mod here;\npub(crate) mod inner;\n").unwrap();
    for file in ["here.rs", "there.rs", "inner/mod.rs", "inner/lost.rs"] {
        fs::write(folder.join(file), "").unwrap();
    }
    let mut found = Vec::new();
    undeclared(&folder, &mut found);
    found.sort();
    assert_eq!(found, [inner.join("lost.rs"), folder.join("there.rs")]);
}
