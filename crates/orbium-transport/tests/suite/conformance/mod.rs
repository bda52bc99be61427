// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conformance of stream transports, as tests that a transport's own test file instantiates
//! with [`conformance!`].

pub(crate) mod ends;
pub(crate) mod flow;
pub(crate) mod octets;
pub(crate) mod pair;

/// The tests for the transport `$transport`, listening at what `$endpoint` gives.
#[macro_export]
macro_rules! conformance {
    ($transport:expr, $endpoint:expr) => {
        conformance!(@ $transport, $endpoint, octets:
            echo, many_pieces, both_directions_at_once, waiting_is_bounded);
        conformance!(@ $transport, $endpoint, flow:
            partial_sends_lose_nothing, stopped_reader_stops_the_sender,
            stopped_reader_bounds_a_blocking_send, source_shows_what_can_be_received);
        conformance!(@ $transport, $endpoint, ends:
            half_closed, shutdown_wakes_the_receiver, shutdown_wakes_the_sender,
            death_of_the_peer, no_listener, connections_that_are_not_accepted);
    };
    (@ $transport:expr, $endpoint:expr, $part:ident: $($test:ident),*) => {
        $(#[test]
        fn $test() {
            conformance::$part::$test(&$transport, &$endpoint);
        })*
    };
}
