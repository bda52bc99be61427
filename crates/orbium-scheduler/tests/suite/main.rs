// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs by their schedule.

mod admission;
mod budgets;
mod calibration;
mod dispatching;
mod intercepted_process;
mod lane_budgets;
mod lanes;
mod modes;
mod periodic;
mod recording;
mod reservations;
mod routed;
mod time;
