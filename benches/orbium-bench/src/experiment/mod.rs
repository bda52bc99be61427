// SPDX-License-Identifier: MIT OR Apache-2.0
//! The experiments of two papers, each a command of the harness.

pub(crate) mod flooded;
pub(crate) mod inversion;
pub(crate) mod locks;
pub(crate) mod os;
pub(crate) mod protocols;
pub(crate) mod schedule;
pub(crate) mod threads;
pub(crate) mod whitebox;
