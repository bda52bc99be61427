// SPDX-License-Identifier: MIT OR Apache-2.0
//! Budget of the requests for one operation, and their consumption.

use std::time::Duration;

/// Consumption of the requests for one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetCounts {
    /// Requests that were served.
    pub requests: u64,
    /// The number of requests that exceeded the budget.
    pub overruns: u64,
    /// The longest processor time of a request.
    pub longest: Duration,
}

/// An operation that has a budget of processor time for each of its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationBudget {
    /// `Module::Interface/operation`.
    pub operation: String,
    /// Processor time of one request.
    pub budget: Duration,
    /// The consumption of requests.
    pub counts: BudgetCounts,
}

impl OperationBudget {
    /// The operation with that name, with its budget and consumption.
    #[must_use]
    pub const fn new(operation: String, budget: Duration, counts: BudgetCounts) -> Self {
        Self {
            operation,
            budget,
            counts,
        }
    }
}
