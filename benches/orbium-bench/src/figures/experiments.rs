// SPDX-License-Identifier: MIT OR Apache-2.0
//! The experiments on priority inversion, threads and locks: builds the required programs, runs the
//! experiments, and enters their figures into the table and, with `--docs`, into the page on
//! performance.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::peer::built::Programs;
use crate::peer::contender::Peer;
use crate::report::bound::Bound;
use crate::report::figures::{Report, Row, heading};
use crate::report::page;
use xtask::outcome::Outcome;
use xtask::packages;
use xtask::shell;

/// The commands of this program. Those that need an idle machine are first.
pub(crate) const EXPERIMENTS: [&str; 3] = ["inversion", "threads", "locks"];

/// The manner of running them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) quick: bool,
    /// Whether the results are published in the pages of this project.
    pub(crate) publishes: bool,
}

/// Runs all three. A failed one is left out, with its results so far.
///
/// # Errors
/// A program cannot be built, or a file written.
pub(crate) fn measure(programs: &Programs, manner: Manner, report: &mut Report) -> Outcome<()> {
    let target = shell::target_directory();
    let (peers, folder) = (target.join("interop"), target.join("experiments"));
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    build_peers(&peers, report)?;
    if !shell::has("cyclictest")
        && let Some(reason) = packages::install(&["rt-tests"])
    {
        report.left_out(&format!("cyclictest (package rt-tests): {reason}"));
    }
    let counting = build_counting(&programs.harness, &folder)?;
    let heading = heading(manner.quick);
    for experiment in EXPERIMENTS {
        let program = match experiment {
            "locks" => &counting,
            _ => &programs.harness,
        };
        let file = folder.join(experiment);
        let found = run(program, experiment, &peers, &file, manner.quick, report);
        let Some(found) = found else {
            continue;
        };
        let none = Vec::new();
        report
            .rows
            .extend(rows(found["rows"].as_array().unwrap_or(&none)));
        if manner.publishes && found["whole"] == true {
            page::publish(experiment, &file, &found, &heading)?;
        }
    }
    eprintln!("JSON and drawings are in {}", folder.display());
    if manner.publishes {
        eprintln!(
            "and in {}, the tables in docs/priority-inversion.md",
            page::folder().display()
        );
    }
    Ok(())
}

/// Runs one, and returns its results; failures are noted in the report.
fn run(
    program: &Path,
    experiment: &str,
    peers: &Path,
    file: &Path,
    quick: bool,
    report: &mut Report,
) -> Option<Value> {
    let json = file.with_extension("json");
    // A file of an earlier run would be mistaken for the results of this one.
    let _ = fs::remove_file(&json);
    let mut command = Command::new(program);
    command.args([experiment, "--peers"]).arg(peers);
    command.arg("--json").arg(&json);
    command.arg("--svg").arg(file.with_extension("svg"));
    if quick {
        command.arg("--quick");
    }
    let begin = Instant::now();
    if let Err(reason) = shell::must(&mut command) {
        report.left_out(&format!("{experiment}, at least in part: {reason}"));
    }
    eprintln!("{experiment} took {} s", begin.elapsed().as_secs());
    match read(&json) {
        Ok(found) => Some(found),
        Err(reason) => {
            report.left_out(&format!("{experiment}: {reason}"));
            None
        }
    }
}

fn read(file: &Path) -> Outcome<Value> {
    let failed = |reason: String| format!("{}: {reason}", file.display());
    let text = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
}

/// A copy of the program that counts operations on locks. Counting has a cost, so that it is not
/// used for timing.
fn build_counting(plain: &Path, folder: &Path) -> Outcome<PathBuf> {
    let build = |features: &[&str]| {
        let mut build = shell::cargo();
        build
            .args(["build", "--release", "-p", "orbium-bench"])
            .args(features);
        shell::must(&mut build)
    };
    let counting = folder.join("orbium-bench-counted");
    // Cargo retains both: only the file of their common name changes.
    build(&["--features", "counted"])?;
    let copied = fs::copy(plain, &counting);
    build(&[])?;
    copied.map_err(|error| format!("{}: {error}", counting.display()))?;
    Ok(counting)
}

fn build_peers(folder: &Path, report: &mut Report) -> Outcome<()> {
    for peer in ["omni", "jacorb"] {
        let mut command = Command::new("sh");
        command
            .current_dir(shell::root())
            .args(["interop/build.sh", peer])
            .arg(folder);
        match shell::exit_code(&mut command)? {
            0 => {}
            3 => report.left_out(&format!("experiments: {peer} is not available here")),
            code => report.left_out(&format!("experiments: {peer} was not built ({code})")),
        }
    }
    Ok(())
}

/// orbium's figures, each with the best one of omniORB.
fn rows(all: &[Value]) -> impl Iterator<Item = Row> + '_ {
    all.iter().filter_map(|row| {
        let figure = row["figure"].as_str()?;
        let peer = row["whose"].as_str()?.strip_prefix("orbium: ")?;
        let bound = Bound::from_json(&row["bound"]);
        let name = format!("{figure} ({peer})");
        let own = match bound {
            Some(bound) => Row::bounded(name, bound),
            None => Row::unbounded(name),
        };
        let of_omni = all.iter().filter(|other| other["figure"] == figure);
        let of_omni = of_omni.filter(|other| {
            let peer = other["whose"].as_str();
            peer.is_some_and(|peer| peer.starts_with("omniORB"))
        });
        let of_omni = of_omni.filter_map(|other| other["value"].as_f64());
        let best = match bound {
            Some(Bound::AtLeast(_)) => of_omni.max_by(f64::total_cmp),
            _ => of_omni.min_by(f64::total_cmp),
        };
        Some(own.with([(Peer::Orbium, row["value"].as_f64()), (Peer::Omni, best)]))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::rows;

    #[test]
    fn figures_are_compared_with_the_best_of_the_peer() {
        let all = [
            json!({"figure": "f", "whose": "orbium: lanes", "value": 1.1, "bound": {"at_most": 1.5}}),
            json!({"figure": "f", "whose": "omniORB: pool", "value": 9.0, "bound": null}),
            json!({"figure": "f", "whose": "omniORB: other", "value": 7.0, "bound": null}),
            json!({"figure": "g", "whose": "omniORB: other", "value": 1.0, "bound": null}),
        ];
        let rows: Vec<_> = rows(&all).collect();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].orbium, Some(1.1));
        assert_eq!(rows[0].omni, Some(7.0));
    }
}
