// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measurements of an ORB: series, exceptions, retries and refusals.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use orbium_giop::{ExceptionKind, SystemException};
use orbium_invocation::{Operation, spans::Method};
use orbium_sys::fork::PerProcess;

use crate::counted::{NamedCount, named};
use crate::series::{End, Key, Label, Series, Side, Table};

/// Reason for which a request was refused before the upcall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A connection beyond the limit.
    Limit,
    /// The object's adapter holds or discards requests, or the object is not active.
    NotActive,
    /// No object has that key.
    UnknownObject,
    /// A message beyond the limit.
    MessageSize,
}

impl Refusal {
    const NAMES: [&'static str; 4] = ["limit", "not_active", "unknown_object", "message_size"];
}

/// Reason for a retry of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The server forwarded it.
    Forward,
    /// The server demanded more of the reference (NEEDS_ADDRESSING_MODE).
    Readdress,
    /// The idle connection in use had ended.
    StaleConnection,
    /// A forwarded reference could not be used: fallback to the original one.
    FallBack,
    /// The connection of an idempotent operation was lost.
    LostConnection,
    /// The code sets of the whole reference were needed.
    CodeSets,
}

impl Retry {
    const NAMES: [&'static str; 6] = [
        "forward",
        "readdress",
        "stale_connection",
        "fall_back",
        "lost_connection",
        "code_sets",
    ];
}

/// The number of system exceptions of each kind.
#[derive(Debug)]
struct Exceptions([AtomicU64; ExceptionKind::ALL.len()]);

impl Default for Exceptions {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; ExceptionKind::ALL.len()])
    }
}

impl Exceptions {
    fn count(&self, exception: SystemException) {
        self.0[exception.kind as usize].fetch_add(1, Relaxed);
    }

    fn snapshot(&self) -> Vec<NamedCount> {
        let all = ExceptionKind::ALL.iter().zip(&self.0);
        let counted = all.map(|(kind, counter)| NamedCount {
            name: kind.name(),
            count: counter.load(Relaxed),
        });
        counted.filter(|it| it.count > 0).collect()
    }
}

/// Measurements of an ORB.
#[derive(Debug, Default)]
pub struct Measurements {
    /// A forked child starts with an empty table: the parent's may be locked by a thread
    /// that does not exist in the child.
    table: PerProcess<Table>,
    raised: Exceptions,
    received: Exceptions,
    refused: [AtomicU64; Refusal::NAMES.len()],
    retries: [AtomicU64; Retry::NAMES.len()],
    panics: AtomicU64,
}

impl Measurements {
    #[inline]
    pub(crate) fn table(&self) -> &Table {
        self.table.get_or_init(Table::default)
    }

    /// The series of calls of an operation.
    #[inline]
    pub fn called(&self, operation: &'static Operation) -> &Series {
        let key = Key {
            side: Side::Client,
            lane: 0,
            at: std::ptr::from_ref(operation) as usize,
            index: 0,
        };
        self.table().get(key, || Label {
            operation: scoped(operation.interface(), operation.name()),
            lane: String::new(),
        })
    }

    /// The series of requests served by a lane, for the operation at `index` in the table of
    /// operations at the address `at`; `label` names the series if it is new.
    #[inline]
    pub fn served(
        &self,
        lane: u32,
        (at, index): (usize, usize),
        label: impl FnOnce() -> Label,
    ) -> &Series {
        let key = Key {
            side: Side::Server,
            lane,
            at,
            index,
        };
        self.table().get(key, label)
    }

    /// The series of requests for operations of no linked skeleton.
    pub fn served_unknown(&self) -> &Series {
        self.table().other(Side::Server)
    }

    /// Records the queueing time of a request that the lane with that number is about to serve;
    /// `name` names the series if it is new.
    pub fn count_waited(&self, lane: u32, name: impl FnOnce() -> String, waited: Duration) {
        let key = Key {
            side: Side::Queue,
            lane,
            at: 0,
            index: 0,
        };
        let label = || Label {
            operation: String::new(),
            lane: name(),
        };
        self.table().get(key, label).record(waited);
    }

    /// Counts a request that was refused.
    pub fn count_refused(&self, cause: Refusal) {
        self.refused[cause as usize].fetch_add(1, Relaxed);
    }

    /// Counts a retry of a request.
    pub fn count_retry(&self, cause: Retry) {
        self.retries[cause as usize].fetch_add(1, Relaxed);
    }

    /// Counts the exception of a call.
    pub fn count_received(&self, exception: SystemException) {
        self.received.count(exception);
    }

    /// Counts the exception in a reply.
    pub fn count_raised(&self, exception: SystemException) {
        self.raised.count(exception);
    }

    /// Counts a panic of a servant.
    pub fn count_panic(&self) {
        self.panics.fetch_add(1, Relaxed);
    }

    /// Counts an asynchronous call that has ended.
    pub fn count_call(
        &self,
        operation: &'static Operation,
        took: Duration,
        failed: Option<SystemException>,
        end: End,
    ) {
        let series = self.called(operation);
        series.begin();
        series.end(took, end);
        if let Some(exception) = failed {
            self.count_received(exception);
        }
    }

    /// All series, those of operations of no linked skeleton last.
    pub fn series(&self) -> impl Iterator<Item = &Series> {
        self.table().all()
    }

    /// System exceptions in replies, without those that never occurred.
    #[must_use]
    pub fn raised(&self) -> Vec<NamedCount> {
        self.raised.snapshot()
    }

    /// System exceptions of calls, without those that never occurred.
    #[must_use]
    pub fn received(&self) -> Vec<NamedCount> {
        self.received.snapshot()
    }

    /// Refused requests, by cause.
    #[must_use]
    pub fn refused(&self) -> Vec<NamedCount> {
        named(&Refusal::NAMES, &self.refused)
    }

    /// Retries of requests, by cause: the index of a cause is its [`Retry`].
    #[must_use]
    pub fn retries(&self) -> Vec<NamedCount> {
        named(&Retry::NAMES, &self.retries)
    }

    /// The number of panics of servants.
    #[must_use]
    pub fn panics(&self) -> u64 {
        self.panics.load(Relaxed)
    }
}

/// `Module::Interface/operation` for a repository id such as `IDL:omg.org/Module/Interface:1.0`;
/// only the operation without one.
#[must_use]
pub fn scoped(repository_id: &str, operation: &str) -> String {
    let method = Method {
        interface: repository_id,
        operation,
    };
    method.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_named_by_module_and_interface_without_prefix_and_version() {
        assert_eq!(scoped("IDL:Nav/GPS:1.0", "position"), "Nav::GPS/position");
        assert_eq!(
            scoped("IDL:omg.org/CosNaming/NamingContext:1.0", "bind"),
            "CosNaming::NamingContext/bind"
        );
        assert_eq!(scoped("", "_is_a"), "_is_a");
        assert_eq!(scoped("DCE:700dc518:1", "x"), "DCE:700dc518/x");
    }
}
