// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of feasibility on one processor, as pure functions over tasks.

mod bounds;
mod demand;
mod effort;
mod nonpreemptive;
mod response;
mod task;

pub use bounds::{
    hyperbolic_bound_holds, hyperperiod, utilization, utilization_bound, utilization_bound_holds,
    utilization_is_at_most_one,
};
pub(crate) use demand::queue_is_feasible_within;
pub use demand::{edf_is_feasible, queue_is_feasible};
pub use effort::Effort;
pub(crate) use nonpreemptive::nonpreemptive_queue_is_feasible_within;
pub use nonpreemptive::{
    NonPreemptive, nonpreemptive_edf_is_feasible, nonpreemptive_queue_is_feasible,
};
pub use response::{response_time, response_time_within, response_times};
pub use task::{Task, merged};
