// SPDX-License-Identifier: MIT OR Apache-2.0
//! Anomalies of a set of RT_Infos.

use std::fmt;

use crate::info::Handle;
use crate::time::Time;

/// Severity of an anomaly (TAO's `Anomaly_Severity`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The schedule is sound; the input is doubtful.
    Warning,
    /// The schedule is not sound, or omits an operation.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// Kind of an anomaly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnomalyKind {
    /// The operation has no caller, and neither a period nor a thread nor a supplier.
    PassiveRoot,
    /// An operation with its own threads has no rate: no period, and none that dependencies imply.
    NoRate,
    /// The operation is the entry point of a thread, as it has threads or runs for the data of
    /// suppliers, and is called by another one.
    TwoEntryPoints {
        /// A caller.
        caller: Handle,
    },
    /// The operation calls one of another host and blocks for its reply: the analysis does not
    /// cover the wait.
    WaitsForRemote {
        /// The operation of the other host.
        operation: Handle,
    },
    /// A thread without execution time.
    NoExecutionTime,
    /// The typical execution time is longer than the worst case.
    TypicalExceedsWorstCase,
    /// The cached execution time is longer than the worst case.
    CachedExceedsWorstCase,
    /// A background operation has a period: its deadlines are not analysed.
    PeriodInBackground,
    /// An operation of the critical set consumes data of an operation outside it.
    CriticalDependsOnLess {
        /// The supplier.
        supplier: Handle,
    },
    /// The periods of the suppliers of a conjunction are not multiples of each other: it may run
    /// later after its slowest supplier than the analysis assumes.
    NotHarmonic,
    /// The utilization of the processor exceeds 1.
    Overload {
        /// The sum of execution time over period.
        utilization: f64,
    },
    /// The operation can miss its deadline.
    MissesDeadline {
        /// The end of the period.
        deadline: Time,
        /// The longest response, if it was computed.
        response: Option<Time>,
    },
}

impl AnomalyKind {
    /// A short stable name for diagnostics.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            AnomalyKind::PassiveRoot => "passive-root",
            AnomalyKind::NoRate => "no-rate",
            AnomalyKind::TwoEntryPoints { .. } => "two-entry-points",
            AnomalyKind::WaitsForRemote { .. } => "waits-for-remote",
            AnomalyKind::NoExecutionTime => "no-execution-time",
            AnomalyKind::TypicalExceedsWorstCase => "typical-exceeds-worst-case",
            AnomalyKind::CachedExceedsWorstCase => "cached-exceeds-worst-case",
            AnomalyKind::PeriodInBackground => "period-in-background",
            AnomalyKind::CriticalDependsOnLess { .. } => "critical-depends-on-less",
            AnomalyKind::NotHarmonic => "not-harmonic",
            AnomalyKind::Overload { .. } => "overload",
            AnomalyKind::MissesDeadline { .. } => "misses-deadline",
        }
    }
}

/// An anomaly: an error or a doubtful input.
#[derive(Clone, Debug, PartialEq)]
pub struct Anomaly {
    /// The severity.
    pub severity: Severity,
    /// The kind.
    pub kind: AnomalyKind,
    /// The operation that it concerns; none if it concerns all of them.
    pub handle: Option<Handle>,
    /// The sentence, without a full stop.
    pub description: String,
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity, self.description)
    }
}
