// SPDX-License-Identifier: MIT OR Apache-2.0
//! The project's own chores: tests with peers, benchmarks, checks.

fn main() {}
