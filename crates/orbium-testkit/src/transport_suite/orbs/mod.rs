// SPDX-License-Identifier: MIT OR Apache-2.0
//! Behaviours of calls over a transport, with each server strategy.

mod asynchronous;
mod calls;
mod hostile;
mod lifetime;
mod live;
mod steady;
mod wire;

pub use asynchronous::{
    a_server_that_does_not_read_keeps_no_caller,
    a_server_that_is_killed_ends_its_asynchronous_calls, asynchronous_calls_are_answered,
    asynchronous_calls_are_answered_in_fragments_and_in_giop_1_0, asynchronous_calls_leave_nothing,
    large_asynchronous_messages_cross, many_asynchronous_calls_are_answered,
    the_end_of_a_client_ends_its_asynchronous_calls,
};
pub use calls::{
    a_call_that_takes_too_long_is_given_up, buffered_oneways_arrive_in_order,
    every_operation_is_answered, every_operation_is_answered_in_fragments,
    every_operation_is_answered_in_giop_1_0, large_messages_cross, many_clients_are_served_at_once,
    nested_calls_complete, oneways_arrive_in_order,
};
pub use hostile::{
    a_client_that_reads_nothing_does_not_delay_others,
    a_first_message_that_has_begun_is_not_silence, a_message_beyond_the_limit_is_refused,
    a_message_in_single_octets_is_served, a_message_left_unfinished_is_cut_off,
    a_message_that_trickles_is_cut_off, connections_beyond_the_limit_are_closed,
    malformed_messages_are_answered_with_message_error,
    messages_cut_off_anywhere_cost_the_connection_only, messages_with_any_octet_wrong_do_no_harm,
    random_octets_do_no_harm,
};
pub use lifetime::{
    a_call_in_flight_is_answered_before_the_end, a_client_that_dies_does_not_affect_others,
    a_connection_is_kept_between_oneways, a_connection_is_kept_over_a_pause,
    a_server_that_is_gone_is_transient_and_one_that_came_back_is_found,
    a_server_that_is_killed_ends_its_calls, a_server_that_is_killed_while_idle_has_not_begun,
};
pub(super) use lifetime::{call_for_ever, serve_until_killed};
pub use steady::{
    calls_in_steady_state_take_nothing_from_the_heap, large_messages_leave_nothing,
    orbs_leave_nothing,
};
