// SPDX-License-Identifier: MIT OR Apache-2.0
//! Undoing applied steps.

use std::fmt::Write as _;

use super::journal::Journal;
use super::step::{Change, Create, Schedule, Step, Write};
use super::tree::{Tree, shown};
use super::{settings, steering, threads};

/// Report of an undo, step by step.
#[derive(Debug, Default)]
pub struct Report {
    /// Restored steps.
    pub undone: Vec<String>,
    /// Steps that remain in the journal, each with the reason.
    pub left: Vec<String>,
}

impl Report {
    /// A line for each step.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for step in &self.undone {
            let _ = writeln!(text, "undone  {step}");
        }
        for step in &self.left {
            let _ = writeln!(text, "left    {step}");
        }
        text
    }
}

/// Undoes the steps of a journal, the last one first. A setting that was changed otherwise since
/// then is left unchanged, and its step remains in the journal.
///
/// # Errors
/// One sentence, if there is no journal, or it cannot be read or written.
pub fn undo(tree: &Tree, journal: &Journal) -> Result<Report, String> {
    let mut steps = journal.read()?;
    let mut report = Report::default();
    let mut left = Vec::new();
    while let Some(step) = steps.pop() {
        match undo_step(&step, tree) {
            Ok(()) => report.undone.push(step.to_string()),
            Err(reason) => {
                report.left.push(format!("{step}: {reason}"));
                left.insert(0, step);
            }
        }
        // After each step, so that an undone step is not undone again.
        let open: Vec<Step> = steps.iter().chain(&left).cloned().collect();
        journal.write(&open)?;
    }
    if left.is_empty() {
        journal.remove()?;
    }
    Ok(report)
}

/// Undoes one step. One that was not applied, or that a restart of the host has undone, is already
/// restored.
pub(crate) fn undo_step(step: &Step, tree: &Tree) -> Result<(), String> {
    match &step.change {
        Change::Write(write) => reset(tree, write),
        Change::Create(create) => remove(tree, create),
        Change::Schedule(Schedule { before, .. }) => before
            .iter()
            .filter(|thread| threads::is_there(tree, thread))
            .try_for_each(threads::restore),
        Change::Steer(filter) if filter.rules.is_empty() && !filter.enable => Ok(()),
        // The filters of an interface are removed with it.
        Change::Steer(filter) if is_removed(tree, &filter.interface) => Ok(()),
        Change::Steer(filter) => steering::remove(filter),
    }
}

fn reset(tree: &Tree, write: &Write) -> Result<(), String> {
    match settings::value(tree, &write.file) {
        Some(now) if now == write.from => Ok(()),
        Some(now) if now == write.to => tree
            .write(&write.file, &write.from)
            .map_err(|error| error.to_string()),
        Some(now) => Err(format!(
            "it is {}, which is neither what was applied nor what was before",
            shown(&now)
        )),
        None if settings::is_removed(tree, &write.file) => Ok(()),
        None => Err(unreadable(tree, &write.file)),
    }
}

fn remove(tree: &Tree, create: &Create) -> Result<(), String> {
    match tree.text(&create.file) {
        None if tree.lacks(&create.file) => Ok(()),
        None => Err(unreadable(tree, &create.file)),
        Some(text) if text == create.text => tree.remove(&create.file),
        Some(_) => Err("the file was changed since".to_owned()),
    }
}

/// Whether an interface was removed.
fn is_removed(tree: &Tree, interface: &str) -> bool {
    let folder = "/sys/class/net";
    tree.has_lost(folder, &format!("{folder}/{interface}"))
}

fn unreadable(tree: &Tree, file: &str) -> String {
    match tree.read(file) {
        Ok(_) => "its value is not in the file".to_owned(),
        Err(error) => format!("it cannot be read: {error}"),
    }
}
