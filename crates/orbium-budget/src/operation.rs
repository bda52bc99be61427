// SPDX-License-Identifier: MIT OR Apache-2.0
//! Budget of the requests for one operation, and their consumption.

use std::time::Duration;

/// Consumption of the requests for an operation that has a budget of processor time for each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationBudget {
    /// `Module::Interface/operation`.
    pub operation: String,
    /// Processor time of one request.
    pub budget: Duration,
    /// Requests that were served.
    pub requests: u64,
    /// Those of them that exceeded the budget.
    pub overruns: u64,
    /// The longest processor time of one.
    pub longest: Duration,
}

impl OperationBudget {
    /// An operation of which no request was served yet.
    #[must_use]
    pub const fn new(operation: String, budget: Duration) -> Self {
        Self {
            operation,
            budget,
            requests: 0,
            overruns: 0,
            longest: Duration::ZERO,
        }
    }
}
