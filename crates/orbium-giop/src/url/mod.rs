// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object URLs: `corbaloc:`, `corbaname:`, and the addresses in them.

pub(crate) mod address;
pub(crate) mod corbaloc;
pub(crate) mod corbaname;
pub(crate) mod group_address;
pub(crate) mod host_port;
pub(crate) mod iiop_address;
pub(crate) mod object_url;
pub(crate) mod url_error;
pub(crate) mod url_text;
