// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flags of the checks that a call makes before it begins: zero nearly always.

/// The ORB has ended.
pub const ENDED: u8 = 1;
/// Some thread has policies of its own, or the ORB was given some since it was made.
pub const THREAD_POLICY: u8 = 2;
/// Of a reference with time policies, policies for routers, or a cancellation token.
pub const TIME_POLICY: u8 = 4;
/// Calls have interceptors, or service contexts of their callers.
pub const INTERCEPTED: u8 = 16;
/// Of a reference that binds again under conditions, or has oneways acknowledged or buffered.
pub const MESSAGING: u8 = 32;
/// Calls are measured.
pub const METRICS: u8 = 8;
