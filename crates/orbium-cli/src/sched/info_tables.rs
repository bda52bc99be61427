// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of RT_Infos in files, and the schedules of them.

use std::path::Path;

use orbium_idl::{Diagnostic, Severity};
use orbium_ridl::Requirements;
use orbium_sched::{Options, Repository, Schedule, Table};

use crate::failure::Failure;
use crate::output;

/// The longest table that is read.
const MAX_TABLE: u64 = 64 << 20;

/// The operations of a table.
pub(crate) fn read(path: &Path) -> Result<Requirements, Failure> {
    let shown = path.display();
    let unreadable = |error| Failure::because(format!("cannot read `{shown}`: {error}"));
    let length = std::fs::metadata(path).map_err(unreadable)?.len();
    if length > MAX_TABLE {
        let sentence = format!("`{shown}` has {length} bytes, and {MAX_TABLE} are the most");
        return Err(Failure::because(sentence));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    Ok(Requirements::listed(&path.to_string_lossy(), &text))
}

/// The schedule of some operations. What is wrong with them is shown.
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

/// The schedule of a table, for the rest of the program. One that is not sound is refused.
pub(crate) fn scheduled(path: &Path, options: &Options) -> Result<&'static Table, Failure> {
    let (repository, schedule) = computed(&read(path)?, options)?;
    if !schedule.is_sound() {
        return Err(Failure::Shown);
    }
    Table::leak(&repository, &schedule).map_err(|error| Failure::because(error.to_string()))
}

/// Errors first: they are what the exit status is about.
fn show(diagnostics: &[Diagnostic]) {
    for severity in [Severity::Error, Severity::Warning] {
        let all = diagnostics.iter().filter(|it| it.severity == severity);
        let text: String = all.map(ToString::to_string).collect();
        output::diagnostics(&text);
    }
}
