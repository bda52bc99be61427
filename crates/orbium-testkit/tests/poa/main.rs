// SPDX-License-Identifier: MIT OR Apache-2.0
//! Adapters with servant managers, default servants and threading policies. A program of
//! its own: it builds in seconds, and few things besides adapters bear upon it.

mod activators;
mod adapter_activators;
mod conversions;
mod current;
mod default_servants;
mod endings;
mod fixture;
mod forwards;
mod incarnations;
mod ior_table;
mod locators;
mod main_thread_waits;
mod managers;
mod object_ids;
mod policies;
mod threads;
mod wrong_use;
