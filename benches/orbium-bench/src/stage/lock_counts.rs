// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations on locks, counted by the process itself.

use orbium::lock;
use serde_json::{Value, json};

/// Operations on locks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LockCounts {
    /// Locks acquired and locks released, as counted in the paper.
    pub(crate) operations: u64,
    /// Contended locks.
    pub(crate) contended: u64,
    /// Waits for a condition, and conditions notified.
    pub(crate) conditions: u64,
}

impl LockCounts {
    /// The counts of this process; `None` if it was built without counting.
    pub(crate) fn here() -> Option<Self> {
        let counts = lock::counts();
        lock::ENABLED.then(|| Self {
            operations: counts.operations(),
            contended: counts.contended,
            conditions: counts.waits + counts.signals,
        })
    }

    /// The difference to earlier counts.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            operations: self.operations.saturating_sub(earlier.operations),
            contended: self.contended.saturating_sub(earlier.contended),
            conditions: self.conditions.saturating_sub(earlier.conditions),
        }
    }

    pub(crate) fn to_json(self) -> Value {
        json!({
            "operations": self.operations,
            "contended": self.contended,
            "conditions": self.conditions,
        })
    }

    /// The counts of a process; `None` if it does not count.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            operations: value["operations"].as_u64()?,
            contended: value["contended"].as_u64().unwrap_or(0),
            conditions: value["conditions"].as_u64().unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_back_from_json() {
        let counts = LockCounts {
            operations: 7,
            contended: 2,
            conditions: 1,
        };
        assert_eq!(LockCounts::from_json(&counts.to_json()), Some(counts));
        assert_eq!(LockCounts::from_json(&Value::Null), None);
        assert_eq!(counts.since(counts), LockCounts::default());
    }
}
