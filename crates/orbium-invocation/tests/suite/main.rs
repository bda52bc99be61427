// SPDX-License-Identifier: MIT OR Apache-2.0
//! What both sides of an invocation share, as one program.

mod router_policies;
