// SPDX-License-Identifier: MIT OR Apache-2.0
//! The repository of RT_Infos: the operations of the paper's `Scheduler` interface.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::error::SchedError;
use crate::info::{Assignment, Dependency, DependencyKind, EnableState, Handle, RtInfo, Timing};
use crate::time::Time;

/// The longest period: `Period` is a `long` of 100 ns.
const MAX_PERIOD: Time = Time::from_ticks(i32::MAX as u64);

/// All operations of an application.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    infos: Vec<RtInfo>,
    by_name: HashMap<String, Handle>,
    /// The recorded calls of an operation, by dependency.
    recorded: BTreeMap<(Handle, Handle, DependencyKind), u64>,
}

impl Repository {
    /// An empty repository.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers an operation.
    ///
    /// # Errors
    /// `DuplicateName`.
    pub fn create(&mut self, entry_point: &str) -> Result<Handle, SchedError> {
        let handle = Handle::at(self.infos.len());
        if self.by_name.contains_key(entry_point) {
            return Err(SchedError::DuplicateName(entry_point.to_owned()));
        }
        self.by_name.insert(entry_point.to_owned(), handle);
        self.infos.push(RtInfo {
            entry_point: entry_point.to_owned(),
            handle,
            timing: Timing::default(),
            state: EnableState::default(),
            dependencies: Vec::new(),
            assignment: None,
        });
        Ok(handle)
    }

    /// Registers an operation with its timing.
    ///
    /// # Errors
    /// `DuplicateName`, `PeriodTooLong`.
    pub fn register(&mut self, entry_point: &str, timing: Timing) -> Result<Handle, SchedError> {
        check_period(entry_point, &timing)?;
        let handle = self.create(entry_point)?;
        self.set(handle, timing)?;
        Ok(handle)
    }

    /// The handle of an operation.
    ///
    /// # Errors
    /// `UnknownTask`.
    pub fn lookup(&self, entry_point: &str) -> Result<Handle, SchedError> {
        let found = self.by_name.get(entry_point).copied();
        found.ok_or_else(|| SchedError::UnknownTask(entry_point.to_owned()))
    }

    /// An operation.
    ///
    /// # Errors
    /// `UnknownTask`.
    pub fn get(&self, handle: Handle) -> Result<&RtInfo, SchedError> {
        self.infos
            .get(handle.index())
            .ok_or_else(|| unknown(handle))
    }

    /// Sets the timing of an operation.
    ///
    /// # Errors
    /// `UnknownTask`, `PeriodTooLong`.
    pub fn set(&mut self, handle: Handle, timing: Timing) -> Result<(), SchedError> {
        let info = self.get_mut(handle)?;
        check_period(&info.entry_point, &timing)?;
        info.timing = timing;
        Ok(())
    }

    /// Adds a dependency of `handle` on another operation. Several on the same operation add up.
    ///
    /// # Errors
    /// `UnknownTask`, `NoCalls`. Cycles are detected when the schedule is computed.
    pub fn add_dependency(
        &mut self,
        handle: Handle,
        on: Handle,
        calls: u32,
        kind: DependencyKind,
    ) -> Result<(), SchedError> {
        let state = EnableState::default();
        let dependency = Dependency {
            on,
            calls,
            kind,
            state,
        };
        self.depend(handle, dependency)
    }

    /// As [`add_dependency`](Self::add_dependency), for calls that a configuration run has
    /// recorded. Schedules include it as any other. At run time, without recording, a program has
    /// the [table](crate::Table::check) without it.
    ///
    /// # Errors
    /// Likewise.
    pub fn add_recorded_dependency(
        &mut self,
        handle: Handle,
        on: Handle,
        calls: u32,
        kind: DependencyKind,
    ) -> Result<(), SchedError> {
        self.add_dependency(handle, on, calls, kind)?;
        *self.recorded.entry((handle, on, kind)).or_default() += u64::from(calls);
        Ok(())
    }

    /// The number of recorded calls among those of a dependency.
    pub(crate) fn recorded(&self, handle: Handle, on: Handle, kind: DependencyKind) -> u64 {
        let recorded = self.recorded.get(&(handle, on, kind));
        recorded.copied().unwrap_or_default()
    }

    /// As [`add_dependency`](Self::add_dependency), with the state of the dependency.
    ///
    /// # Errors
    /// Likewise.
    pub fn depend(&mut self, handle: Handle, dependency: Dependency) -> Result<(), SchedError> {
        self.get(dependency.on)?;
        let info = self.get_mut(handle)?;
        if dependency.calls == 0 {
            return Err(SchedError::NoCalls(info.entry_point.clone()));
        }
        info.dependencies.push(dependency);
        Ok(())
    }

    /// Includes an operation in schedules, or excludes it and all dependencies of it and on it.
    ///
    /// # Errors
    /// `UnknownTask`.
    ///
    /// ```
    /// use orbium_sched::{EnableState, Options, Repository, Time, Timing};
    ///
    /// let mut repository = Repository::new();
    /// let timing = Timing { period: Time::from_millis(50), ..Timing::default() };
    /// let steer = repository.register("Rudder::steer", timing)?;
    /// repository.set_enable_state(steer, EnableState::Disabled)?;
    /// assert!(repository.compute_scheduling(&Options::default())?.threads.is_empty());
    /// # Ok::<(), orbium_sched::SchedError>(())
    /// ```
    pub fn set_enable_state(
        &mut self,
        handle: Handle,
        state: EnableState,
    ) -> Result<(), SchedError> {
        self.get_mut(handle)?.state = state;
        Ok(())
    }

    /// Includes or excludes the dependencies of `handle` on another operation with this kind and
    /// number of calls.
    ///
    /// # Errors
    /// `UnknownTask`: there is no such dependency.
    pub fn set_dependency_enable_state(
        &mut self,
        handle: Handle,
        (on, calls, kind): (Handle, u32, DependencyKind),
        state: EnableState,
    ) -> Result<(), SchedError> {
        self.set_dependency_enable_states(&HashMap::from([((handle, on, calls, kind), state)]))
    }

    /// As [`set_dependency_enable_state`](Self::set_dependency_enable_state), for many dependencies at
    /// once: by operation, the one on which it depends, number of calls and kind.
    ///
    /// # Errors
    /// `UnknownTask`: one of them does not exist. Others may have been changed.
    pub fn set_dependency_enable_states(
        &mut self,
        states: &HashMap<(Handle, Handle, u32, DependencyKind), EnableState>,
    ) -> Result<(), SchedError> {
        let handles: BTreeSet<Handle> = states.keys().map(|(handle, ..)| *handle).collect();
        let mut found = HashSet::new();
        for handle in handles {
            for it in &mut self.get_mut(handle)?.dependencies {
                let key = (handle, it.on, it.calls, it.kind);
                if let Some(state) = states.get(&key) {
                    it.state = *state;
                    found.insert(key);
                }
            }
        }
        match states.keys().find(|it| !found.contains(*it)) {
            Some((_, on, ..)) => Err(unknown(*on)),
            None => Ok(()),
        }
    }

    /// Removes the dependencies of `handle` on another operation with this kind.
    ///
    /// # Errors
    /// `UnknownTask`.
    pub fn remove_dependency(
        &mut self,
        handle: Handle,
        on: Handle,
        kind: DependencyKind,
    ) -> Result<(), SchedError> {
        let info = self.get_mut(handle)?;
        info.dependencies
            .retain(|it| it.on != on || it.kind != kind);
        self.recorded.remove(&(handle, on, kind));
        Ok(())
    }

    /// The assignment of the scheduler to an operation.
    ///
    /// # Errors
    /// `UnknownTask`, `NotScheduled`.
    pub fn priority(&self, handle: Handle) -> Result<Assignment, SchedError> {
        let info = self.get(handle)?;
        let not_scheduled = || SchedError::NotScheduled(info.entry_point.clone());
        info.assignment.ok_or_else(not_scheduled)
    }

    /// The assignment of the scheduler to the operation of that name.
    ///
    /// # Errors
    /// `UnknownTask`, `NotScheduled`.
    pub fn entry_point_priority(&self, entry_point: &str) -> Result<Assignment, SchedError> {
        self.priority(self.lookup(entry_point)?)
    }

    /// All operations in the order of their handles.
    #[must_use]
    pub fn infos(&self) -> &[RtInfo] {
        &self.infos
    }

    /// The name of an operation; empty for a handle of another repository.
    #[must_use]
    pub fn name(&self, handle: Handle) -> &str {
        let info = self.infos.get(handle.index());
        info.map_or("", |info| &info.entry_point)
    }

    /// Stores the assignments of a schedule, in the order of handles.
    pub(crate) fn set_assignments(&mut self, assignments: &[Option<Assignment>]) {
        for (info, assignment) in self.infos.iter_mut().zip(assignments) {
            info.assignment = *assignment;
        }
    }

    /// The dependencies of an operation in schedules: neither they nor the operations at their ends
    /// are disabled.
    pub(crate) fn followed<'r>(
        &'r self,
        info: &'r RtInfo,
    ) -> impl Iterator<Item = &'r Dependency> + Clone {
        let is_followed = |it: &&Dependency| {
            let is_part = |handle| self.get(handle).is_ok_and(|it| !it.state.is_disabled());
            !it.state.is_disabled() && is_part(it.on) && is_part(info.handle)
        };
        info.dependencies.iter().filter(is_followed)
    }

    fn get_mut(&mut self, handle: Handle) -> Result<&mut RtInfo, SchedError> {
        let info = self.infos.get_mut(handle.index());
        info.ok_or_else(|| unknown(handle))
    }
}

fn check_period(entry_point: &str, timing: &Timing) -> Result<(), SchedError> {
    if timing.period <= MAX_PERIOD {
        Ok(())
    } else {
        Err(SchedError::PeriodTooLong(entry_point.to_owned()))
    }
}

fn unknown(handle: Handle) -> SchedError {
    SchedError::UnknownTask(handle.number().to_string())
}
