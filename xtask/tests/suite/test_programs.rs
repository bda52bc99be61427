// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every library and program with tests in its sources is built for testing, and no
//! other: Cargo would compile each a second time to find that there are none. The same holds for
//! examples in documentation, for which rustdoc reads the whole library.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::test_files::declared;

/// What a newcomer is to copy as it stands.
const PLAIN: &[&str] = &["hello"];

/// The files of a library or program, along its `mod` declarations.
fn files_of(file: &Path, folder: &Path, found: &mut BTreeSet<PathBuf>) {
    let Ok(text) = fs::read_to_string(file) else {
        panic!("{}: cannot be read", file.display());
    };
    found.insert(file.to_path_buf());
    for name in text.lines().filter_map(declared) {
        let inner = folder.join(name);
        let candidates = [folder.join(format!("{name}.rs")), inner.join("mod.rs")];
        // A module of a macro's or of a test module's may have no file here.
        if let Some(module) = candidates.iter().find(|it| it.is_file()) {
            files_of(module, &inner, found);
        }
    }
}

/// A test: an attribute or a macro at the beginning of a line.
fn has_tests(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap();
    let begins = |line: &str| {
        let line = line.trim_start();
        line.starts_with("#[test]") || line.starts_with("proptest! {")
    };
    text.lines().any(begins)
}

/// An example in documentation begins or ends.
fn has_examples(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap();
    text.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("//! ```") || line.starts_with("/// ```")
    })
}

fn is_library(target: &Value) -> bool {
    let kinds = target["kind"].as_array().unwrap();
    kinds.iter().any(|it| it == "lib")
}

/// The libraries and programs of the workspace, as `cargo metadata` lists them.
fn targets() -> Vec<(String, Value)> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        for target in package["targets"].as_array().unwrap() {
            let kinds = target["kind"].as_array().unwrap();
            if is_library(target) || kinds.iter().any(|it| it == "bin") {
                let name = package["name"].as_str().unwrap();
                found.push((name.to_owned(), target.clone()));
            }
        }
    }
    found
}

#[test]
fn targets_with_tests_and_no_others_are_built_for_testing() {
    let mut wrong = Vec::new();
    let targets = targets();
    assert!(targets.len() > 60, "only {} targets", targets.len());
    for (package, target) in targets {
        let root = Path::new(target["src_path"].as_str().unwrap());
        let mut files = BTreeSet::new();
        files_of(root, root.parent().unwrap(), &mut files);
        let tested = files.iter().any(|file| has_tests(file));
        let plain = PLAIN.contains(&package.as_str());
        let place = format!("{package}, {}", root.display());
        let examples = is_library(&target) && files.iter().any(|file| has_examples(file));
        for (key, there) in [("test", tested), ("doctest", examples)] {
            let is_built = target[key] == true;
            if there && !is_built {
                wrong.push(format!("{place}: has some, but {key} = false"));
            } else if is_built && !there && !plain {
                wrong.push(format!("{place}: {key} = false is missing"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn modules_and_tests_are_found() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("test_programs");
    fs::create_dir_all(folder.join("inner")).unwrap();
    let files = [
        ("lib.rs", "// mod lost;\npub(crate) mod inner;\nmod here;\n"),
        ("inner/mod.rs", "mod deep;\n"),
        (
            "inner/deep.rs",
            "mod tests {\n    #[test]\n    fn it_is() {}\n}\n",
        ),
        (
            "here.rs",
            "// #[test]\n    /// ```\n    /// f();\n    /// ```\n",
        ),
        ("lost.rs", ""),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    let mut found = BTreeSet::new();
    files_of(&folder.join("lib.rs"), &folder, &mut found);
    let named = ["here.rs", "inner/deep.rs", "inner/mod.rs", "lib.rs"];
    assert!(
        found.iter().eq(&named.map(|it| folder.join(it))),
        "{found:?}"
    );
    let tested = found.iter().filter(|file| has_tests(file));
    assert!(tested.eq([&folder.join("inner/deep.rs")]));
    let explained = found.iter().filter(|file| has_examples(file));
    assert!(explained.eq([&folder.join("here.rs")]));
}
