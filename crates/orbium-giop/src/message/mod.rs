// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages: headers, bodies, fragments, each kind read and written.

pub(crate) mod body;
pub(crate) mod cancel;
pub(crate) mod close;
pub(crate) mod fragment;
pub(crate) mod header;
pub(crate) mod locate;
pub(crate) mod reassembly;
pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod request_parts;
pub(crate) mod request_positions;
pub(crate) mod template;
