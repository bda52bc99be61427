// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dynamic invocation, DynAny and JSON, tested as one program.

mod asynchronous;
mod dyn_any;
mod dyn_any_component_values;
mod dyn_any_hostile;
mod dyn_any_kinds;
mod dyn_any_values;
mod events;
mod fragmented_replies;
mod handled;
mod idl_text;
mod json_errors;
mod json_forms;
mod json_hostile;
mod json_round_trip;
mod json_values;
mod main_thread;
mod pollable;
mod requests;
mod samples;
mod shared_arguments;
mod skeleton_forms;
mod skeletons;
mod type_codes;
mod types;
mod waiting;
