// SPDX-License-Identifier: MIT OR Apache-2.0
//! A package outside this workspace.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::outcome::Outcome;
use crate::shell;

/// A copy of a package, as a separate workspace.
#[derive(Debug)]
pub struct Package {
    name: &'static str,
    pub(super) folder: PathBuf,
}

impl Package {
    /// Copies a package of this workspace, without the build output of an earlier copy. Its build
    /// script reads files of the workspace in place.
    ///
    /// # Errors
    /// Files cannot be read or written.
    pub fn copied(parent: &str, name: &'static str, scratch: &Path) -> Outcome<Self> {
        let from = shell::root().join(parent).join(name);
        Self::with(name, scratch, &|folder| {
            copy(&from, folder)?;
            let script = folder.join("build.rs");
            let text = fs::read_to_string(&script).map_err(|error| failed(&script, &error))?;
            let text = with_absolute_paths(&text);
            fs::write(&script, text).map_err(|error| failed(&script, &error))
        })
    }

    /// A package with the sources that `fill` writes into its folder.
    pub(super) fn with(
        name: &'static str,
        scratch: &Path,
        fill: &dyn Fn(&Path) -> Outcome<()>,
    ) -> Outcome<Self> {
        let folder = scratch.join("outside");
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        }
        fill(&folder)?;
        let lock = folder.join("Cargo.lock");
        fs::copy(shell::root().join("Cargo.lock"), &lock).map_err(|error| failed(&lock, &error))?;
        let manifest = folder.join("Cargo.toml");
        fs::write(&manifest, self::manifest(name)).map_err(|error| failed(&manifest, &error))?;
        Ok(Self { name, folder })
    }

    /// Builds it with these features of its dependencies; returns the program of a package with
    /// one.
    ///
    /// # Errors
    /// It cannot be built.
    pub fn build(&self, features: &[&str]) -> Outcome<PathBuf> {
        let target = self.folder.join("target");
        let mut cargo = Command::new("cargo");
        cargo
            .current_dir(&self.folder)
            .args(["build", "--release", "--target-dir"])
            .arg(&target)
            .args(["--features", &features.join(",")]);
        shell::must(&mut cargo)?;
        Ok(target.join("release").join(self.name))
    }
}

/// The build script of a package two folders below the root, for a copy of it elsewhere.
fn with_absolute_paths(script: &str) -> String {
    script.replace("../../", &format!("{}/", shell::root().display()))
}

/// The manifest of a program that uses orbium as described in the guide.
fn manifest(name: &str) -> String {
    let mut text = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[workspace]\n"
    );
    for (section, needed) in [
        ("dependencies", "orbium"),
        ("build-dependencies", "orbium-build"),
    ] {
        let path = shell::root().join("crates").join(needed);
        // Writing to a String does not fail.
        let _ = writeln!(text, "\n[{section}]\n{needed}.path = {path:?}");
    }
    text
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    fs::create_dir_all(to).map_err(|error| failed(to, &error))?;
    for entry in fs::read_dir(from).map_err(|error| failed(from, &error))? {
        let entry = entry.map_err(|error| failed(from, &error))?;
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &copied)?;
        } else {
            fs::copy(&path, &copied).map_err(|error| failed(&path, &error))?;
        }
    }
    Ok(())
}

pub(super) fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: the copy of the counted program could not be built since its build script read a
    /// file of the workspace.
    #[test]
    fn a_copied_build_script_finds_the_idl_of_the_workspace() {
        let script = shell::root().join("benches/scale/build.rs");
        let script = with_absolute_paths(&fs::read_to_string(script).unwrap());
        let named = script.split('"').filter(|text| text.ends_with("ttcp.idl"));
        let named: Vec<_> = named.collect();
        assert_eq!(named.len(), 1, "{script}");
        assert!(Path::new(named[0]).is_absolute() && Path::new(named[0]).exists());
    }

    #[test]
    fn the_manifest_names_the_crates_that_a_program_uses() {
        let text = manifest("own");
        for name in ["orbium", "orbium-build"] {
            let line = text
                .lines()
                .find(|line| line.starts_with(&format!("{name}.path")));
            let path = line.and_then(|line| line.split('"').nth(1)).unwrap();
            assert!(Path::new(path).join("Cargo.toml").exists(), "{path}");
        }
    }
}
