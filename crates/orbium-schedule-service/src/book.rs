// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of the service with their schedule, shared by all of its objects.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use orbium::lock::{Mutex, MutexGuard};
use orbium::{OrRaise as _, SystemException};
use orbium_sched::{
    Dependency, DependencyKind, EnableState, Handle, Options, Repository, SchedError, Schedule,
    Strategy, Timing, listing,
};

use crate::error::{NOT_STORED, ServiceError, TOO_MUCH};
use crate::journal::{
    Journal, MAX_TEXT, content, dependency_length, operation_length, schedule_line, text_length,
};

/// Maximum number of operations of the service.
const MAX_OPERATIONS: usize = 100_000;
/// Maximum number of dependencies of all operations together.
const MAX_DEPENDENCIES: usize = 1_000_000;
/// Maximum bytes of a name.
const MAX_NAME: usize = 4_096;

/// Error of an operation of the service.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The scheduler refuses it.
    Sched(SchedError),
    /// The service refuses it.
    System(SystemException),
}

impl From<SchedError> for Fault {
    fn from(error: SchedError) -> Self {
        Self::Sched(error)
    }
}

impl From<SystemException> for Fault {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

/// Operations, their schedule, and the file of both.
#[derive(Debug, Default)]
pub(crate) struct Book(Mutex<State>);

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) repository: Repository,
    /// The schedule of the priorities; none before they were computed.
    pub(crate) schedule: Option<Schedule>,
    /// The last computed schedule, feasible or not.
    pub(crate) attempt: Option<Schedule>,
    dependencies: usize,
    /// Maximum length of the lines of all operations and dependencies.
    text: u64,
    /// The options of the schedule in the file.
    options: Option<Options>,
    /// The strategy of operations that compute a schedule and have no argument for it.
    pub(crate) strategy: Strategy,
    journal: Option<Journal>,
}

impl Book {
    /// The book of a file. Priorities are computed again with the same options.
    pub(crate) fn open(path: &Path) -> Result<Self, ServiceError> {
        let (journal, saved) = Journal::open(path)?;
        let infos = saved.repository.infos().iter();
        let mut state = State {
            dependencies: infos.map(|it| it.dependencies.len()).sum(),
            text: text_length(&saved.repository),
            repository: saved.repository,
            journal: Some(journal),
            ..State::default()
        };
        state.options = saved.options;
        if let Some(options) = saved.options {
            // Without a schedule, as after changes that make it infeasible, it waits for the next
            // one.
            if state.attempt(&options).is_ok() {
                state.assign();
            }
        }
        Ok(Book(Mutex::new(state)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl State {
    pub(crate) fn create(&mut self, name: &str) -> Result<Handle, Fault> {
        self.require_file()?;
        if name.len() > MAX_NAME || self.repository.infos().len() >= MAX_OPERATIONS {
            return Err(TOO_MUCH.into());
        }
        if self.repository.lookup(name).is_ok() {
            return Err(SchedError::DuplicateName(name.to_owned()).into());
        }
        let text = self.text_with(operation_length(name))?;
        self.append(&operation_line(
            name,
            Timing::default(),
            EnableState::default(),
        )?)?;
        let handle = self.repository.create(name)?;
        self.text = text;
        Ok(handle)
    }

    /// The length of all lines with a further one.
    fn text_with(&self, length: u64) -> Result<u64, SystemException> {
        let text = self.text + length;
        if text > MAX_TEXT {
            return Err(TOO_MUCH);
        }
        Ok(text)
    }

    /// Changes the timing of an operation.
    pub(crate) fn set(
        &mut self,
        handle: Handle,
        change: impl FnOnce(&mut Timing),
    ) -> Result<(), Fault> {
        let info = self.repository.get(handle)?;
        let (mut timing, state) = (info.timing, info.state);
        change(&mut timing);
        self.apply(&[(handle, timing, state)])
    }

    /// Changes the timing of operations. Disabled ones are enabled.
    pub(crate) fn set_all(&mut self, all: &[(Handle, Timing)]) -> Result<(), Fault> {
        let set = |(handle, timing): &(Handle, Timing)| {
            let state = enabled(self.repository.get(*handle)?.state);
            Ok((*handle, *timing, state))
        };
        let changes: Result<Vec<_>, SchedError> = all.iter().map(set).collect();
        self.apply(&changes?)
    }

    /// As [`set_all`](Self::set_all); all other enabled operations are disabled.
    pub(crate) fn replace_all(&mut self, all: &[(Handle, Timing)]) -> Result<(), Fault> {
        self.change(|repository| {
            let infos = repository.infos().iter();
            let enabled_ones = infos.filter(|it| it.state == EnableState::Enabled);
            let enabled_ones: Vec<_> = enabled_ones.map(|it| it.handle).collect();
            for handle in enabled_ones {
                repository.set_enable_state(handle, EnableState::Disabled)?;
            }
            for (handle, timing) in all {
                let state = enabled(repository.get(*handle)?.state);
                repository.set_enable_state(*handle, state)?;
                repository.set(*handle, *timing)?;
            }
            Ok(())
        })
    }

    /// Changes the enable states of operations.
    pub(crate) fn set_states(&mut self, all: &[(Handle, EnableState)]) -> Result<(), Fault> {
        let set = |(handle, state): &(Handle, EnableState)| {
            Ok((*handle, self.repository.get(*handle)?.timing, *state))
        };
        let changes: Result<Vec<_>, SchedError> = all.iter().map(set).collect();
        self.apply(&changes?)
    }

    /// Applies timings and states of operations, once they are in the file: the last ones of each.
    fn apply(&mut self, changes: &[(Handle, Timing, EnableState)]) -> Result<(), Fault> {
        self.require_file()?;
        let changes = changes
            .iter()
            .map(|(handle, timing, state)| (*handle, (*timing, *state)));
        let last: BTreeMap<_, _> = changes.collect();
        let mut lines = String::new();
        for (handle, (timing, state)) in &last {
            let name = &self.repository.get(*handle)?.entry_point;
            lines.push_str(&operation_line(name, *timing, *state)?);
        }
        self.append(&lines)?;
        for (handle, (timing, state)) in last {
            self.repository.set(handle, timing)?;
            self.repository.set_enable_state(handle, state)?;
        }
        Ok(())
    }

    /// Changes operations, once their new state is in the file.
    fn change(
        &mut self,
        change: impl FnOnce(&mut Repository) -> Result<(), SchedError>,
    ) -> Result<(), Fault> {
        self.require_file()?;
        let mut repository = self.repository.clone();
        change(&mut repository)?;
        if let Some(journal) = &mut self.journal {
            let text = content(&repository, self.options.as_ref());
            journal.rewrite(&text).or_raise(NOT_STORED)?;
        }
        self.repository = repository;
        Ok(())
    }

    /// Changes the enable states of dependencies: all of these, or none if one of them is unknown.
    pub(crate) fn set_dependency_states(
        &mut self,
        states: &HashMap<(Handle, Handle, u32, DependencyKind), EnableState>,
    ) -> Result<(), Fault> {
        self.change(|repository| repository.set_dependency_enable_states(states))
    }

    pub(crate) fn add_dependency(
        &mut self,
        handle: Handle,
        on: Handle,
        calls: u32,
        kind: DependencyKind,
    ) -> Result<(), Fault> {
        self.require_file()?;
        if self.dependencies >= MAX_DEPENDENCIES {
            return Err(TOO_MUCH.into());
        }
        let mut alone = Repository::new();
        let name = &self.repository.get(handle)?.entry_point;
        let length = dependency_length(name, &self.repository.get(on)?.entry_point);
        let own = alone.create(name)?;
        let other = match &self.repository.get(on)?.entry_point {
            _ if handle == on => own,
            name => alone.create(name)?,
        };
        alone.add_dependency(own, other, calls, kind)?;
        let text = self.text_with(length)?;
        let listed = listing(&alone);
        self.append(listed.split_inclusive('\n').next_back().unwrap_or_default())?;
        self.repository.add_dependency(handle, on, calls, kind)?;
        self.dependencies += 1;
        self.text = text;
        Ok(())
    }

    /// Removes so many calls of a dependency, and with the last one the dependency.
    pub(crate) fn remove_dependency(
        &mut self,
        handle: Handle,
        on: Handle,
        calls: u32,
        kind: DependencyKind,
    ) -> Result<(), Fault> {
        let all = &self.repository.get(handle)?.dependencies;
        let same = all.iter().filter(|it| it.on == on && it.kind == kind);
        let state = same.clone().next().map(|it| it.state);
        let (count, sum) = same.fold((0, 0_u32), |(count, sum), it| {
            (count + 1, sum.saturating_add(it.calls))
        });
        let remaining = match (sum.checked_sub(calls), state) {
            (None, _) => {
                return Err(SchedError::UnknownTask(self.repository.name(on).to_owned()).into());
            }
            (Some(calls @ 1..), Some(state)) => Some(Dependency {
                on,
                calls,
                kind,
                state,
            }),
            _ => None,
        };
        self.change(|repository| {
            repository.remove_dependency(handle, on, kind)?;
            match remaining {
                Some(remaining) => repository.depend(handle, remaining),
                None => Ok(()),
            }
        })?;
        let removed = count - usize::from(remaining.is_some());
        self.dependencies -= removed;
        let names = [handle, on].map(|it| self.repository.name(it));
        self.text -= removed as u64 * dependency_length(names[0], names[1]);
        Ok(())
    }

    /// Computes the schedule and assigns priorities, if its deadlines hold.
    pub(crate) fn schedule(&mut self, options: &Options) -> Result<&Schedule, Fault> {
        self.require_file()?;
        self.attempt(options)?;
        self.append(&schedule_line(options))?;
        self.options = Some(*options);
        self.assign();
        let not_scheduled = || SchedError::NotScheduled(String::new());
        Ok(self.schedule.as_ref().ok_or_else(not_scheduled)?)
    }

    /// Options of a schedule within that range of native priorities, by the strategy of the service.
    pub(crate) fn options_within(&self, (min_priority, max_priority): (i32, i32)) -> Options {
        Options {
            strategy: self.strategy,
            min_priority,
            max_priority,
            ..Options::default()
        }
    }

    /// Whether every operation that is part of schedules has its priority.
    pub(crate) fn are_assigned(&self) -> bool {
        let mut infos = self.repository.infos().iter();
        infos.all(|it| it.state.is_disabled() || it.assignment.is_some())
    }

    /// Computes a schedule and requires that it is feasible.
    fn attempt(&mut self, options: &Options) -> Result<(), SchedError> {
        let computed = Schedule::compute(&self.repository, options)?;
        self.attempt.insert(computed).require_feasible()?;
        Ok(())
    }

    /// Assigns the priorities of the last computed schedule.
    fn assign(&mut self) {
        if let Some(schedule) = &self.attempt {
            self.repository.assign(schedule);
            self.schedule = Some(schedule.clone());
        }
    }

    pub(crate) fn destroy(&mut self) -> Result<(), Fault> {
        if let Some(journal) = &mut self.journal {
            journal.rewrite("").or_raise(NOT_STORED)?;
        }
        *self = State {
            journal: self.journal.take(),
            ..State::default()
        };
        Ok(())
    }

    /// Rewrites the file if it lacks a change that could not be written: it may end in half a line.
    ///
    /// # Errors
    /// PERSIST_STORE: that fails too.
    fn require_file(&mut self) -> Result<(), SystemException> {
        match &mut self.journal {
            Some(journal) if !journal.is_whole() => {
                let text = content(&self.repository, self.options.as_ref());
                journal.rewrite(&text).or_raise(NOT_STORED)
            }
            _ => Ok(()),
        }
    }

    /// Appends the lines of a change, to the file with each operation once if it has become long.
    fn append(&mut self, lines: &str) -> Result<(), Fault> {
        let Some(journal) = &mut self.journal else {
            return Ok(());
        };
        if journal.is_full_for(lines) {
            let text = content(&self.repository, self.options.as_ref());
            journal.rewrite(&text).or_raise(NOT_STORED)?;
        }
        Ok(journal.append(lines).or_raise(NOT_STORED)?)
    }
}

/// The line of an operation.
fn operation_line(name: &str, timing: Timing, state: EnableState) -> Result<String, SchedError> {
    let mut alone = Repository::new();
    let own = alone.register(name, timing)?;
    alone.set_enable_state(own, state)?;
    Ok(listing(&alone))
}

/// The state that enables a disabled operation.
fn enabled(state: EnableState) -> EnableState {
    match state {
        EnableState::Disabled => EnableState::Enabled,
        state => state,
    }
}
