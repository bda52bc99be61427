// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors of references, and the templates that references are made from.

pub(crate) mod adapter;
pub(crate) mod ior;
pub(crate) mod template;
