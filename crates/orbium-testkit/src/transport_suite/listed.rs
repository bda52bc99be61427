// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of behaviours, and the macros that generate tests from it.

/// Generates a test of every behaviour for every [`Subject`], in a module of the given name: see
/// [`transport_suite`](mod@crate::transport_suite).
///
/// [`Subject`]: crate::transport_suite::Subject
#[macro_export]
macro_rules! transport_suite {
    (@orbs $($subjects:tt)+) => {
        $crate::transport_suite! { @modules [octets orbs] $($subjects)+ }
    };
    // Subjects that differ from another one only in the client strategy.
    (@clients $($subjects:tt)+) => {
        $crate::transport_suite! { @modules [orbs] $($subjects)+ }
    };
    (@modules $levels:tt $($name:ident => $subject:expr),+ $(,)?) => {
        $(mod $name {
            #[allow(unused_imports, reason = "what the subject is made of")]
            use super::*;
            $crate::transport_suite! { @subject $subject }
            $crate::transport_suite! { @levels $levels }
        })+
    };
    (@levels [$($level:ident)+]) => {
        $($crate::transport_suite! { @level $level })+
    };
    (@subject $subject:expr) => {
        fn this_subject() -> $crate::transport_suite::Subject {
            $crate::transport_suite::Subject::named($subject, module_path!())
        }

        /// Without effect, unless another test runs this in a process.
        #[test]
        fn as_a_child() {
            $crate::transport_suite::act_as_child(&this_subject());
        }
    };
    (@level streams) => {
        $crate::transport_suite! { @tests here streams
            a_published_address_leads_to_its_acceptor
            an_address_without_a_listener_is_refused
            an_address_in_use_cannot_be_listened_at
            an_address_can_be_listened_at_again
            an_acceptor_ends_despite_copies_of_its_descriptor
            hostile_addresses_are_errors
            unknown_parameters_are_refused
            accepting_never_blocks
            a_silent_client_does_not_delay_others
            many_connect_at_once
            connecting_ends_at_its_deadline
            the_client_may_end_its_sending_first
            the_server_may_end_its_sending_first
            octets_sent_before_the_end_arrive
            a_stream_dropped_in_mid_message_ends_for_its_peer
            sending_to_a_peer_that_is_gone_is_an_error
            a_client_killed_in_mid_message_ends_for_the_server
            a_server_killed_in_mid_message_ends_for_the_client
            a_message_in_single_octets_arrives
            a_message_split_at_every_octet_arrives
            pieces_arrive_in_order
            a_send_that_would_block_is_repeated
            a_send_that_would_block_is_repeated_in_pieces
            a_send_that_has_not_begun_may_be_left_out
            sends_at_once_never_block_and_arrive_in_order
            a_reader_that_takes_little_by_little_gets_everything
            large_sends_cross
            a_receive_times_out
            a_send_times_out
            shutdown_wakes_a_blocked_receiver
            shutdown_wakes_a_blocked_sender
            reading_may_be_shut_down_alone
            a_poller_sees_every_octet
            octets_left_in_the_stream_show
            an_idle_stream_is_not_ready
            a_full_stream_is_ready_only_when_there_is_room
            the_end_shows
            a_waiting_connection_shows
        }
        $crate::transport_suite! { @tests in_own_process streams
            a_stopped_reader_bounds_what_is_taken
            thousands_of_connections_leave_nothing
            descriptors_may_run_out
        }
    };
    // Treatment of invalid octets by a server.
    (@level octets) => {
        $crate::transport_suite! { @tests here orbs
            malformed_messages_are_answered_with_message_error
            messages_cut_off_anywhere_cost_the_connection_only
            messages_with_any_octet_wrong_do_no_harm
            random_octets_do_no_harm
            a_message_left_unfinished_is_cut_off
            a_first_message_that_has_begun_is_not_silence
            a_message_that_trickles_is_cut_off
            a_message_in_single_octets_is_served
        }
    };
    (@level orbs) => {
        $crate::transport_suite! { @tests here orbs
            every_operation_is_answered
            every_operation_is_answered_in_fragments
            every_operation_is_answered_in_giop_1_0
            many_clients_are_served_at_once
            large_messages_cross
            nested_calls_complete
            oneways_arrive_in_order
            buffered_oneways_arrive_in_order
            a_message_beyond_the_limit_is_refused
            a_client_that_reads_nothing_does_not_delay_others
            a_call_that_takes_too_long_is_given_up
            connections_beyond_the_limit_are_closed
            a_call_in_flight_is_answered_before_the_end
            a_server_that_is_gone_is_transient_and_one_that_came_back_is_found
            a_client_that_dies_does_not_affect_others
            a_server_that_is_killed_ends_its_calls
            a_server_that_is_killed_while_idle_has_not_begun
            a_connection_is_kept_over_a_pause
            a_connection_is_kept_between_oneways
            asynchronous_calls_are_answered
            asynchronous_calls_are_answered_in_fragments_and_in_giop_1_0
            many_asynchronous_calls_are_answered
            large_asynchronous_messages_cross
            a_server_that_does_not_read_keeps_no_caller
            the_end_of_a_client_ends_its_asynchronous_calls
            a_server_that_is_killed_ends_its_asynchronous_calls
        }
        $crate::transport_suite! { @tests in_own_process orbs
            calls_in_steady_state_take_nothing_from_the_heap
            large_messages_leave_nothing
            orbs_leave_nothing
            asynchronous_calls_leave_nothing
        }
    };
    (@here $behaviour:block) => { $behaviour };
    // Behaviours that count threads, descriptors and allocations.
    (@in_own_process $behaviour:block) => { $crate::in_own_process!(|| $behaviour) };
    (@tests $run:ident $level:ident $($behaviour:ident)+) => {
        $(#[test]
        fn $behaviour() {
            $crate::transport_suite! { @$run {
                $crate::transport_suite::$level::$behaviour(&this_subject())
            } }
        })+
    };
    ($($name:ident => $subject:expr),+ $(,)?) => {
        $crate::transport_suite! {
            @modules [streams octets orbs] $($name => $subject),+
        }
    };
}
