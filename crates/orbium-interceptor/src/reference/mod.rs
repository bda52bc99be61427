// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors of references, and the templates from which references are made.

pub(crate) mod adapter;
pub(crate) mod ior;
pub(crate) mod template;
