// SPDX-License-Identifier: MIT OR Apache-2.0
//! The experiments on priority inversion, threads and locks: `orbium bench`
//! makes them; here everything that they need is built, and their figures are
//! put into the table.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::peer::Peer;
use super::programs::Programs;
use super::report::{Bound, Report, Row};
use crate::test::peers;
use crate::{Outcome, shell};

/// Makes all three.
///
/// # Errors
/// Something could not be built or did not run.
pub(super) fn measure(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    let folder = shell::target_directory().join("interop");
    build_peers(&folder, report)?;
    if !shell::has("cyclictest")
        && let Some(reason) = peers::install(&["rt-tests"])
    {
        report.left_out(&format!("cyclictest (package rt-tests): {reason}"));
    }
    // Counting has its price: what is timed is the usual program.
    let counted = shell::target_directory().join("counted");
    let mut build = shell::cargo();
    build
        .args(["build", "--release", "-p", "orbium-cli"])
        .args(["--features", "counted", "--target-dir"])
        .arg(&counted);
    shell::must(&mut build)?;
    let counting = counted.join("release/orbium");
    for (experiment, program) in [
        ("inversion", &programs.orbium),
        ("threads", &programs.orbium),
        ("locks", &counting),
    ] {
        let file = programs.scratch.join(experiment);
        let json = file.with_extension("json");
        let mut command = Command::new(program);
        command.args(["bench", experiment, "--peers"]).arg(&folder);
        command.arg("--json").arg(&json);
        command.arg("--svg").arg(file.with_extension("svg"));
        if quick {
            command.arg("--quick");
        }
        shell::must(&mut command)?;
        take(&json, report)?;
    }
    Ok(())
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
            code => return Err(format!("interop/build.sh {peer} ended with {code}")),
        }
    }
    Ok(())
}

/// Takes the figures over into the table.
fn take(file: &Path, report: &mut Report) -> Outcome<()> {
    let failed = |reason: String| format!("{}: {reason}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    let found: Value = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
    let none = Vec::new();
    report
        .rows
        .extend(rows(found["rows"].as_array().unwrap_or(&none)));
    Ok(())
}

/// orbium's figures, each beside the best that omniORB reached.
fn rows(all: &[Value]) -> impl Iterator<Item = Row> + '_ {
    all.iter().filter_map(|row| {
        let figure = row["figure"].as_str()?;
        let whose = row["whose"].as_str()?.strip_prefix("orbium: ")?;
        let bound = bound(&row["bound"]);
        let name = format!("{figure} ({whose})");
        let own = match bound {
            Some(bound) => Row::bounded(name, bound),
            None => Row::unbounded(name),
        };
        let of_omni = all.iter().filter(|other| other["figure"] == figure);
        let of_omni = of_omni.filter(|other| {
            let whose = other["whose"].as_str();
            whose.is_some_and(|whose| whose.starts_with("omniORB"))
        });
        let of_omni = of_omni.filter_map(|other| other["value"].as_f64());
        let best = match bound {
            Some(Bound::AtLeast(_)) => of_omni.max_by(f64::total_cmp),
            _ => of_omni.min_by(f64::total_cmp),
        };
        Some(own.with([(Peer::Orbium, row["value"].as_f64()), (Peer::Omni, best)]))
    })
}

fn bound(value: &Value) -> Option<Bound> {
    let most = value["at_most"].as_f64().map(Bound::AtMost);
    most.or_else(|| value["at_least"].as_f64().map(Bound::AtLeast))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::rows;

    #[test]
    fn figures_stand_beside_the_best_of_the_peer() {
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
