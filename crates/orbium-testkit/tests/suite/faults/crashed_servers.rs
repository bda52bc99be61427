// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server that crashes while its connections are idle, and comes back: a call after a
//! pause raises nothing.
//!
//! Once the first call over each connection that had died raised COMM_FAILURE: it was
//! sent into a connection whose end had arrived long before.

use std::cell::RefCell;
use std::thread;
use std::time::Duration;

use orbium::giop::MessageKind;
use orbium::{
    Completion, ExceptionKind, Interface, Orb, SystemException, asynchronous::Asynchronous,
    config::ClientStrategy,
};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Peer, calling_by, each_client_strategy, pause_calls, reach, reference, within,
};

static ECHO_LONG: Operation = Operation::new("echo_long");

struct Scripted {
    strategy: ClientStrategy,
    server: FakeServer,
    client: Orb,
    target: Target,
}

impl Scripted {
    fn new(strategy: ClientStrategy) -> Self {
        let server = FakeServer::listen();
        let client = Orb::new(calling_by(strategy)).unwrap();
        let text = reference(2, &[server.port()], b"x", &[]).to_string();
        let target = reach(&client, &text);
        Self {
            strategy,
            server,
            client,
            target,
        }
    }

    /// Calls on this thread, so that connections of its own are used again; the server
    /// answers over a new connection, or over that which it has.
    fn call(&self, peer: Option<Peer>) -> Peer {
        thread::scope(|scope| {
            let serving = scope.spawn(|| {
                let mut peer = peer.unwrap_or_else(|| self.server.accept());
                answer(&mut peer);
                peer
            });
            assert_eq!(self.target.echo_long(1), Ok(1), "{}", self.strategy);
            serving.join().unwrap()
        })
    }

    /// Nothing has connected since, and the client ends.
    fn end(self) {
        assert!(self.server.accept_at_once().is_none(), "{}", self.strategy);
        let client = self.client;
        within("the client's end", move || client.shutdown(true)).unwrap();
    }
}

fn answer(peer: &mut Peer) {
    let request = peer.expect_request("echo_long");
    peer.answer(&request, |w| w.write_u32(1));
}

/// Has a call answered in each strategy, then something done, and calls made after a
/// pause.
fn after_a_pause(before: impl Fn(&Scripted, Peer) -> Option<Peer>) {
    let all = RefCell::new(Vec::new());
    each_client_strategy(|strategy| {
        let scripted = Scripted::new(strategy);
        let peer = scripted.call(None);
        let kept = before(&scripted, peer);
        all.borrow_mut().push((scripted, kept));
    });
    pause_calls();
    for (scripted, kept) in all.into_inner() {
        let peer = scripted.call(kept);
        // The next one uses the same.
        drop(scripted.call(Some(peer)));
        scripted.end();
    }
}

/// Conformance: connections - lost while idle without CloseConnection: replaced without notice
/// after a pause, in every client strategy; not there any more: TRANSIENT, COMPLETED_NO
#[test]
fn a_connection_that_was_reset_while_idle_is_replaced_without_notice() {
    after_a_pause(|_, peer| {
        peer.reset();
        None
    });
}

/// Conformance: connections - lost while idle without CloseConnection: replaced without notice
/// after a pause, in every client strategy; not there any more: TRANSIENT, COMPLETED_NO
#[test]
fn a_connection_that_ended_while_idle_is_replaced_without_notice() {
    after_a_pause(|_, peer| {
        drop(peer);
        None
    });
}

/// Conformance: connections - lost while idle without CloseConnection: replaced without notice
/// after a pause, in every client strategy; not there any more: TRANSIENT, COMPLETED_NO
#[test]
fn a_connection_that_is_alive_after_a_pause_is_kept() {
    after_a_pause(|_, peer| Some(peer));
}

/// Shared connections go on after a timeout: the reply that came late, with no caller to
/// read it, ends nothing.
///
/// Conformance: connections - lost while idle without CloseConnection: replaced without notice
/// after a pause, in every client strategy; not there any more: TRANSIENT, COMPLETED_NO
#[test]
fn a_late_reply_is_not_taken_for_the_end() {
    after_a_pause(|scripted, mut peer| {
        if !scripted.strategy.is_multiplexed() {
            return Some(peer);
        }
        thread::scope(|scope| {
            // Its call slot goes to the next call; that of the late one is given up.
            let other = scope.spawn(|| scripted.target.echo_long(1));
            let owed = peer.expect_request("echo_long");
            let impatient = scripted.target.with_timeout(Duration::from_millis(50));
            let exception = impatient.echo_long(2).unwrap_err();
            assert_eq!(exception.kind, ExceptionKind::Timeout);
            let late = peer.expect_request("echo_long");
            peer.expect(MessageKind::CancelRequest);
            peer.answer(&owed, |w| w.write_u32(1));
            assert_eq!(other.join().unwrap(), Ok(1));
            peer.answer(&late, |w| w.write_u32(2));
        });
        Some(peer)
    });
}

/// All that were idle have died: a call finds them all.
///
/// Conformance: connections - lost while idle without CloseConnection: replaced without notice
/// after a pause, in every client strategy; not there any more: TRANSIENT, COMPLETED_NO
#[test]
fn many_connections_that_died_while_idle_cost_no_call() {
    let scripted = Scripted::new(ClientStrategy::ExclusivePool);
    let mut peers: Vec<Peer> = thread::scope(|scope| {
        let calls: Vec<_> = (0..20)
            .map(|_| scope.spawn(|| scripted.target.echo_long(1)))
            .collect();
        let mut peers: Vec<_> = calls.iter().map(|_| scripted.server.accept()).collect();
        peers.iter_mut().for_each(answer);
        for call in calls {
            assert_eq!(call.join().unwrap(), Ok(1));
        }
        peers
    });
    for peer in peers.split_off(10) {
        peer.reset();
    }
    drop(peers);
    pause_calls();
    drop(scripted.call(None));
    scripted.end();
}

/// Replaced idle connections were in no metric: an operator saw no trace of the crash.
#[test]
fn a_replaced_connection_is_counted() {
    let scripted = Scripted::new(ClientStrategy::ExclusivePool);
    let metrics = scripted.client.enable_metrics();
    let counted = || {
        let retries = metrics.snapshot().retries;
        let stale = retries.iter().find(|it| it.name == "stale_connection");
        stale.unwrap().count
    };
    let peer = scripted.call(None);
    pause_calls();
    let peer = scripted.call(Some(peer));
    assert_eq!(counted(), 0);
    peer.reset();
    pause_calls();
    drop(scripted.call(None));
    assert_eq!(counted(), 1);
    let text = metrics.prometheus_text();
    let line = "orbium_client_retries_total{cause=\"stale_connection\"} 1";
    assert!(text.contains(line), "{text}");
    scripted.end();
}

/// A server that did not come back: the request was not sent, and the caller learns so.
///
/// Conformance: connections - lost while idle without CloseConnection: replaced without notice
/// after a pause, in every client strategy; not there any more: TRANSIENT, COMPLETED_NO
#[test]
fn a_server_that_stays_away_is_transient_and_nothing_was_done() {
    let all = RefCell::new(Vec::new());
    each_client_strategy(|strategy| {
        let scripted = Scripted::new(strategy);
        scripted.call(None).reset();
        all.borrow_mut().push(scripted);
    });
    pause_calls();
    for scripted in all.into_inner() {
        drop(scripted.server);
        let exception = scripted.target.echo_long(1).unwrap_err();
        let raised = (exception.kind, exception.completed);
        assert_eq!(raised, (ExceptionKind::Transient, Completion::No));
        let text = orbium::diagnostics::explain(&exception).to_string();
        assert!(
            text.contains("the idle connection had ended")
                || scripted.strategy == ClientStrategy::IoThread,
            "{text}"
        );
        scripted.client.shutdown(true).unwrap();
    }
}

/// Conformance: connections - lost while idle without CloseConnection: replaced without notice
/// after a pause, in every client strategy; not there any more: TRANSIENT, COMPLETED_NO
#[test]
fn an_asynchronous_invocation_after_a_pause_is_answered_too() {
    fn echo(target: &Target) -> Asynchronous<i32> {
        let object = target.as_object();
        object.call_async(&ECHO_LONG, 1, Encode::encode, i32::decode)
    }
    let scripted = Scripted::new(ClientStrategy::ExclusivePool);
    let round = || {
        let call = echo(&scripted.target);
        let mut peer = scripted.server.accept();
        answer(&mut peer);
        let result: Result<i32, SystemException> = within("the call", move || call.wait());
        assert_eq!(result, Ok(1));
        peer
    };
    round().reset();
    pause_calls();
    drop(round());
    pause_calls();
    drop(round());
    scripted.end();
}
