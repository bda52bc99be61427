// SPDX-License-Identifier: MIT OR Apache-2.0
//! Certificates and keys: files, owners, trust, revocation.

mod identity;
pub(crate) mod material;
mod pem;
pub(crate) mod recheck;
pub(crate) mod reload;
mod revocation;
pub(crate) mod subject;
mod trust;
