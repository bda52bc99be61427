// SPDX-License-Identifier: MIT OR Apache-2.0
//! Crates made by `orbium new` build without a warning, and their tests pass.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{Folder, run};

/// The checkout that the program was built from.
fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A directory outside of any workspace, which is removed.
struct Outside(PathBuf);

impl Outside {
    fn new(name: &str) -> Self {
        let name = format!("orbium-new-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Outside(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Makes a crate and tests it, with the versions that this checkout has locked.
fn made_and_tested(name: &str, options: &[&str], tested: &str) {
    let outside = Outside::new(name);
    let (path, checkout) = (outside.path(name), checkout());
    let from = checkout.to_str().unwrap();
    let arguments = ["new", &path, "--orbium-path", from];
    let ran = run(arguments.into_iter().chain(options.iter().copied()));
    ran.assert_done();
    assert!(ran.stdout.contains("cargo test"), "{ran:?}");
    let lock = checkout.join("Cargo.lock");
    std::fs::copy(lock, Path::new(&path).join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline"])
        .current_dir(&path)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("new"),
        )
        .env("RUSTFLAGS", "-D warnings")
        .env_remove("CARGO_MANIFEST_DIR")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}{stderr}");
    assert!(
        stdout.contains(&format!("test {tested} ... ok")),
        "{stdout}"
    );
    assert!(!stderr.contains("warning"), "{stderr}");
}

/// One after the other: they share what they build of orbium.
#[test]
fn every_kind_of_crate_builds_and_its_test_passes() {
    made_and_tested("polite-server", &[], "a_greeting_comes_back");
    made_and_tested("greeter", &["--client"], "a_greeting_comes_back");
    made_and_tested("valve_control", &["--rt"], "an_urgent_greeting_comes_back");
}

#[test]
fn files_are_as_each_kind_needs_them() {
    let folder = Folder::new();
    let path = folder.path("polite-server");
    run(["new", &path]).assert_done();
    let read = |file: &str| std::fs::read_to_string(format!("{path}/{file}")).unwrap();
    let manifest = read("Cargo.toml");
    let dependency = format!("orbium = {{ version = \"{}\" }}", env!("CARGO_PKG_VERSION"));
    assert!(manifest.contains(&dependency), "{manifest}");
    assert!(read("idl/polite-server.idl").contains("module PoliteServer {"));
    assert!(read("src/bin/polite-server-client.rs").contains("polite_server::Greeter"));
    let unit = read("polite-server.service");
    assert!(
        unit.contains("ExecStart=/usr/local/bin/polite-server-server "),
        "{unit}"
    );
    assert!(!unit.contains('@'), "{unit}");

    let path = folder.path("urgent");
    run(["new", &path, "--rt"]).assert_done();
    let unit = std::fs::read_to_string(format!("{path}/urgent.service")).unwrap();
    assert!(
        unit.contains("LimitRTPRIO=99\nLimitMEMLOCK=infinity\n"),
        "{unit}"
    );

    let path = folder.path("caller");
    run(["new", &path, "--client"]).assert_done();
    assert!(!Path::new(&path).join("caller.service").exists());
    assert!(!Path::new(&path).join("src/bin/caller-server.rs").exists());
}

#[test]
fn nothing_is_overwritten_and_bad_names_are_refused() {
    let folder = Folder::new();
    let path = folder.path("there");
    run(["new", &path]).assert_done();
    run(["new", &path]).assert_failed_saying("exists already");
    let other = folder.path("other");
    run(["new", &other, "--orbium-path", &folder.path("")])
        .assert_failed_saying("there is no checkout of orbium");
    assert!(!Path::new(&other).exists());
    for bad in ["1st", "orbium", "a.b", "interface"] {
        let ran = run(["new", &folder.path(bad)]);
        assert_eq!(ran.status, Some(2), "{bad}: {ran:?}");
    }
    assert_eq!(run(["new", &other, "--rt", "--client"]).status, Some(2));
}
