// SPDX-License-Identifier: MIT OR Apache-2.0
//! A word that holds 0 or the id of its owner: by the kernel, with priority
//! inheritance, where it has that.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{lock, owner, thread_id, unlock};
#[cfg(target_os = "linux")]
pub(crate) use linux::{lock, owner, thread_id, unlock};
