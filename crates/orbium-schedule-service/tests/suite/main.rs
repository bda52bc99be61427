// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Scheduling Service as its clients have it: over TCP, from another ORB.

mod exceptions;
mod files;
mod omni;
mod operations;
mod rtec;
mod served;
