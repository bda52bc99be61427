// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of an ORB, and of what is idle.

use std::time::{Duration, SystemTime};

use orbium::giop::MessageKind;
use orbium::{config::Limits, policy::TimePolicies};
use orbium_testkit::eventually;
use orbium_testkit::in_own_process;

use super::*;

#[test]
fn the_end_of_the_orb_ends_every_call() {
    let (scripted, mut peer) = Scripted::connected();
    let object = scripted.object.clone();
    let hour = Duration::from_secs(3600);
    let tomorrow = SystemTime::now().checked_add(24 * hour);
    let sent = echo(&object, 1);
    let later = object.with_time_policies(TimePolicies {
        request_start: tomorrow,
        ..TimePolicies::NONE
    });
    let unsent = handled(echo(&later, 2));
    let early = object.with_time_policies(TimePolicies {
        reply_start: tomorrow,
        ..TimePolicies::NONE
    });
    let early = echo(&early, 3);
    peer.expect_request("echo_long");
    answer(&mut peer, 1);
    let one_more = echo(&object, 4);
    answer(&mut peer, 1);
    // The replies came in this order.
    assert_eq!(result(one_more), Ok(4));
    scripted.end();
    assert_eq!(result(sent), Err(has_ended(Completion::Maybe)));
    assert_eq!(unsent.recv().unwrap().0, Err(has_ended(Completion::No)));
    assert_eq!(result(early), Ok(3));
    assert_eq!(result(echo(&object, 5)), Err(has_ended(Completion::No)));
    peer.expect(MessageKind::CloseConnection);
    peer.expect_end();
}

#[test]
fn the_end_waits_for_handlers_and_a_handler_not_for_the_end() {
    let (scripted, mut peer) = Scripted::connected();
    let (report, reported) = channel();
    let client = scripted.client.clone();
    echo(&scripted.object, 1).on_reply(move |_| {
        let refused = client.shutdown(true).unwrap_err();
        client.shutdown(false).unwrap();
        thread::sleep(Duration::from_millis(20));
        report.send(refused).unwrap();
    });
    answer(&mut peer, 1);
    let client = scripted.client.clone();
    within("the end", move || {
        while client.is_running() {
            thread::yield_now();
        }
        client.shutdown(true)
    })
    .unwrap();
    let refused = reported.try_recv().expect("the handler has ended");
    assert_eq!(
        (refused.kind, refused.minor & 0xFFF),
        (ExceptionKind::BadInvOrder, 3)
    );
}

#[test]
fn an_orb_without_references_leaves_no_threads() {
    in_own_process!(|| {
        let server = FakeServer::listen();
        let mut peers = Vec::new();
        for _ in 0..5 {
            let client = orbium_testkit::client();
            let object = object(&client, &[server.port()]);
            let call = handled(echo(&object, 1));
            let mut peer = server.accept();
            answer(&mut peer, 1);
            assert_eq!(call.recv().unwrap().0, Ok(1));
            // The last one to hold the ORB may be a handler's thread.
            drop((client, object));
            peers.push(peer);
        }
        for mut peer in peers {
            peer.expect(MessageKind::CloseConnection);
        }
        eventually("they end", || {
            threads_named("orbium-replies") + threads_named("orbium-handler") == 0
        });
    });
}

/// Threads of this process whose names begin so.
fn threads_named(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    // One that ends meanwhile has none.
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|it| it.starts_with(name)).count()
}

#[test]
fn an_idle_connection_is_closed_and_made_again() {
    let scripted = Scripted::with(Config {
        limits: Limits {
            client_idle_time: Some(Duration::from_millis(20)),
            ..Limits::default()
        },
        ..Config::default()
    });
    for v in 0..3 {
        let call = echo(&scripted.object, v);
        let mut peer = scripted.server.accept();
        answer(&mut peer, 1);
        assert_eq!(result(call), Ok(v));
        peer.expect(MessageKind::CloseConnection);
        peer.expect_end();
    }
    scripted.end();
}

#[test]
fn a_connection_that_the_server_closes_idle_is_made_again_without_notice() {
    let (scripted, mut peer) = Scripted::connected();
    for v in 0..3 {
        peer.close();
        let call = echo(&scripted.object, v);
        peer = scripted.server.accept();
        answer(&mut peer, 1);
        assert_eq!(result(call), Ok(v));
    }
    scripted.end();
}
