// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs by their schedule.

mod budgets;
mod calibration;
mod dispatching;
mod lanes;
mod modes;
mod periodic;
mod recording;
mod reservations;
mod time;
