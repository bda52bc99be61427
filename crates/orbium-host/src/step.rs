// SPDX-License-Identifier: MIT OR Apache-2.0
//! One step of a plan, or of a journal.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::tree::shown;

/// A change of the host that can be undone, with the check that requests it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The check of `orbium doctor`, or the option of `orbium host plan`.
    pub check: String,
    /// The change.
    #[serde(flatten)]
    pub(crate) change: Change,
}

/// A change of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Change {
    /// The value of a setting of the kernel.
    Write(Write),
    /// A file of limits, which does not exist yet.
    Create(Create),
    /// The scheduling of the kernel threads that receive for an interface.
    Schedule(Schedule),
    /// A filter of an interface that chooses the receive queue.
    Steer(Filter),
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    pub(crate) file: String,
    pub(crate) from: String,
    pub(crate) to: String,
}

/// A new file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Create {
    pub(crate) file: String,
    pub(crate) text: String,
}

/// Threads of threaded NAPI, and their new priority in SCHED_FIFO.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Schedule {
    pub(crate) interface: String,
    pub(crate) fifo: i32,
    /// The previous scheduling of each thread: only in journals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) before: Vec<ThreadBefore>,
}

/// A thread and its previous scheduling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThreadBefore {
    pub(crate) thread: u32,
    pub(crate) name: String,
    /// `other`, `fifo` or `rr`.
    pub(crate) class: String,
    pub(crate) priority: i32,
}

/// A filter that steers the packets of a port to a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    pub(crate) interface: String,
    pub(crate) port: u16,
    pub(crate) queue: u32,
    /// Whether filters have to be switched on first.
    #[serde(default)]
    pub(crate) enable: bool,
    /// The numbers that the interface assigned to the filters: only in journals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rules: Vec<u32>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", shown(&self.check))?;
        match &self.change {
            Change::Write(Write { file, to, .. }) => write!(f, "{file} = {}", shown(to)),
            Change::Create(Create { file, .. }) => write!(f, "{file}"),
            Change::Schedule(Schedule {
                interface, fifo, ..
            }) => write!(
                f,
                "receiving threads of {interface} in SCHED_FIFO at {fifo}"
            ),
            Change::Steer(filter) => write!(
                f,
                "port {} of {} to queue {}",
                filter.port, filter.interface, filter.queue
            ),
        }
    }
}
