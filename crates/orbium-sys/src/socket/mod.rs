// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sockets and their options.

pub(crate) mod any_family;
pub(crate) mod datagram;
mod direct_syscall;
pub(crate) mod interface;
pub(crate) mod option_names;
mod platform_options;
mod read_options;
pub(crate) mod socket_options;
pub(crate) mod sockopt;
pub(crate) mod stream;
pub(crate) mod tcp;
pub(crate) mod unix;
