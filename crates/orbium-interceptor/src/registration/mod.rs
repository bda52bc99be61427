// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registration: ORB initialisers, and the interceptors that they register.

pub(crate) mod identity;
pub(crate) mod initializer;
pub(crate) mod post_init;
pub(crate) mod registry;
