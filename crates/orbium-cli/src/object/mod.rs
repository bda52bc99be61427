// SPDX-License-Identifier: MIT OR Apache-2.0
//! Commands for one object: its IDL, calls, pings, names.

pub(crate) mod call;
pub(crate) mod completion;
pub(crate) mod describe;
pub(crate) mod given;
pub(crate) mod name;
pub mod ping;
pub mod reference;
