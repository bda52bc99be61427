// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operating system as an ORB needs it: sockets, readiness, clocks
