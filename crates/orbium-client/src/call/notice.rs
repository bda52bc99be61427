// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flags of the checks before a call: almost always zero.

/// The ORB has ended.
pub const ENDED: u8 = 1;
/// Some thread has policies, or policies were set on the ORB after its construction.
pub const THREAD_POLICY: u8 = 2;
/// The reference has time policies, policies for routers, or a cancellation token.
pub const TIME_POLICY: u8 = 4;
/// Calls have interceptors, or service contexts of their callers.
pub const INTERCEPTED: u8 = 16;
/// The reference has a conditional RebindPolicy, or acknowledged or buffered oneways.
pub const MESSAGING: u8 = 32;
/// Calls are measured.
pub const METRICS: u8 = 8;
