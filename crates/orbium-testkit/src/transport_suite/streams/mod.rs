// SPDX-License-Identifier: MIT OR Apache-2.0
//! Behaviours of a transport alone: its acceptors, connectors and streams.

mod connecting;
mod ending;
mod exhaustion;
mod octet_order;
mod readiness;
mod waiting;

pub use connecting::{
    a_published_address_leads_to_its_acceptor, a_silent_client_does_not_delay_others,
    accepting_never_blocks, an_acceptor_ends_despite_copies_of_its_descriptor,
    an_address_can_be_listened_at_again, an_address_in_use_cannot_be_listened_at,
    an_address_without_a_listener_is_refused, connecting_ends_at_its_deadline,
    hostile_addresses_are_errors, many_connect_at_once, unknown_parameters_are_refused,
};
pub use ending::{
    a_client_killed_in_mid_message_ends_for_the_server,
    a_server_killed_in_mid_message_ends_for_the_client,
    a_stream_dropped_in_mid_message_ends_for_its_peer, octets_sent_before_the_end_arrive,
    sending_to_a_peer_that_is_gone_is_an_error, the_client_may_end_its_sending_first,
    the_server_may_end_its_sending_first,
};
pub(super) use ending::{connect_and_send_half, listen_and_send_half};
pub(super) use exhaustion::run_out_of_descriptors;
pub use exhaustion::{descriptors_may_run_out, thousands_of_connections_leave_nothing};
pub use octet_order::{
    a_message_in_single_octets_arrives, a_message_split_at_every_octet_arrives,
    a_reader_that_takes_little_by_little_gets_everything,
    a_send_that_has_not_begun_may_be_left_out, a_send_that_would_block_is_repeated,
    a_send_that_would_block_is_repeated_in_pieces, a_stopped_reader_bounds_what_is_taken,
    large_sends_cross, pieces_arrive_in_order, sends_at_once_never_block_and_arrive_in_order,
};
pub use readiness::{
    a_full_stream_is_ready_only_when_there_is_room, a_poller_sees_every_octet,
    a_waiting_connection_shows, an_idle_stream_is_not_ready, octets_left_in_the_stream_show,
    the_end_shows,
};
pub use waiting::{
    a_receive_times_out, a_send_times_out, reading_may_be_shut_down_alone,
    shutdown_wakes_a_blocked_receiver, shutdown_wakes_a_blocked_sender,
};
