// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that take longer than they may.
//!
//! Every test here would wait for ever, or for many times the bound, if the
//! bound did not hold; how exactly it holds is not measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use orbium::giop::{LocateStatus, MessageKind, ReplyStatus, minor};
use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb, SystemException,
    config::{Limits, ServerStrategy},
};
use orbium_cdr::ByteOrder;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Peer, Served, calling_by, client, each_client_strategy, each_strategy, eventually,
    locate_reply, reach, reference, reply, within, write_reference,
};

/// Enough to begin to send, on a machine with much else to do.
const SHORT: Duration = Duration::from_millis(300);

/// Connected in advance, so that a short time is left for the call itself.
fn connected() -> (Peer, FakeServer, Orb, Target) {
    let (server, client, target) = scripted();
    target.as_object().connect().unwrap();
    (server.accept(), server, client, target)
}

fn scripted() -> (FakeServer, Orb, Target) {
    let server = FakeServer::listen();
    let client = client();
    let target = reach(
        &client,
        &reference(2, &[server.port()], b"x", &[]).to_string(),
    );
    (server, client, target)
}

fn timed_out(completed: Completion) -> SystemException {
    SystemException::orbium(ExceptionKind::Timeout, minor::DEADLINE_PASSED, completed)
}

/// Conformance: connections - deadlines: connecting, sending, waiting, retrying together
/// Conformance: connections - CancelRequest sent when a call is given up, but not to omniORB, which
/// then may read no more of the connection ([EXPECTED.md](../interop/EXPECTED.md))
/// Conformance: faults - a deadline in the past, at the client and at the server; one that passes
/// within the call: TIMEOUT; at the server 2 or 3
/// Conformance: TAO 24 - connecting to a dead or silent host ends in time
#[test]
fn a_silent_server_is_given_up_with_timeout() {
    let (mut peer, _server, _client, target) = connected();
    let hurried = target.with_timeout(SHORT);
    let call = orbium_testkit::spawn(move || hurried.echo_long(1));
    let request = peer.expect_request("echo_long");
    let result = within("the call", move || call.join().unwrap());
    assert_eq!(result, Err(timed_out(Completion::Maybe)));
    assert_eq!(
        peer.expect(MessageKind::CancelRequest).cancelled(),
        request.id
    );
    peer.expect_end();
}

/// Conformance: connections - a late reply is not taken for another's
/// Conformance: TAO 23 - time-outs at object and ORB level, the late reply discarded
#[test]
fn a_connection_with_an_answer_outstanding_is_not_used_again() {
    let (mut peer, server, _client, target) = connected();
    let hurried = target.with_timeout(SHORT);
    let call = orbium_testkit::spawn(move || hurried.echo_long(1));
    let late = peer.expect_request("echo_long");
    assert!(within("the call", move || call.join().unwrap()).is_err());
    // The late reply is discarded.
    let _ = peer.try_send(&reply(
        2,
        ByteOrder::NATIVE,
        late.id,
        ReplyStatus::NoException,
        |w| w.write_u32(666),
    ));
    let call = orbium_testkit::spawn(move || target.echo_long(2));
    let mut fresh = server.accept();
    let request = fresh.expect_request("echo_long");
    fresh.answer(&request, |w| w.write_u32(2));
    assert_eq!(within("the call", move || call.join().unwrap()), Ok(2));
}

/// Conformance: connections - a late reply is not taken for another's
#[test]
fn a_trickled_reply_does_not_outlast_the_deadline() {
    let (mut peer, _server, _client, target) = connected();
    let hurried = target.with_timeout(SHORT);
    let call = orbium_testkit::spawn(move || hurried.echo_octets(&[]));
    let request = peer.expect_request("echo_octets");
    let whole = reply(
        2,
        ByteOrder::NATIVE,
        request.id,
        ReplyStatus::NoException,
        |w| {
            w.write_octets(&[7; 100_000]);
        },
    );
    // An octet every few milliseconds would take minutes.
    let ended = whole[..2000].iter().any(|octet| {
        thread::sleep(Duration::from_millis(5));
        call.is_finished() || !peer.try_send(&[*octet])
    });
    assert!(ended, "the call outlasts its deadline");
    let result = within("the call", move || call.join().unwrap());
    assert_eq!(result, Err(timed_out(Completion::Maybe)));
}

/// Conformance: connections - a late reply is not taken for another's
#[test]
fn unrelated_replies_do_not_keep_a_call_alive() {
    let (mut peer, _server, _client, target) = connected();
    let hurried = target.with_timeout(SHORT);
    let call = orbium_testkit::spawn(move || hurried.echo_long(1));
    let request = peer.expect_request("echo_long");
    let stray = reply(
        2,
        ByteOrder::NATIVE,
        request.id + 1000,
        ReplyStatus::NoException,
        |w| w.write_u32(1),
    );
    // Ends at the latest long after the bound.
    let ended = (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(5));
        call.is_finished() || !peer.try_send(&stray)
    });
    assert!(ended, "the call outlasts its deadline");
    let result = within("the call", move || call.join().unwrap());
    assert_eq!(result, Err(timed_out(Completion::Maybe)));
}

/// Conformance: connections - deadlines: connecting, sending, waiting, retrying together
/// Conformance: TAO 22 - time-outs bound oneways - with a twoway
#[test]
fn a_server_that_does_not_read_is_given_up() {
    let (peer, _server, _client, target) = connected();
    let hurried = target.with_timeout(SHORT);
    let call = orbium_testkit::spawn(move || hurried.echo_octets(&vec![1; 64 << 20]));
    let result = within("the call", move || call.join().unwrap());
    assert_eq!(result, Err(timed_out(Completion::No)));
    drop(peer);
}

/// The deadline was not checked where a LocateReply had come, and each gave the call all its time
/// anew.
///
/// Conformance: connections - deadlines: connecting, sending, waiting, retrying together
#[test]
fn a_server_that_says_what_was_not_asked_is_given_up() {
    each_client_strategy(|strategy| {
        let late = reply(
            2,
            ByteOrder::Big,
            1_000_001,
            ReplyStatus::NoException,
            |_| {},
        );
        // It answers no request, and is no reply.
        let located = locate_reply(2, 1_000_001, LocateStatus::ObjectHere, |_| {});
        for unasked in [located, late] {
            let server = FakeServer::listen();
            let client = Orb::new(calling_by(strategy)).unwrap();
            let ior = reference(2, &[server.port()], b"x", &[]);
            let target = reach(&client, &ior.to_string());
            let call = orbium_testkit::spawn(move || {
                target.as_object().connect().unwrap();
                target.with_timeout(SHORT).echo_long(1)
            });
            let mut peer = server.accept();
            peer.expect_request("echo_long");
            eventually("the call is given up", || {
                peer.try_send(&unasked);
                peer.is_silent(Duration::from_millis(10));
                call.is_finished()
            });
            let result = within("the call", move || call.join().unwrap());
            assert_eq!(result, Err(timed_out(Completion::Maybe)));
        }
    });
}

/// Each little that it takes was given all the time anew.
///
/// Conformance: connections - deadlines: connecting, sending, waiting, retrying together
#[test]
fn a_server_that_reads_slowly_is_given_up() {
    const ALL: usize = 64 << 20;
    let (server, _client, target) = scripted();
    let hurried = target.with_timeout(SHORT);
    let call = orbium_testkit::spawn(move || hurried.echo_octets(&vec![1; ALL]));
    let peer = server.accept();
    // All of it would take it many times what the call has.
    let mut room = vec![0; 64 << 10];
    let mut taken = 0;
    while !call.is_finished() && taken < ALL {
        thread::sleep(Duration::from_millis(10));
        taken += peer.stream().receive(&mut room).unwrap_or(0);
    }
    let result = within("the call", move || call.join().unwrap());
    assert_eq!(result, Err(timed_out(Completion::No)));
    assert!(taken < ALL);
}

/// Conformance: TAO 22 - time-outs bound oneways - sending ends in time
#[test]
fn a_oneway_to_a_server_that_does_not_read_is_given_up() {
    // Too large for the kernel to take whole.
    let (peer, _server, _client, target) = connected();
    let hurried = target.with_timeout(SHORT);
    let call = orbium_testkit::spawn(move || hurried.pour(&vec![1; 64 << 20]));
    let result = within("the oneway", move || call.join().unwrap());
    assert_eq!(result, Err(timed_out(Completion::No)));
    drop(peer);
}

/// Conformance: TAO 22 - time-outs bound oneways - sending ends in time
#[test]
fn a_oneway_behind_others_that_are_not_read_is_given_up() {
    let (peer, _server, _client, target) = connected();
    let hurried = target.with_timeout(2 * SHORT);
    let calls = orbium_testkit::spawn(move || {
        // The first few fit into the buffers of the kernel.
        let results = (0..10_000).map(|_| hurried.pour(&[1; 64 << 10]));
        results.enumerate().find(|(_, result)| result.is_err())
    });
    let (sent, refused) = within("the oneways", move || calls.join().unwrap())
        .expect("one that the kernel did not take");
    assert!(sent > 0, "the first fits");
    assert_eq!(refused, Err(timed_out(Completion::No)));
    drop(peer);
}

/// Conformance: connections - deadlines: connecting, sending, waiting, retrying together
/// Conformance: TAO 24 - connecting to a dead or silent host ends in time
#[test]
fn a_host_that_answers_no_connection_is_given_up() {
    // A listener whose queue is full drops what comes: a black hole without a
    // network.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let mut fill = Vec::new();
    while let Ok(stream) =
        std::net::TcpStream::connect_timeout(&address, Duration::from_millis(200))
    {
        fill.push(stream);
        assert!(fill.len() < 1000, "the queue never fills");
    }
    let client = client();
    let target = reach(
        &client,
        &reference(2, &[address.port()], b"x", &[]).to_string(),
    );
    let hurried = target.with_timeout(SHORT);
    let result = within("the call", move || hurried.noop());
    assert_eq!(result, Err(timed_out(Completion::No)));
    // Without a deadline, the time to connect is bounded by itself.
    let patient = Orb::new(Config {
        connect_timeout: orbium::config::ConnectTimeout(SHORT),
        ..Config::default()
    })
    .unwrap();
    let target = reach(
        &patient,
        &reference(2, &[address.port()], b"x", &[]).to_string(),
    );
    let exception = within("the call", move || target.noop()).unwrap_err();
    let no_connection = SystemException::orbium(
        ExceptionKind::Transient,
        minor::CONNECT_TIMEOUT,
        Completion::No,
    );
    assert_eq!(exception, no_connection);
}

/// Conformance: connections - deadlines: connecting, sending, waiting, retrying together
#[test]
fn the_bound_holds_over_retries_and_forwards_together() {
    let (server, client, target) = scripted();
    let hurried = target.with_timeout(4 * SHORT);
    let call = orbium_testkit::spawn(move || hurried.echo_long(1));
    let over = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&over);
    // Forwards to itself, each time within the bound.
    let forwards = orbium_testkit::spawn(move || {
        let mut count = 0;
        let mut peer = server.accept();
        let here = reference(2, &[server.port()], b"x", &[]);
        while !ended.load(Ordering::SeqCst) {
            let Some(message) = peer.try_receive() else {
                break;
            };
            if message.kind() != MessageKind::Request {
                break;
            }
            count += 1;
            thread::sleep(2 * SHORT);
            let message = reply(
                2,
                ByteOrder::NATIVE,
                message.request().id,
                ReplyStatus::LocationForward,
                |w| write_reference(&here, w),
            );
            if !peer.try_send(&message) {
                break;
            }
        }
        count
    });
    let result = within("the call", move || call.join().unwrap());
    over.store(true, Ordering::SeqCst);
    client.shutdown(true).unwrap();
    assert_eq!(result.unwrap_err().kind, ExceptionKind::Timeout);
    let forwarded = within("the server", move || forwards.join().unwrap());
    assert!(forwarded <= 3, "{forwarded} hops fit into the time of two");
}

#[test]
fn no_time_at_all_is_a_timeout_and_harms_nothing() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        target.noop().unwrap();
        let hurried = target.with_timeout(Duration::ZERO);
        assert_eq!(hurried.noop().unwrap_err().kind, ExceptionKind::Timeout);
        assert_eq!(target.echo_long(1), Ok(1));
        let endless = target.with_timeout(Duration::MAX);
        assert_eq!(endless.echo_long(2), Ok(2));
        served.end();
    });
}

/// Conformance: connections - deadlines: connecting, sending, waiting, retrying together - within
/// one ORB
#[test]
fn no_time_at_all_is_a_timeout_within_one_orb_too() {
    let served = Served::new(ServerStrategy::default());
    let hurried = served.target.with_timeout(Duration::ZERO);
    assert_eq!(hurried.noop(), Err(timed_out(Completion::No)));
    assert_eq!(hurried.post(1), Err(timed_out(Completion::No)));
    assert_eq!(served.state.calls(), 0);
    let endless = served.target.with_timeout(Duration::MAX);
    assert_eq!(endless.echo_long(2), Ok(2));
    served.end();
}

/// Conformance: connections - deadlines: connecting, sending, waiting, retrying together - within
/// one ORB
#[test]
fn a_servant_of_the_same_orb_that_takes_too_long_is_a_timeout_when_it_returns() {
    const BOUND: Duration = Duration::from_millis(400);
    let served = Served::new(ServerStrategy::default());
    let hurried = served.target.with_timeout(BOUND);
    let refusal = SystemException::new(ExceptionKind::NoPermission, 1, Completion::No);
    for outcome in [Ok(1), Err(refusal)] {
        let before = served.state.calls();
        served.state.on_act(move |_, _| {
            // The bound began to run before this.
            thread::sleep(BOUND);
            outcome
        });
        assert_eq!(hurried.act(1), Err(timed_out(Completion::Maybe)));
        assert_eq!(served.state.calls(), before + 1);
        // Without a bound it takes as long as it takes.
        assert_eq!(served.target.act(1), outcome);
    }
    served.end();
}

#[test]
fn a_deadline_within_an_upcall_reaches_the_outer_caller_as_an_exception() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let silent = FakeServer::listen();
        let inner = reach(
            &served.orb,
            &reference(2, &[silent.port()], b"x", &[]).to_string(),
        )
        .with_timeout(SHORT);
        served.state.on_act(move |_, v| inner.echo_long(v));
        let (_client, target) = served.client();
        let outer = target.clone();
        let result = within("the call", move || outer.act(1));
        assert_eq!(result.unwrap_err().kind, ExceptionKind::Timeout);
        assert_eq!(target.echo_long(1), Ok(1));
        served.end();
    });
}

/// Conformance: ORB - policies of references and threads, `validate_connection` - of time
/// Conformance: TAO 23 - time-outs at object and ORB level, the late reply discarded
#[test]
fn the_orb_wide_bound_holds_and_that_of_a_reference_goes_before_it() {
    let server = FakeServer::listen();
    let client = Orb::builder().call_timeout(SHORT).build().unwrap();
    let target = reach(
        &client,
        &reference(2, &[server.port()], b"x", &[]).to_string(),
    );
    target.as_object().connect().unwrap();
    let peer = server.accept();
    let hurried = target.clone();
    let call = orbium_testkit::spawn(move || hurried.echo_long(1));
    let result = within("the call", move || call.join().unwrap());
    assert_eq!(result, Err(timed_out(Completion::Maybe)));
    drop(peer);
    let patient = target.with_timeout(Duration::from_secs(60));
    let call = orbium_testkit::spawn(move || patient.echo_long(1));
    let mut peer = server.accept();
    let request = peer.expect_request("echo_long");
    thread::sleep(2 * SHORT);
    peer.answer(&request, |w| w.write_u32(9));
    assert_eq!(within("the call", move || call.join().unwrap()), Ok(9));
}

/// Conformance: connections - deadlines: connecting, sending, waiting, retrying together
/// Conformance: TAO 29 - the connection cache has a hard limit, busy ones are never purged
#[test]
fn waiting_for_a_free_connection_counts_too() {
    let server = FakeServer::listen();
    let client = Orb::new(Config {
        limits: Limits {
            connections_per_server: 1,
            ..Limits::default()
        },
        ..Config::default()
    })
    .unwrap();
    let target = reach(
        &client,
        &reference(2, &[server.port()], b"x", &[]).to_string(),
    );
    let first = {
        let target = target.clone();
        orbium_testkit::spawn(move || target.echo_long(1))
    };
    let mut peer = server.accept();
    let request = peer.expect_request("echo_long");
    let hurried = target.with_timeout(SHORT);
    let result = within("the second call", move || hurried.echo_long(2));
    assert_eq!(result, Err(timed_out(Completion::No)));
    peer.answer(&request, |w| w.write_u32(1));
    assert_eq!(
        within("the first call", move || first.join().unwrap()),
        Ok(1)
    );
}

/// Conformance: TAO 6 - a long upcall never stops other requests - with a thread per connection,
/// callers of other connections go on
#[test]
fn the_server_goes_on_after_its_caller_has_given_up() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let (_client, target) = served.client();
    target.noop().unwrap();
    let hurried = target.with_timeout(SHORT);
    let result = within("the call", move || hurried.gate());
    assert_eq!(result, Err(timed_out(Completion::Maybe)));
    served.state.gate.open();
    assert_eq!(target.echo_long(1), Ok(1));
    served.end();
}
