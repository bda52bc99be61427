// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shared memory as a transport, as one program: each test file is a module, so that all of them are
//! linked once.
#![cfg(target_os = "linux")]

mod death;
mod hostile;
mod pair;
mod ping_pong;
mod readiness;
mod ring;
mod stream;
