// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tasks by index: their futures, their QoS, and yielding.

pub(crate) mod qos;
pub(crate) mod slab;
pub(crate) mod task;
pub(crate) mod task_registry;
pub(crate) mod yielding;
