// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stories of failed calls: operation, object, address, phase, causes and times, whatever the
//! client strategy and the form of the call.

use std::thread;
use std::time::Duration;

use orbium::giop::{ReplyStatus, add_reply_context, minor};
use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb, SystemException,
    config::{Limits, ServerStrategy},
    diagnostics::{Failure, Phase},
    policy::TimePolicies,
};
use orbium_cdr::{ByteOrder, Encode};
use orbium_core::Operation;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Served, calling_by, client, dead_port, each_client_strategy, each_strategy, reach,
    reference, reply, within,
};

/// The story of the exception that this thread has just received.
fn story(exception: SystemException) -> Failure {
    let failure = orbium::diagnostics::last_failure().expect("a story");
    assert_eq!(failure.exception, exception);
    assert_eq!(
        orbium::diagnostics::explain(&exception).failure.as_ref(),
        Some(&failure)
    );
    let text = format!("{exception:#}");
    assert!(text.starts_with(&exception.to_string()), "{text}");
    assert!(
        text.contains(&format!("calling `{}`", failure.operation)),
        "{text}"
    );
    assert!(
        text.contains(&format!("object `{}`", failure.object)),
        "{text}"
    );
    for step in &failure.steps {
        assert!(text.contains(&step.result), "{text}");
    }
    failure
}

fn last(failure: &Failure) -> String {
    failure.steps.last().expect("a step").to_string()
}

fn seen_at(client: &Orb, port: u16) -> Target {
    reach(client, &reference(2, &[port], b"a key%", &[]).to_string())
}

#[test]
fn an_exception_is_eight_bytes_all_the_same() {
    assert_eq!(size_of::<SystemException>(), 8);
}

/// Conformance: complaint 18 - time-outs that name neither operation, peer nor phase
#[test]
fn a_refused_connection_names_operation_object_and_address() {
    each_client_strategy(|strategy| {
        let client = Orb::new(calling_by(strategy)).unwrap();
        let port = dead_port();
        let exception = seen_at(&client, port).echo_long(1).unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::Transient);
        let failure = story(exception);
        assert_eq!(failure.operation, "echo_long");
        assert_eq!(failure.object, "a%20key%25");
        assert_eq!(failure.phase(), Phase::Connect);
        let address = format!("iiop://127.0.0.1:{port}");
        assert_eq!(failure.address(), Some(address.as_str()));
        assert!(last(&failure).contains("refused"), "{failure:#}");
        assert_eq!((failure.retries, failure.forwards), (0, 0));
        // The page of the minor code follows in full.
        let explained = orbium::diagnostics::explain(&exception).to_string();
        let code = minor::explain(exception.kind, exception.minor).unwrap();
        assert!(explained.contains(&code.page()), "{explained}");
    });
}

#[test]
fn exceptions_of_the_server_are_named_with_its_address() {
    each_client_strategy(|strategy| {
        let served = Served::with(Config {
            client_strategy: orbium::config::ClientStrategy::default(),
            ..Config::default()
        });
        let client = Orb::new(calling_by(strategy)).unwrap();
        let target = served.seen_by(&client);
        let exception = target.raise_system("NO_RESOURCES").unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::NoResources);
        let failure = story(exception);
        assert_eq!(failure.phase(), Phase::Wait);
        assert_eq!(failure.interface, "IDL:Probe/Target:1.0");
        assert!(
            last(&failure).contains("raised NO_RESOURCES"),
            "{failure:#}"
        );
        assert!(
            last(&failure).contains(&served.port().to_string()),
            "{failure:#}"
        );
        // Connecting was part of it, and of this call alone.
        assert_eq!(failure.steps[0].phase, Phase::Connect);
        target.raise_system("NO_RESOURCES").unwrap_err();
        assert_eq!(orbium::diagnostics::last_failure().unwrap().steps.len(), 1);
        served.end();
    });
}

/// A story once listed the steps of earlier, successful calls of the thread.
#[test]
fn a_story_has_no_steps_of_earlier_successful_calls() {
    each_client_strategy(|strategy| {
        let (first, second) = (
            Served::new(ServerStrategy::default()),
            Served::new(ServerStrategy::default()),
        );
        let client = Orb::new(calling_by(strategy)).unwrap();
        let known = second.seen_by(&client);
        known.raise_system("NO_RESOURCES").unwrap_err();
        // Connects, and succeeds.
        assert_eq!(first.seen_by(&client).echo_long(1), Ok(1));
        let exception = known.raise_system("NO_RESOURCES").unwrap_err();
        let failure = story(exception);
        assert_eq!(failure.steps.len(), 1, "{failure:#}");
        assert_eq!(failure.phase(), Phase::Wait, "{failure:#}");
        // Asynchronous calls take the notes of the thread too.
        assert_eq!(second.seen_by(&client).echo_long(1), Ok(1));
        let port = dead_port();
        let nowhere = seen_at(&client, port);
        let call: orbium::asynchronous::Asynchronous<()> =
            nowhere
                .as_object()
                .call_async(&NOOP, (), |(), _| {}, |_| Ok(()));
        let failure = story(call.wait().unwrap_err());
        for step in &failure.steps {
            let address = format!("iiop://127.0.0.1:{port}");
            assert_eq!(step.address.as_ref(), Some(&address), "{failure:#}");
        }
        first.end();
        second.end();
    });
}

static NOOP: Operation = Operation::new("noop");

/// Calls on a thread, so that the test can play the server, and gives its story.
fn failing(call: impl FnOnce() -> SystemException + Send + 'static) -> thread::JoinHandle<Failure> {
    orbium_testkit::spawn(move || story(call()))
}

fn joined(call: thread::JoinHandle<Failure>) -> Failure {
    within("the call", move || call.join().expect("a story"))
}

#[test]
fn a_lost_connection_is_lost_while_waiting() {
    each_client_strategy(|strategy| {
        let server = FakeServer::listen();
        let client = Orb::new(calling_by(strategy)).unwrap();
        let target = seen_at(&client, server.port());
        let call = failing(move || target.echo_long(1).unwrap_err());
        let mut peer = server.accept();
        peer.expect_request("echo_long");
        drop(peer);
        let failure = joined(call);
        assert_eq!(failure.exception.kind, ExceptionKind::CommFailure);
        assert_eq!(failure.phase(), Phase::Wait, "{failure:#}");
    });
}

/// Conformance: complaint 18 - time-outs that name neither operation, peer nor phase
#[test]
fn a_timeout_names_its_phase_and_how_long_it_took() {
    let time = Duration::from_millis(200);
    each_client_strategy(|strategy| {
        let server = FakeServer::listen();
        let config = Config {
            call_timeout: Some(time),
            ..calling_by(strategy)
        };
        let client = Orb::new(config).unwrap();
        let target = seen_at(&client, server.port());
        let call = failing(move || target.echo_long(1).unwrap_err());
        let mut peer = server.accept();
        peer.expect_request("echo_long");
        let failure = joined(call);
        assert_eq!(failure.exception.kind, ExceptionKind::Timeout);
        assert_eq!(failure.phase(), Phase::Wait, "{failure:#}");
        assert!(failure.elapsed >= time / 2, "{failure:#}");
        let waited = failure.steps.last().unwrap().elapsed;
        assert!(
            waited >= time / 2 && waited <= failure.elapsed,
            "{failure:#}"
        );
        drop(peer);
    });
}

#[test]
fn a_start_after_the_end_is_reported_before_anything_is_sent() {
    let client = client();
    let target = seen_at(&client, dead_port());
    let target = Target::from_object(target.as_object().with_time_policies(TimePolicies {
        request_end: Some(std::time::SystemTime::UNIX_EPOCH),
        ..TimePolicies::NONE
    }));
    let exception = target.echo_long(1).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::Timeout);
    let failure = story(exception);
    assert_eq!((failure.phase(), failure.address()), (Phase::Begin, None));
}

#[test]
fn retries_are_counted_and_reported() {
    let server = FakeServer::listen();
    let client = client();
    let target = seen_at(&client, server.port());
    let call = failing(move || target.echo_long(1).unwrap_err());
    for _ in 0..5 {
        let mut peer = server.accept();
        peer.expect_request("echo_long");
        peer.close();
    }
    let failure = joined(call);
    assert_eq!(failure.retries, 4, "{failure:#}");
    assert!(format!("{failure:#}").contains("4 retries"), "{failure:#}");
    let closed = failure
        .steps
        .iter()
        .filter(|step| step.result.contains("closed"));
    assert_eq!(closed.count(), 5, "{failure:#}");
}

#[test]
fn forwards_are_reported_with_their_addresses() {
    each_client_strategy(|strategy| {
        let server = FakeServer::listen();
        let client = Orb::new(calling_by(strategy)).unwrap();
        let target = seen_at(&client, server.port());
        let nowhere = dead_port();
        let there = reference(2, &[nowhere], b"there", &[]);
        let call = failing(move || target.echo_long(1).unwrap_err());
        let mut peer = server.accept();
        for _ in 0..2 {
            let request = peer.expect_request("echo_long");
            peer.forward(&request, &there);
        }
        let failure = joined(call);
        let text = format!("{failure:#}");
        assert_eq!(failure.forwards, 2, "{text}");
        assert!(
            text.contains(&format!("forwarded to iiop://127.0.0.1:{nowhere}")),
            "{text}"
        );
        assert!(text.contains("falling back to the original one"), "{text}");
        assert_eq!(failure.phase(), Phase::Connect, "{text}");
    });
}

#[test]
fn results_that_cannot_be_read_fail_in_decoding() {
    unreadable_results_fail_in_decoding(false);
}

/// Such a reply takes another path of the client.
#[test]
fn results_that_cannot_be_read_behind_service_contexts_fail_in_decoding() {
    unreadable_results_fail_in_decoding(true);
}

fn unreadable_results_fail_in_decoding(has_contexts: bool) {
    each_client_strategy(|strategy| {
        let server = FakeServer::listen();
        let client = Orb::new(calling_by(strategy)).unwrap();
        let target = seen_at(&client, server.port());
        let call = failing(move || target.echo_long(1).unwrap_err());
        let mut peer = server.accept();
        let request = peer.expect_request("echo_long");
        let (order, status) = (ByteOrder::NATIVE, ReplyStatus::NoException);
        let mut message = reply(2, order, request.id, status, |_| {});
        assert!(!has_contexts || add_reply_context(&mut message, 5, &[0; 8]));
        peer.send(&message);
        let failure = joined(call);
        assert_eq!(failure.exception.kind, ExceptionKind::Marshal);
        assert_eq!(failure.exception.completed, Completion::Yes);
        assert_eq!(failure.phase(), Phase::Decode, "{failure:#}");
    });
}

#[test]
fn an_unknown_host_fails_in_resolving() {
    let client = client();
    let target = reach(&client, "corbaloc::no-such-host.invalid:5000/Key");
    let exception = target.echo_long(1).unwrap_err();
    let failure = story(exception);
    assert_eq!(failure.phase(), Phase::Resolve, "{failure:#}");
    assert!(
        last(&failure).contains("no-such-host.invalid"),
        "{failure:#}"
    );
}

/// A reply above the limit was "no valid GIOP message", and the limit was not named.
///
/// Conformance: complaint 17 - a limit of 2 MiB on messages that fails as MARSHAL
#[test]
fn a_reply_above_the_limit_is_reported_with_both_sizes() {
    each_client_strategy(|strategy| {
        let served = Served::new(orbium::config::ServerStrategy::default());
        let config = Config {
            limits: Limits {
                message_size: 1000,
                ..Limits::default()
            },
            ..calling_by(strategy)
        };
        let client = Orb::new(config).unwrap();
        let target = served.seen_by(&client);
        let exception = target.make(5012).unwrap_err();
        let code = minor::ORBIUM_VMCID | minor::MESSAGE_TOO_LARGE;
        assert_eq!(
            (exception.kind, exception.minor),
            (ExceptionKind::Marshal, code)
        );
        let text = last(&story(exception));
        assert!(text.contains("reply of 5,040 bytes, limit 1,000"), "{text}");
        assert!(text.contains("`limits.message_size`"), "{text}");
        // And a request is not even sent.
        let exception = target.echo_octets(&[0; 5000]).unwrap_err();
        let failure = story(exception);
        assert_eq!(failure.phase(), Phase::Send);
        assert!(last(&failure).contains("limit 1,000"), "{failure:#}");
        // Nothing else was harmed.
        assert_eq!(target.echo_long(3), Ok(3));
        served.end();
    });
}

/// A server answered a request above its limit by MessageError, which names neither the
/// request nor the limit, and closed the connection with all that went over it.
///
/// Conformance: complaint 17 - a limit of 2 MiB on messages that fails as MARSHAL
#[test]
fn a_request_above_the_server_s_limit_is_answered_and_skipped() {
    each_strategy(|strategy| {
        let served = Served::with(Config {
            strategy,
            limits: Limits {
                message_size: 100_000,
                ..Limits::default()
            },
            ..Config::default()
        });
        // Whole, and in fragments.
        for fragment_size in [None, Some(4096)] {
            let config = Config {
                fragment_size,
                ..Config::default()
            };
            let client = Orb::new(config).unwrap();
            let target = served.seen_by(&client);
            let exception = target.echo_octets(&[7; 3_000_000]).unwrap_err();
            let code = minor::ORBIUM_VMCID | minor::REQUEST_TOO_LARGE;
            assert_eq!(
                (exception.kind, exception.minor),
                (ExceptionKind::ImpLimit, code)
            );
            assert_eq!(exception.completed, Completion::No);
            let text = last(&story(exception));
            assert!(text.contains("raised IMP_LIMIT"), "{text}");
            assert!(text.contains("limits.message_size"), "{text}");
            // Over the same connection.
            assert_eq!(target.echo_long(1), Ok(1));
            let octets = vec![7_u8; 3_000_000];
            let object = target.as_object();
            object.send(&POUR, |writer| octets.encode(writer)).unwrap();
            assert_eq!(
                target.echo_octets(&[8; 50_000]).map(|it| it.len()),
                Ok(50_000)
            );
            assert_eq!(target.echo_long(2), Ok(2));
        }
        served.end();
    });
}

static POUR: Operation = Operation::oneway("pour");

#[test]
fn in_every_version_of_giop() {
    for minor in 0..=2 {
        let served = Served::with(Config {
            limits: Limits {
                message_size: 10_000,
                ..Limits::default()
            },
            ..Config::default()
        });
        let client = Orb::new(Config {
            giop_minor: orbium::config::GiopMinor::new(minor).unwrap(),
            ..Config::default()
        });
        let target = served.seen_by(&client.unwrap());
        let exception = target.echo_octets(&[7; 30_000]).unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::ImpLimit, "1.{minor}");
        assert_eq!(target.echo_long(1), Ok(1), "1.{minor}");
        served.end();
    }
}

#[test]
fn an_exception_has_the_story_of_its_own_call() {
    let client = client();
    let refused = seen_at(&client, dead_port()).echo_long(1).unwrap_err();
    let unusable = reach(&client, "corbaloc:ssliop:127.0.0.1:1/Key")
        .noop()
        .unwrap_err();
    assert_ne!(refused, unusable);
    let explained = orbium::diagnostics::explain(&refused).failure.unwrap();
    assert_eq!(explained.operation, "echo_long");
    let explained = orbium::diagnostics::explain(&unusable).failure.unwrap();
    assert_eq!(explained.operation, "noop");
    // Other threads have made no such call.
    let elsewhere = orbium_testkit::spawn(move || orbium::diagnostics::explain(&refused).failure);
    assert_eq!(elsewhere.join().unwrap(), None);
}

#[test]
fn texts_of_references_are_bounded_and_harmless() {
    let client = client();
    let mut ior = reference(2, &[dead_port()], &[b'k'; 5000], &[]);
    ior.type_id = format!("IDL:\n\u{1b}[31m{}:1.0", "x".repeat(5000));
    let exception = reach(&client, &ior.to_string()).echo_long(1).unwrap_err();
    let failure = story(exception);
    let text = format!("{failure:#}");
    assert!(text.len() < 2000, "{}", text.len());
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(failure.object.ends_with('…'), "{text}");
}

/// What asynchronous calls raise is explained to the thread that takes it.
mod asynchronous {
    use std::sync::mpsc;

    use orbium::asynchronous::Asynchronous;
    use orbium_cdr::Decode;

    use super::*;

    static ECHO_LONG: Operation = Operation::new("echo_long");
    static RAISE_SYSTEM: Operation = Operation::new("raise_system");

    fn echo(target: &Target) -> Asynchronous<i32> {
        let object = target.as_object();
        object.call_async(&ECHO_LONG, 1, Encode::encode, i32::decode)
    }

    fn raise(target: &Target) -> Asynchronous<()> {
        let (object, name) = (target.as_object(), "NO_RESOURCES");
        object.call_async(&RAISE_SYSTEM, name, Encode::encode, |_| Ok(()))
    }

    #[test]
    fn a_refused_connection() {
        each_client_strategy(|strategy| {
            let client = Orb::new(calling_by(strategy)).unwrap();
            let port = dead_port();
            let target = seen_at(&client, port);
            let begun = echo(&target);
            let call = failing(move || begun.wait().unwrap_err());
            let failure = joined(call);
            assert_eq!(failure.phase(), Phase::Connect, "{failure:#}");
            assert!(failure.address().unwrap().ends_with(&port.to_string()));
            assert!(last(&failure).contains("refused"), "{failure:#}");
        });
    }

    #[test]
    fn an_exception_of_the_server_in_a_handler() {
        let served = Served::new(orbium::config::ServerStrategy::default());
        let (_client, target) = served.client();
        let (report, reported) = mpsc::channel();
        raise(&target).on_reply(move |result| report.send(story(result.unwrap_err())).unwrap());
        let failure = reported.recv_timeout(orbium_testkit::PATIENCE).unwrap();
        assert_eq!(failure.operation, "raise_system");
        assert_eq!(failure.phase(), Phase::Wait, "{failure:#}");
        assert!(
            last(&failure).contains("raised NO_RESOURCES"),
            "{failure:#}"
        );
        served.end();
    }

    #[test]
    fn a_timeout_and_a_lost_connection() {
        let time = Duration::from_millis(200);
        let server = FakeServer::listen();
        let config = Config {
            call_timeout: Some(time),
            ..Config::default()
        };
        let client = Orb::new(config).unwrap();
        let target = seen_at(&client, server.port());
        let begun = echo(&target);
        let mut peer = server.accept();
        peer.expect_request("echo_long");
        let failure = joined(failing(move || begun.wait().unwrap_err()));
        assert_eq!(failure.exception.kind, ExceptionKind::Timeout);
        assert_eq!(failure.phase(), Phase::Wait, "{failure:#}");
        assert!(failure.elapsed >= time / 2, "{failure:#}");

        let patient = Orb::builder().build().unwrap();
        let target = seen_at(&patient, server.port());
        let begun = echo(&target);
        let mut other = server.accept();
        other.expect_request("echo_long");
        drop(other);
        let failure = joined(failing(move || begun.wait().unwrap_err()));
        assert_eq!(failure.exception.kind, ExceptionKind::CommFailure);
        assert_eq!(failure.phase(), Phase::Wait, "{failure:#}");
        assert_eq!(failure.steps[0].phase, Phase::Connect, "{failure:#}");
    }

    #[test]
    fn results_that_cannot_be_read() {
        let server = FakeServer::listen();
        let client = client();
        let target = seen_at(&client, server.port());
        let begun = echo(&target);
        let mut peer = server.accept();
        let request = peer.expect_request("echo_long");
        peer.answer(&request, |_| {});
        let failure = joined(failing(move || begun.wait().unwrap_err()));
        assert_eq!(failure.phase(), Phase::Decode, "{failure:#}");
    }

    #[test]
    fn retries_and_forwards() {
        let server = FakeServer::listen();
        let client = client();
        let target = seen_at(&client, server.port());
        let begun = echo(&target);
        for _ in 0..5 {
            let mut peer = server.accept();
            peer.expect_request("echo_long");
            peer.close();
        }
        let failure = joined(failing(move || begun.wait().unwrap_err()));
        assert_eq!(failure.retries, 4, "{failure:#}");
    }
}
