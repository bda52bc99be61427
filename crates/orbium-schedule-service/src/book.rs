// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of the service with their schedule, in one place for all of its objects.

use std::path::Path;

use orbium::SystemException;
use orbium::lock::{Mutex, MutexGuard};
use orbium_sched::{
    Dependency, DependencyKind, EnableState, Handle, Options, Repository, SchedError, Schedule,
    Timing, listing,
};

use crate::error::{NOT_STORED, ServiceError, TOO_MUCH};
use crate::journal::{Journal, schedule_line};

/// Operations that the service keeps.
const MAX_OPERATIONS: usize = 100_000;
/// Dependencies of all operations together.
const MAX_DEPENDENCIES: usize = 1_000_000;
/// Bytes of a name.
const MAX_NAME: usize = 4_096;

/// Why something was not done.
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

/// Operations, their schedule, and the file that has both.
#[derive(Debug, Default)]
pub(crate) struct Book(Mutex<State>);

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) repository: Repository,
    /// What the priorities come from; none before they were computed.
    pub(crate) schedule: Option<Schedule>,
    /// What was computed last, feasible or not.
    pub(crate) attempt: Option<Schedule>,
    dependencies: usize,
    /// What the file has the schedule of.
    options: Option<Options>,
    journal: Option<Journal>,
}

impl Book {
    /// The book in a file. Priorities are computed again as they were.
    pub(crate) fn open(path: &Path) -> Result<Self, ServiceError> {
        let (journal, saved) = Journal::open(path)?;
        let infos = saved.repository.infos().iter();
        let mut state = State {
            dependencies: infos.map(|it| it.dependencies.len()).sum(),
            repository: saved.repository,
            journal: Some(journal),
            ..State::default()
        };
        state.options = saved.options;
        if let Some(options) = saved.options {
            // Without a schedule, as after changes that it does not hold for, it waits for the next.
            let _ = state.compute(&options);
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
        let handle = self.repository.create(name)?;
        self.store(handle)?;
        Ok(handle)
    }

    /// Changes the timing of an operation.
    pub(crate) fn set(
        &mut self,
        handle: Handle,
        change: impl FnOnce(&mut Timing),
    ) -> Result<(), Fault> {
        self.require_file()?;
        let mut timing = self.repository.get(handle)?.timing;
        change(&mut timing);
        self.repository.set(handle, timing)?;
        self.store(handle)
    }

    /// Changes the timing of operations that are known. Those that are disabled are enabled.
    pub(crate) fn set_all(&mut self, all: &[(Handle, Timing)]) -> Result<(), Fault> {
        for (handle, timing) in all {
            self.enable(*handle)?;
            self.set(*handle, |it| *it = *timing)?;
        }
        Ok(())
    }

    /// As [`set_all`](Self::set_all); all other operations that are enabled are disabled.
    pub(crate) fn replace_all(&mut self, all: &[(Handle, Timing)]) -> Result<(), Fault> {
        self.require_file()?;
        let infos = self.repository.infos().iter();
        let enabled = infos.filter(|it| it.state == EnableState::Enabled);
        let enabled: Vec<_> = enabled.map(|it| it.handle).collect();
        for handle in enabled {
            self.repository
                .set_enable_state(handle, EnableState::Disabled)?;
        }
        for (handle, timing) in all {
            self.enable(*handle)?;
            self.repository.set(*handle, *timing)?;
        }
        self.rewrite()
    }

    fn enable(&mut self, handle: Handle) -> Result<(), SchedError> {
        match self.repository.get(handle)?.state {
            EnableState::Disabled => self
                .repository
                .set_enable_state(handle, EnableState::Enabled),
            EnableState::Enabled | EnableState::NonVolatile => Ok(()),
        }
    }

    /// Changes which operations are part of schedules.
    pub(crate) fn set_states(&mut self, all: &[(Handle, EnableState)]) -> Result<(), Fault> {
        self.require_file()?;
        for (handle, state) in all {
            self.repository.set_enable_state(*handle, *state)?;
            self.store(*handle)?;
        }
        Ok(())
    }

    /// Changes which dependencies schedules follow: all of these, or none if there is one that nothing is.
    pub(crate) fn set_dependency_states(
        &mut self,
        all: &[(Handle, Dependency)],
    ) -> Result<(), Fault> {
        self.require_file()?;
        let mut repository = self.repository.clone();
        for (handle, it) in all {
            let same = (it.on, it.calls, it.kind);
            repository.set_dependency_enable_state(*handle, same, it.state)?;
        }
        self.repository = repository;
        self.rewrite()
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
        self.repository.add_dependency(handle, on, calls, kind)?;
        self.dependencies += 1;
        let mut alone = Repository::new();
        let own = alone.create(self.repository.name(handle))?;
        let other = if handle == on {
            own
        } else {
            alone.create(self.repository.name(on))?
        };
        alone.add_dependency(own, other, calls, kind)?;
        let text = listing(&alone);
        self.append(text.lines().last().unwrap_or_default())
    }

    /// Removes so many calls of a dependency, and with the last one the dependency.
    pub(crate) fn remove_dependency(
        &mut self,
        handle: Handle,
        on: Handle,
        calls: u32,
        kind: DependencyKind,
    ) -> Result<(), Fault> {
        self.require_file()?;
        let all = &self.repository.get(handle)?.dependencies;
        let same = all.iter().filter(|it| it.on == on && it.kind == kind);
        let state = same.clone().next().map(|it| it.state);
        let (count, sum) = same.fold((0, 0_u32), |(count, sum), it| {
            (count + 1, sum.saturating_add(it.calls))
        });
        if sum < calls {
            return Err(SchedError::UnknownTask(self.repository.name(on).to_owned()).into());
        }
        self.repository.remove_dependency(handle, on, kind)?;
        self.dependencies -= count;
        if sum > calls {
            let calls = sum - calls;
            self.repository.add_dependency(handle, on, calls, kind)?;
            self.dependencies += 1;
            let state = state.unwrap_or_default();
            self.repository
                .set_dependency_enable_state(handle, (on, calls, kind), state)?;
        }
        self.rewrite()
    }

    /// Writes the file anew. What was computed last stays in it.
    fn rewrite(&mut self) -> Result<(), Fault> {
        let Some(journal) = &mut self.journal else {
            return Ok(());
        };
        let mut text = listing(&self.repository);
        if let Some(options) = &self.options {
            text.push_str(&schedule_line(options));
        }
        journal.rewrite(&text).map_err(|_| NOT_STORED.into())
    }

    /// Computes the schedule and assigns priorities, if its deadlines hold.
    pub(crate) fn schedule(&mut self, options: &Options) -> Result<&Schedule, Fault> {
        self.require_file()?;
        self.compute(options)?;
        self.append(schedule_line(options).trim_end())?;
        self.options = Some(*options);
        let not_scheduled = || SchedError::NotScheduled(String::new());
        Ok(self.schedule.as_ref().ok_or_else(not_scheduled)?)
    }

    /// Whether every operation that is part of schedules has its priority.
    pub(crate) fn are_assigned(&self) -> bool {
        let mut infos = self.repository.infos().iter();
        infos.all(|it| it.state.is_disabled() || it.assignment.is_some())
    }

    fn compute(&mut self, options: &Options) -> Result<(), SchedError> {
        let computed = Schedule::compute(&self.repository, options)?;
        let attempt = self.attempt.insert(computed);
        attempt.require_feasible()?;
        self.schedule = Some(self.repository.compute_scheduling(options)?);
        Ok(())
    }

    pub(crate) fn destroy(&mut self) -> Result<(), Fault> {
        if let Some(journal) = &mut self.journal {
            journal.rewrite("").map_err(|_| NOT_STORED)?;
        }
        *self = State {
            journal: self.journal.take(),
            ..State::default()
        };
        Ok(())
    }

    /// # Errors
    /// PERSIST_STORE once a change was not written: no further one is made.
    fn require_file(&self) -> Result<(), SystemException> {
        match &self.journal {
            Some(journal) if !journal.is_whole() => Err(NOT_STORED),
            _ => Ok(()),
        }
    }

    /// Writes the line of an operation.
    fn store(&mut self, handle: Handle) -> Result<(), Fault> {
        let info = self.repository.get(handle)?;
        let mut alone = Repository::new();
        let own = alone.register(&info.entry_point, info.timing)?;
        alone.set_enable_state(own, info.state)?;
        self.append(listing(&alone).trim_end_matches('\n'))
    }

    fn append(&mut self, line: &str) -> Result<(), Fault> {
        match &mut self.journal {
            Some(journal) => {
                let written = journal.append(&format!("{line}\n"));
                written.map_err(|_| Fault::System(NOT_STORED))
            }
            None => Ok(()),
        }
    }
}
