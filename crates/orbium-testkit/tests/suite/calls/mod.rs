// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls: how they are made, answered, retried, timed out and explained.

mod alternate_addresses;
mod asynchronous;
mod bound_keys;
mod buffered_connections;
mod buffered_oneways;
mod cancel;
mod cancellation;
mod deadlines;
mod default_bodies;
mod error_sentences;
mod failure_stories;
mod field;
mod flow_control;
mod idempotent_retries;
mod implicit_operations;
mod locate;
mod location_forward;
mod messaging_policies;
mod names;
mod nested_calls;
mod oneway;
mod policy_overrides;
mod policy_validation;
mod public_names;
mod reply_statuses;
mod retry;
mod round_trip;
mod router_policies;
mod scopes_of_messaging;
mod short_forms;
mod start_times;
mod stubs;
mod time_policies;
mod two_orbs;
mod twoway;
