// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every twoway operation again, asynchronously, in each of the forms: awaited, polled, and with a
//! handler.

mod cube;
mod forms;
mod peer;

pub(super) use cube::ALL as CUBE;
pub(super) use peer::ALL as PEER;
