// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every operation with an answer once more, without waiting for it, in each of
//! the forms: awaited, polled, and left to a handler.

mod cube;
mod forms;
mod peer;

pub(super) use cube::ALL as CUBE;
pub(super) use peer::ALL as PEER;
