// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service contexts of replies received after the end of their call, and of oneways.

use std::thread;
use std::time::Duration;

use orbium::giop::{
    ReplyStatus, ResponseFlags, ServiceContext, Version, begin_reply, finish_message,
};
use orbium::interceptor::{Interceptors, ReplyContexts};
use orbium::{
    CancellationToken, Config, ExceptionKind, Interface, Orb, config::ClientStrategy,
    policy::SyncScope,
};
use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_testkit::probe::Target;
use orbium_testkit::{FakeServer, Peer, Request, reach, reference, within};

use crate::Tested;
use crate::recorder::{Journal, Recorder};

const TAG: u32 = 0x4F52_4275;

/// A server of the test, and its object with a recorder of calls before it.
fn scripted(journal: &Journal) -> (FakeServer, Target) {
    let server = FakeServer::listen();
    let ior = reference(2, &[server.port()], b"x", &[]);
    let mut interceptors = Interceptors::new();
    interceptors
        .add_client(Recorder::new("c", journal))
        .unwrap();
    // A connection that outlives its calls.
    let orb = Orb::new(Config {
        client_strategy: ClientStrategy::LeaderFollowers,
        interceptors,
        ..Config::default()
    });
    let target = reach(&orb.unwrap(), &ior.to_string());
    (server, target)
}

/// Answers with a number, or not at all, and with a context with that text.
fn answer(peer: &mut Peer, request: &Request, number: Option<u32>, text: &str) {
    let data = text.as_bytes();
    let contexts = [ServiceContext { id: TAG, data }];
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 2));
    let status = ReplyStatus::NoException;
    let start = begin_reply(&mut writer, Version::V1_2, request.id, status, &contexts);
    if let Some(number) = number {
        writer.write_u32(number);
    }
    finish_message(&mut writer, start);
    peer.send(&writer.finish().unwrap());
}

fn replied(contexts: &ReplyContexts) -> Option<Vec<u8>> {
    contexts.get().get(TAG).ok().map(<[u8]>::to_vec)
}

/// Makes the call, which ends before its reply is sent, then another one over the connection.
fn ends_early(
    target: &Target,
    server: &FakeServer,
    journal: &Journal,
    end: impl FnOnce(),
) -> orbium::SystemException {
    let contexts = ReplyContexts::default();
    let early = target.with_reply_contexts(&contexts);
    let call = thread::spawn(move || early.echo_long(1));
    let mut peer = server.accept();
    let request = peer.expect_request("echo_long");
    end();
    let ended = within("the call", move || call.join().unwrap()).unwrap_err();
    assert_eq!(peer.receive().cancelled(), request.id);
    answer(&mut peer, &request, Some(1), "late");
    assert_eq!(journal.take().len(), 2, "both sequences have ended");

    let of_next = ReplyContexts::default();
    let next = target.with_reply_contexts(&of_next).with_timeout(LONG);
    let next = next.with_cancellation(&CancellationToken::new());
    let call = thread::spawn(move || next.echo_long(2));
    let request = peer.expect_request("echo_long");
    answer(&mut peer, &request, Some(2), "in time");
    assert_eq!(within("the next call", move || call.join().unwrap()), Ok(2));
    assert_eq!(replied(&of_next).as_deref(), Some(&b"in time"[..]));
    assert_eq!(replied(&contexts), None);
    assert_eq!(journal.take(), ["c send_request", "c receive_reply"]);
    ended
}

const LONG: Duration = Duration::from_secs(3600);

/// Conformance: PI - service contexts of a late reply are discarded with it - the deadline has passed
#[test]
fn contexts_of_a_reply_after_the_deadline_are_discarded() {
    let journal = Journal::default();
    let (server, target) = scripted(&journal);
    let target = target.with_timeout(Duration::from_millis(200));
    let ended = ends_early(&target, &server, &journal, || {});
    assert_eq!(ended.kind, ExceptionKind::Timeout);
}

/// Conformance: PI - service contexts of a late reply are discarded with it - the call was cancelled
#[test]
fn contexts_of_a_reply_to_a_cancelled_call_are_discarded() {
    let journal = Journal::default();
    let (server, target) = scripted(&journal);
    let token = CancellationToken::new();
    let target = target.with_cancellation(&token);
    let ended = ends_early(&target, &server, &journal, || token.cancel());
    assert_eq!(ended.kind, ExceptionKind::Transient);
}

/// Conformance: PI - service contexts by hand: with oneways, and with the reply of those that have one
#[test]
fn contexts_by_hand_go_with_oneways_and_come_back_with_their_acknowledgement() -> Tested {
    let journal = Journal::default();
    let (server, target) = scripted(&journal);
    let contexts = ReplyContexts::default();
    let target = target
        .with_service_context(TAG, b"question")
        .with_reply_contexts(&contexts);
    let carried = |request: &Request| {
        let own = request.contexts.iter().find(|(id, _)| *id == TAG);
        own.map(|(_, data)| data.clone())
    };
    let plain = target.clone();
    let post = thread::spawn(move || plain.post(1));
    let mut peer = server.accept();
    let request = peer.expect_request("post");
    assert_eq!(request.response, ResponseFlags::None);
    assert_eq!(carried(&request).as_deref(), Some(&b"question"[..]));
    within("the oneway", move || post.join().unwrap())?;
    assert_eq!(replied(&contexts), None);

    for scope in [SyncScope::WithServer, SyncScope::WithTarget] {
        let confirmed = target.with_sync_scope(scope);
        let post = thread::spawn(move || confirmed.post(2));
        let request = peer.expect_request("post");
        assert_eq!(carried(&request).as_deref(), Some(&b"question"[..]));
        let text = format!("{scope:?}");
        answer(&mut peer, &request, None, &text);
        within("the oneway", move || post.join().unwrap())?;
        assert_eq!(replied(&contexts).as_deref(), Some(text.as_bytes()));
    }
    Ok(())
}
