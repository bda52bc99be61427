// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of RT_Infos and overheads in files, and the schedules of tables.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use orbium_idl::{Diagnostic, Severity};
use orbium_ridl::Requirements;
use orbium_sched::{Options, Overhead, Repository, Schedule, Table};

use crate::failure::Failure;
use crate::output;

/// Maximum length of a table, in bytes.
const MAX_TABLE: u64 = 64 << 20;

/// Maximum length of an overhead file, in bytes.
const MAX_OVERHEAD: u64 = 64 << 10;

/// The operations of a table.
pub(crate) fn read(path: &Path) -> Result<Requirements, Failure> {
    let text = text(path, MAX_TABLE)?;
    Ok(Requirements::listed(&path.to_string_lossy(), &text))
}

/// The overhead of a host, as `orbium sched calibrate` writes it.
pub(crate) fn overhead(path: &Path) -> Result<Overhead, Failure> {
    let shown = path.display();
    let wrong = |error| Failure::because(format!("`{shown}` is no overhead: {error}"));
    text(path, MAX_OVERHEAD)?.parse().map_err(wrong)
}

/// The text of a file, of which at most the limit is read.
fn text(path: &Path, max: u64) -> Result<String, Failure> {
    let shown = path.display();
    let unreadable = |error| Failure::because(format!("cannot read `{shown}`: {error}"));
    let file = File::open(path).map_err(unreadable)?;
    let mut text = String::new();
    let read = file.take(max + 1).read_to_string(&mut text);
    if read.map_err(unreadable)? as u64 > max {
        let sentence = format!("`{shown}` has more than {max} bytes");
        return Err(Failure::because(sentence));
    }
    Ok(text)
}

/// The schedule of some operations. Its diagnostics are shown.
pub(crate) fn computed(
    requirements: &Requirements,
    options: &Options,
) -> Result<(Repository, Schedule), Failure> {
    show(&requirements.diagnostics);
    if requirements.has_errors() {
        return Err(Failure::Shown);
    }
    if requirements.operations.is_empty() {
        let sentence = "no operation has timing requirements: `@rt` gives them";
        return Err(Failure::because(sentence));
    }
    let computed = requirements.repository().and_then(|mut repository| {
        let schedule = repository.compute_scheduling(options)?;
        Ok((repository, schedule))
    });
    let (repository, schedule) = computed.map_err(|error| {
        show(&[requirements.refusal(&error)]);
        Failure::Shown
    })?;
    show(&requirements.findings(&schedule));
    Ok((repository, schedule))
}

/// The schedule of a table, for the rest of the program. An infeasible one is refused.
pub(crate) fn scheduled(path: &Path, options: &Options) -> Result<&'static Table, Failure> {
    let (repository, schedule) = computed(&read(path)?, options)?;
    if !schedule.is_sound() {
        return Err(Failure::Shown);
    }
    Table::leak(&repository, &schedule).map_err(|error| Failure::because(error.to_string()))
}

/// Errors first, as they determine the exit status.
fn show(diagnostics: &[Diagnostic]) {
    for severity in [Severity::Error, Severity::Warning] {
        let all = diagnostics.iter().filter(|it| it.severity == severity);
        let text: String = all.map(ToString::to_string).collect();
        output::diagnostics(&text);
    }
}
