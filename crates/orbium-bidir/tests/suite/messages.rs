// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages of both sides over one connection, in parts and in fragments. The clients are
//! scripted.

use std::thread::JoinHandle;

use orbium::{
    Config, ExceptionKind, SystemException,
    config::{Limits, ServerStrategy},
};
use orbium_bidir::ListenPoint;
use orbium_cdr::ByteOrder;
use orbium_giop::{HEADER_LEN, MessageHeader, MessageKind, ReplyStatus};
use orbium_testkit::{
    Peer, RequestLine, Served, dead_port, each_strategy, reply, request, short_message_time, within,
};

use crate::common::with;
use crate::listen_points::{announcing, object_at, point};

/// A message in two fragments, the first of which has at least so many bytes.
fn in_fragments(message: &[u8], first: usize) -> [Vec<u8>; 2] {
    let header = MessageHeader::parse(message.first_chunk().unwrap()).unwrap();
    let cut = first.next_multiple_of(8);
    let sized = |kind, octets: usize, more_fragments| MessageHeader {
        kind,
        more_fragments,
        size: u32::try_from(octets).unwrap(),
        ..header
    };
    let (begun, rest) = message.split_at(cut);
    let id = &message[HEADER_LEN..HEADER_LEN + 4];
    let first = sized(header.kind, cut - HEADER_LEN, true).encode();
    let last = sized(MessageKind::Fragment, rest.len() + 4, false).encode();
    [
        [&first[..], &begun[HEADER_LEN..]].concat(),
        [&last[..], id, rest].concat(),
    ]
}

fn echo_long(id: u32, value: u32) -> Vec<u8> {
    request(RequestLine::new(id, "echo_long"), |writer| {
        writer.write_u32(value);
    })
}

fn echo_octets(id: u32, octets: &[u8]) -> Vec<u8> {
    request(RequestLine::new(id, "echo_octets"), |writer| {
        writer.write_count(octets.len());
        writer.write_raw(octets);
    })
}

/// The number in a reply.
fn number(body: &[u8]) -> u32 {
    u32::from_ne_bytes(body[body.len() - 4..].try_into().unwrap())
}

/// A server and a client that announces a listen point, which is sent with what is before and behind
/// the announcing request. The server calls the client back at once.
fn called_back(
    config: Config,
    before: &[u8],
    behind: &[u8],
) -> (Served, Peer, JoinHandle<Result<i32, SystemException>>) {
    let server = Served::with(config);
    let port = dead_port();
    let mut peer = Peer::connect(server.port());
    let points = ListenPoint::encode(&[point("127.0.0.1", port)]).unwrap();
    peer.send(&[before, &announcing(2, &points), behind].concat());
    assert_eq!(peer.receive().reply().0, 2);
    let target = object_at(&server.orb, port);
    let call = std::thread::spawn(move || target.echo_long(7));
    (server, peer, call)
}

fn result(call: JoinHandle<Result<i32, SystemException>>) -> Result<i32, SystemException> {
    within("the call-back", move || call.join().unwrap())
}

/// The connection went both ways from the first byte behind what had been received: within a
/// message, so that replies went to the server engine, which took them for requests.
///
/// Conformance: connections - bidirectional GIOP: announced while another request is under way, in
/// part or in fragments
#[test]
fn a_request_of_which_part_came_with_the_announcement_is_served() {
    each_strategy(|strategy| {
        let whole = echo_long(4, 77);
        for cut in [1, HEADER_LEN, HEADER_LEN + 2, 30] {
            let (begun, rest) = whole.split_at(cut);
            let (server, mut peer, call) = called_back(with(strategy), &[], begun);
            let asked = peer.expect_request("echo_long");
            peer.send(rest);
            peer.answer(&asked, |writer| writer.write_u32(8));
            let (id, _, body) = peer.receive().reply();
            assert_eq!((id, number(&body)), (4, 77));
            assert_eq!(result(call), Ok(8), "{strategy:?}, {cut}");
            drop(peer);
            server.end();
        }
        let [first, last] = in_fragments(&whole, 40);
        let (server, mut peer, call) = called_back(with(strategy), &first, &[]);
        let asked = peer.expect_request("echo_long");
        peer.answer(&asked, |writer| writer.write_u32(8));
        assert_eq!(result(call), Ok(8), "{strategy:?}");
        peer.send(&last);
        let (id, _, body) = peer.receive().reply();
        assert_eq!((id, number(&body)), (4, 77));
        drop(peer);
        server.end();
    });
}

/// Conformance: connections - bidirectional GIOP: fragments of requests and replies interleaved
#[test]
fn fragments_of_both_sides_are_interleaved() {
    each_strategy(|strategy| {
        let (server, mut peer, call) = called_back(with(strategy), &[], &[]);
        let asked = peer.expect_request("echo_long");
        let no = ReplyStatus::NoException;
        let answer = reply(2, ByteOrder::NATIVE, asked.id, no, |it| it.write_u32(8));
        let octets: Vec<u8> = (0..100_000_u32).map(|it| it as u8).collect();
        let [first, last] = in_fragments(&echo_octets(4, &octets), 50_000);
        let [answer_first, answer_last] = in_fragments(&answer, 24);
        peer.send(&[first, answer_first, echo_long(6, 5), last, answer_last].concat());
        assert_eq!(result(call), Ok(8), "{strategy:?}");
        let mut replies: Vec<_> = (0..2).map(|_| peer.receive().reply()).collect();
        replies.sort_by_key(|reply| reply.0);
        let [(4, _, echo), (6, _, five)] = &replies[..] else {
            panic!("{replies:?}");
        };
        assert!(echo.ends_with(&octets));
        assert_eq!(number(five), 5);
        drop(peer);
        server.end();
    });
}

/// Requests that come together with a reply, which is late for its caller.
///
/// Conformance: connections - bidirectional GIOP: pipelined requests around a reply
#[test]
fn pipelined_requests_are_served_around_a_reply() {
    each_strategy(|strategy| {
        let (server, mut peer, call) = called_back(with(strategy), &[], &[]);
        let asked = peer.expect_request("echo_long");
        let no = ReplyStatus::NoException;
        let of = |id| reply(2, ByteOrder::NATIVE, id, no, |it| it.write_u32(8));
        let requests = |ids: std::ops::Range<u32>| -> Vec<u8> {
            ids.flat_map(|it| echo_long(4 + 2 * it, it)).collect()
        };
        let unknown = of(asked.id + 2);
        peer.send(&[requests(0..500), of(asked.id), unknown, requests(500..1000)].concat());
        assert_eq!(result(call), Ok(8), "{strategy:?}");
        let mut numbers: Vec<_> = (0..1000)
            .map(|_| number(&peer.receive().reply().2))
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..1000).collect::<Vec<_>>(), "{strategy:?}");
        drop(peer);
        server.end();
    });
}

/// Conformance: connections - bidirectional GIOP: a request that is never completed, a reply that
/// takes its time
#[test]
fn an_unfinished_request_ends_the_connection_and_an_unfinished_reply_does_not() {
    each_strategy(|strategy| {
        let config = |strategy: ServerStrategy| Config {
            limits: short_message_time(),
            ..with(strategy)
        };
        let (server, mut peer, call) = called_back(config(strategy), &[], &[]);
        let asked = peer.expect_request("echo_long");
        let no = ReplyStatus::NoException;
        let answer = reply(2, ByteOrder::NATIVE, asked.id, no, |it| it.write_u32(8));
        peer.send(&answer[..20]);
        assert!(peer.is_silent(3 * short_message_time().message_time));
        peer.send(&answer[20..]);
        assert_eq!(result(call), Ok(8), "{strategy:?}");
        let [first, _] = in_fragments(&echo_long(4, 1), 40);
        for begun in [&echo_long(4, 1)[..20], &first] {
            let (server, mut peer, call) = called_back(config(strategy), &[], &[]);
            peer.expect_request("echo_long");
            peer.send(begun);
            let ended = result(call).unwrap_err();
            assert_eq!(ended.kind, ExceptionKind::CommFailure, "{strategy:?}");
            while peer.try_receive().is_some() {}
            server.end();
        }
        drop(peer);
        server.end();
    });
}

/// Conformance: connections - bidirectional GIOP: messages larger than the limit
#[test]
fn too_large_requests_are_refused_and_too_large_replies_end_the_call() {
    each_strategy(|strategy| {
        let config = Config {
            limits: Limits {
                message_size: 10_000,
                ..Limits::default()
            },
            ..with(strategy)
        };
        let (server, mut peer, call) = called_back(config, &[], &[]);
        let asked = peer.expect_request("echo_long");
        peer.send(&[echo_octets(4, &[1; 20_000]), echo_long(6, 5)].concat());
        let mut replies = [peer.receive().reply(), peer.receive().reply()];
        replies.sort_by_key(|reply| reply.0);
        assert_eq!(
            (replies[0].0, replies[0].1),
            (4, ReplyStatus::SystemException)
        );
        assert_eq!(number(&replies[1].2), 5);
        let no = ReplyStatus::NoException;
        let large = |it: &mut orbium_cdr::CdrWriter<'_>| it.write_raw(&[0; 20_000]);
        peer.send(&reply(2, ByteOrder::NATIVE, asked.id, no, large));
        let refused = result(call).unwrap_err();
        assert_eq!(
            refused.kind,
            ExceptionKind::Marshal,
            "{strategy:?}: {refused}"
        );
        drop(peer);
        server.end();
    });
}
