// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions shared by both sides of an invocation, tested as one program.

mod router_policies;
