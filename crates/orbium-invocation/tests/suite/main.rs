// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common ground of both sides of an invocation, tested as one program.

mod router_policies;
