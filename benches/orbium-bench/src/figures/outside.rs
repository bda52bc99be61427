// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures of a program outside this workspace, with Cargo's own release profile: the time of a
//! clean build of `hello`, what each stub adds, and the instructions of an empty call.

mod stubs;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::figures::scale;
use crate::peer::built::Programs;
use crate::report::bound::Bound;
use crate::report::figures::{Report, Row};
use xtask::outcome::Outcome;
use xtask::shell;

/// Seconds of a clean build of `hello` with two quiet processors.
const BUILD: Bound = Bound::AtMost(25.0);

/// Instructions of an empty call, of the client and of the server.
const CALL: [(&str, Bound); 2] = [
    ("client", Bound::AtMost(800.0)),
    ("server", Bound::AtMost(800.0)),
];

/// Measures the build, then the calls with the default features and with all.
pub(crate) fn measure(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    let hello = Package::copied("examples", "hello", programs)?;
    let begin = Instant::now();
    hello.build(&[])?;
    let mut row = Row::bounded("clean release build of hello, s", BUILD);
    row.orbium = Some(begin.elapsed().as_secs_f64());
    report.rows.push(row);
    stubs::measure(programs, report)?;
    if !shell::has("valgrind") {
        report.left_out("instructions outside the workspace: valgrind is not installed");
        return Ok(());
    }
    let lengths = if quick { (500, 1_500) } else { (1_000, 11_000) };
    for (features, named) in [(&[][..], "default"), (&["orbium/full"][..], "all")] {
        let program = Package::copied("benches", "scale", programs)?.build(features)?;
        let sides = scale::empty_call(&program, programs, lengths)?;
        for ((side, bound), profile) in CALL.into_iter().zip([sides.0, sides.1]) {
            let figure =
                format!("instructions per call, outside, {named} features, empty call, {side}");
            let mut row = Row::bounded(figure, bound);
            row.orbium = Some(profile.instructions);
            report.rows.push(row);
        }
    }
    Ok(())
}

/// A copy of a package, a workspace of its own.
struct Package {
    name: &'static str,
    folder: PathBuf,
}

impl Package {
    /// Copies a package of this workspace, without what was built of an earlier copy.
    fn copied(parent: &str, name: &'static str, programs: &Programs) -> Outcome<Self> {
        let from = shell::root().join(parent).join(name);
        Self::with(name, programs, &|folder| copy(&from, folder))
    }

    /// A package with the sources that `fill` puts into its folder.
    fn with(
        name: &'static str,
        programs: &Programs,
        fill: &dyn Fn(&Path) -> Outcome<()>,
    ) -> Outcome<Self> {
        let folder = programs.scratch.join("outside");
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

    /// Builds it with these features of its dependencies; gives the program of a package that has
    /// one.
    fn build(&self, features: &[&str]) -> Outcome<PathBuf> {
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

/// The manifest of a program that uses orbium as the guide says.
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

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

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
