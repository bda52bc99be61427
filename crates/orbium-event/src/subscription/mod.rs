// SPDX-License-Identifier: MIT OR Apache-2.0
//! Subscriptions of consumers: patterns, filters with their state, timers.

pub(crate) mod filter;
pub(crate) mod leaf;
pub(crate) mod parse;
pub(crate) mod pattern;
pub(crate) mod schedule;
pub(crate) mod timer;
pub(crate) mod timers;
