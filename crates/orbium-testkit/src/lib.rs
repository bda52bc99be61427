// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scripted peers, counting allocators and captured bytes for orbium's own tests
