// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of operations, the calls of each, and the maxima over all runs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use orbium::lock::{Mutex, MutexGuard};
use orbium_sched::{DependencyKind, Handle, Repository, SchedError};

use crate::operations::Operations;

/// Maximum number of recorded names of callees without RT_Info.
const MAX_UNSCHEDULED: usize = 256;

/// Maximum number of open runs of one thread, one for each nested upcall; the oldest of more are
/// removed. A run ends on its thread when the servant has returned, also if another thread answers.
const MAX_OPEN: usize = 64;

/// A callee, and whether its caller waits for it.
type Callee = (Handle, DependencyKind);

/// The recorded calls of a repository's operations.
pub(crate) struct Recording {
    pub(super) operations: Operations<Handle>,
    recorded: Mutex<Recorded>,
}

#[derive(Default)]
struct Recorded {
    /// The maximum number of calls in one run, by caller and callee.
    calls: BTreeMap<(Handle, Callee), u32>,
    unscheduled: BTreeSet<String>,
}

/// The names of all operations, with their handles.
fn names(repository: &Repository) -> impl Iterator<Item = (&str, Handle)> {
    let infos = repository.infos().iter();
    infos.map(|info| (&*info.entry_point, info.handle))
}

impl Recording {
    pub(crate) fn new(repository: &Repository) -> Self {
        Self {
            operations: Operations::of(names(repository)),
            recorded: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock()
    }

    pub(super) fn unscheduled(&self) -> Vec<String> {
        self.lock().unscheduled.iter().cloned().collect()
    }

    /// Adds to the repository the recorded calls that its dependencies lack.
    ///
    /// # Errors
    /// `UnknownTask`: an operation is of another repository.
    pub(crate) fn add_to(&self, repository: &mut Repository) -> Result<(), SchedError> {
        for ((caller, (callee, kind)), calls) in &self.lock().calls {
            let (dependent, on) = match kind {
                DependencyKind::TwoWayCall => (*caller, *callee),
                DependencyKind::OneWayCall => (*callee, *caller),
            };
            let dependencies = repository.get(dependent)?.dependencies.iter();
            let same = dependencies.filter(|it| it.on == on && it.kind == *kind);
            let known = same.fold(0, |sum: u32, it| sum.saturating_add(it.calls));
            if *calls > known {
                repository.add_recorded_dependency(dependent, on, calls - known, *kind)?;
            }
        }
        Ok(())
    }

    /// Counts one more call of the current run of this thread, if it is that of an operation.
    pub(super) fn called(self: &Arc<Self>, callee: Option<Callee>, name: impl FnOnce() -> String) {
        let is_of_operation = self.in_current_run(|run| {
            if let Some(callee) = callee {
                let calls = run.calls.entry(callee).or_default();
                *calls = calls.saturating_add(1);
            }
            run.operation.is_some()
        });
        if callee.is_none() && is_of_operation == Some(true) {
            let unscheduled = &mut self.lock().unscheduled;
            if unscheduled.len() < MAX_UNSCHEDULED {
                unscheduled.insert(name());
            }
        }
    }

    /// Cancels a counted call, because it is repeated.
    pub(super) fn not_called(self: &Arc<Self>, callee: Callee) {
        self.in_current_run(|run| {
            if let Some(calls) = run.calls.get_mut(&callee) {
                *calls = calls.saturating_sub(1);
            }
        });
    }

    /// Sets the operation of the current run of this thread.
    pub(super) fn is_run_of(self: &Arc<Self>, operation: Option<Handle>) {
        self.in_current_run(|run| run.operation = operation);
    }

    fn in_current_run<R>(self: &Arc<Self>, change: impl FnOnce(&mut OpenRun) -> R) -> Option<R> {
        RUNS.with_borrow_mut(|runs| {
            let mut runs = runs.iter_mut().rev();
            runs.find(|it| Arc::ptr_eq(&it.recording, self)).map(change)
        })
    }
}

/// A run in progress.
struct OpenRun {
    recording: Arc<Recording>,
    /// `None` without RT_Info.
    operation: Option<Handle>,
    calls: BTreeMap<Callee, u32>,
}

thread_local! {
    /// The runs of this thread: upcalls nest.
    static RUNS: RefCell<Vec<OpenRun>> = const { RefCell::new(Vec::new()) };
}

/// A run of this thread, until it is dropped.
pub(super) struct Run<'r>(&'r Arc<Recording>);

impl<'r> Run<'r> {
    pub(super) fn begin(recording: &'r Arc<Recording>, operation: Option<Handle>) -> Self {
        begin(recording, operation);
        Self(recording)
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        end(self.0);
    }
}

/// Begins a run of this thread, which [`end`] ends.
pub(super) fn begin(recording: &Arc<Recording>, operation: Option<Handle>) {
    let run = OpenRun {
        recording: Arc::clone(recording),
        operation,
        calls: BTreeMap::new(),
    };
    RUNS.with_borrow_mut(|runs| {
        if runs.len() == MAX_OPEN {
            runs.remove(0);
        }
        runs.push(run);
    });
}

/// Ends the innermost run of this thread.
pub(super) fn end(recording: &Arc<Recording>) {
    let run = RUNS.with_borrow_mut(|runs| {
        let at = runs
            .iter()
            .rposition(|it| Arc::ptr_eq(&it.recording, recording))?;
        Some(runs.remove(at))
    });
    let Some(OpenRun {
        operation: Some(caller),
        calls,
        ..
    }) = run
    else {
        return;
    };
    let most = &mut recording.lock().calls;
    for (callee, calls) in calls.into_iter().filter(|(_, calls)| *calls > 0) {
        let known = most.entry((caller, callee)).or_default();
        *known = calls.max(*known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_nothing_ends_are_bounded() {
        let recording = Arc::new(Recording::new(&Repository::new()));
        for _ in 0..3 * MAX_OPEN {
            begin(&recording, None);
        }
        assert_eq!(RUNS.with_borrow(Vec::len), MAX_OPEN);
    }
}
