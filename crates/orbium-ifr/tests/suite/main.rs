// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of the Interface Repository.

mod canonical;
mod code_bases;
mod costs;
mod dependents;
mod events;
mod exporting;
mod extended;
mod files;
mod forged_keys;
mod hostile_files;
mod kitchen;
mod lying;
mod of_objects;
mod reading;
mod refusals;
mod served;
mod signatures;
mod value_definitions;
mod writing;
