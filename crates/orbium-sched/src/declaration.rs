// SPDX-License-Identifier: MIT OR Apache-2.0
//! RT_Infos as constants, and their Rust source.

use crate::error::SchedError;
use crate::info::{DependencyKind, EnableState, Handle, RtInfo, Timing};
use crate::repository::Repository;
use crate::source::{constants, put, without_control};

/// An RT_Info as constant data, in the form that [`declarations`] writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The unique name of the operation.
    pub name: &'static str,
    /// The timing of the operation.
    pub timing: Timing,
    /// Whether it is part of schedules.
    pub state: EnableState,
    /// The dependencies of the operation.
    pub depends_on: &'static [DeclaredDependency],
}

/// A dependency of a [`Declaration`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredDependency {
    /// The name of the callee, or of the supplier.
    pub on: &'static str,
    /// Calls per run of the caller, or events per run of the supplier; at least 1.
    pub calls: u32,
    /// The kind of the dependency.
    pub kind: DependencyKind,
}

impl Repository {
    /// Registers operations and then their dependencies, which may be on operations that were
    /// registered before.
    ///
    /// ```
    /// use orbium_sched::{Declaration, EnableState, Repository, Time, Timing};
    ///
    /// let read = Declaration {
    ///     name: "Gyro::read",
    ///     timing: Timing { period: Time::from_millis(50), ..Timing::default() },
    ///     state: EnableState::Enabled,
    ///     depends_on: &[],
    /// };
    /// let mut repository = Repository::new();
    /// repository.declare(&[read])?;
    /// assert_eq!(repository.lookup("Gyro::read")?.number(), 1);
    /// # Ok::<(), orbium_sched::SchedError>(())
    /// ```
    ///
    /// # Errors
    /// `DuplicateName`, `PeriodTooLong`, `UnknownTask`, `NoCalls`. Declarations before the wrong
    /// one remain registered.
    pub fn declare(&mut self, declarations: &[Declaration]) -> Result<(), SchedError> {
        let mut register = |it: &Declaration| {
            let handle = self.register(it.name, it.timing)?;
            self.set_enable_state(handle, it.state)?;
            Ok(handle)
        };
        let handles: Result<Vec<Handle>, SchedError> =
            declarations.iter().map(&mut register).collect();
        for (it, handle) in declarations.iter().zip(handles?) {
            for dependency in it.depends_on {
                let on = self.lookup(dependency.on)?;
                self.add_dependency(handle, on, dependency.calls, dependency.kind)?;
            }
        }
        Ok(())
    }
}

/// The RT_Infos of a repository as Rust source: a constant index for each operation and
/// `static OPERATIONS`, an array of [`Declaration`]s. Equal repositories give equal bytes. The
/// names of the constants are those of [`source`](crate::source). Disabled dependencies are
/// omitted.
#[must_use]
pub fn declarations(repository: &Repository) -> String {
    let mut text = String::new();
    let infos = repository.infos();
    for (index, (info, constant)) in infos.iter().zip(constants(infos)).enumerate() {
        let name = without_control(&info.entry_point);
        put(&mut text, format_args!("/// The index of `{name}`."));
        put(
            &mut text,
            format_args!("pub const {constant}: usize = {index};"),
        );
    }
    text.push_str("\n/// The needs of the operations, and their dependencies.\n#[rustfmt::skip]\n");
    let count = infos.len();
    put(
        &mut text,
        format_args!("pub static OPERATIONS: [orbium_sched::Declaration; {count}] = ["),
    );
    for info in infos {
        declare(&mut text, repository, info);
    }
    text.push_str("];\n");
    text
}

fn declare(text: &mut String, repository: &Repository, info: &RtInfo) {
    text.push_str("    orbium_sched::Declaration {\n");
    put(text, format_args!("        name: {:?},", info.entry_point));
    text.push_str("        timing: orbium_sched::Timing {\n");
    let it = &info.timing;
    for (field, time) in [
        ("worst_case_execution_time", it.worst_case_execution_time),
        ("typical_execution_time", it.typical_execution_time),
        ("cached_execution_time", it.cached_execution_time),
        ("period", it.period),
        ("quantum", it.quantum),
    ] {
        let ticks = time.ticks();
        put(
            text,
            format_args!("            {field}: orbium_sched::Time::from_ticks({ticks}),"),
        );
    }
    for (field, value) in [
        (
            "criticality",
            format!("orbium_sched::Criticality::{:?}", it.criticality),
        ),
        (
            "importance",
            format!("orbium_sched::Importance::{:?}", it.importance),
        ),
        ("threads", it.threads.to_string()),
        ("kind", format!("orbium_sched::InfoKind::{:?}", it.kind)),
    ] {
        put(text, format_args!("            {field}: {value},"));
    }
    text.push_str("        },\n");
    let state = info.state;
    put(
        text,
        format_args!("        state: orbium_sched::EnableState::{state:?},"),
    );
    text.push_str("        depends_on: &[\n");
    for it in repository.followed(info) {
        let (on, calls, kind) = (repository.name(it.on), it.calls, it.kind);
        put(
            text,
            format_args!(
                "            orbium_sched::DeclaredDependency {{ on: {on:?}, calls: {calls}, kind: orbium_sched::DependencyKind::{kind:?} }},"
            ),
        );
    }
    text.push_str("        ],\n    },\n");
}
