// SPDX-License-Identifier: MIT OR Apache-2.0
//! The experiments of two papers, each a command of the harness.

pub(crate) mod inversion;
#[cfg(feature = "counted")]
pub(crate) mod locks;
pub(crate) mod protocols;
pub(crate) mod threads;
#[cfg(feature = "probes")]
pub(crate) mod whitebox;
