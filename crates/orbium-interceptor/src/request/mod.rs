// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common parts of both sides of a request: status, slots, service contexts, interruption.

pub(crate) mod context_list;
pub(crate) mod dynamic;
pub(crate) mod interrupt;
pub(crate) mod reply_contexts;
pub(crate) mod reply_message;
pub(crate) mod slots;
pub(crate) mod status;
