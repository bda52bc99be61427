// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oneways that wait in the buffer of a connection.

pub(crate) mod buffered;
pub(crate) mod flow_control;
pub(crate) mod flusher;
