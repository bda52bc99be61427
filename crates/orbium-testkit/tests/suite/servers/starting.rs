// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers that start, and managers that were never activated.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use orbium::giop::{
    LocateReplyHeader, LocateStatus, MessageKind, ReplyStatus, SystemExceptionBody,
    Target as Addressed, Version, minor, write_locate_request,
};
use orbium::{
    Completion, Config, ExceptionKind, Orb, SystemException,
    config::{Limits, ServerStrategy},
};
use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    Peer, RequestLine, TargetState, client, each_strategy, eventually, reach, request, within,
};

fn transient(minor: u32) -> SystemException {
    SystemException::orbium(ExceptionKind::Transient, minor, Completion::No)
}

fn server(strategy: ServerStrategy, limits: Limits) -> Orb {
    Orb::new(Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        strategy,
        limits,
        ..Config::default()
    })
    .unwrap()
}

fn url(orb: &Orb) -> String {
    format!("corbaloc:iiop:1.2@{}/Target", orb.addresses().unwrap()[0])
}

/// A server that listened before its keys existed answered OBJECT_NOT_EXIST, on which
/// naming services unbind.
///
/// Conformance: POA - a server that starts: TRANSIENT until a manager was activated
#[test]
fn a_server_that_starts_says_so_until_a_manager_was_activated() {
    each_strategy(|strategy| {
        let orb = server(strategy, Limits::default());
        let client = client();
        let target = reach(&client, &url(&orb));
        assert_eq!(target.noop(), Err(transient(minor::SERVER_STARTING)));
        let object: Target = orb.root_poa().activate(TargetState::default()).unwrap();
        orb.bind_key("Target", &object).unwrap();
        let unknown = reach(&client, &url(&orb).replace("Target", "Unknown"));
        assert_eq!(unknown.noop(), Err(transient(minor::SERVER_STARTING)));
        orb.root_poa().manager().activate().unwrap();
        assert_eq!(target.noop(), Ok(()));
        let gone = unknown.noop().unwrap_err();
        assert_eq!(gone.kind, ExceptionKind::ObjectNotExist);
        // Having been active is enough.
        orb.root_poa().manager().discard_requests(true).unwrap();
        assert_eq!(unknown.noop(), Err(gone));
        orb.shutdown(true).unwrap();
    });
}

/// Conformance: POA - a server that starts: TRANSIENT until a manager was activated
#[test]
fn locating_while_a_server_starts_denies_nothing() {
    each_strategy(|strategy| {
        let orb = server(strategy, Limits::default());
        let mut peer = Peer::connect(orb.addresses().unwrap()[0].port);
        let locate = |peer: &mut Peer, minor: u8| {
            let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, minor));
            let version = Version { major: 1, minor };
            write_locate_request(&mut writer, version, 9, &Addressed::Key(b"Target"));
            peer.send(&writer.finish().unwrap());
            let message = peer.expect(MessageKind::LocateReply);
            message.read(|reader| {
                let header = LocateReplyHeader::read(reader, minor).unwrap();
                let exception = (header.status == LocateStatus::SystemException)
                    .then(|| SystemExceptionBody::read(reader).unwrap());
                let minor = exception.map(|exception| exception.minor);
                (header.status, minor)
            })
        };
        let starting = transient(minor::SERVER_STARTING).minor;
        let answer = (LocateStatus::SystemException, Some(starting));
        assert_eq!(locate(&mut peer, 2), answer);
        for minor in [0, 1] {
            assert_eq!(locate(&mut peer, minor), (LocateStatus::ObjectHere, None));
        }
        let line = RequestLine {
            key: b"Target",
            minor: 0,
            ..RequestLine::new(1, "noop")
        };
        peer.send(&request(line, |_| {}));
        assert_eq!(peer.receive().reply().1, ReplyStatus::SystemException);
        orb.root_poa().manager().activate().unwrap();
        assert_eq!(locate(&mut peer, 2), (LocateStatus::UnknownObject, None));
        orb.shutdown(true).unwrap();
    });
}

/// Clients call without pause while the server is started again and again: nobody
/// hears that the object does not exist.
///
/// Conformance: POA - a server that starts: TRANSIENT until a manager was activated
#[test]
fn restarts_under_load_deny_no_object() {
    let path = std::env::temp_dir().join(format!("orbium-starting-{}", std::process::id()));
    let done = Arc::new(AtomicBool::new(false));
    let served = Arc::new(AtomicU64::new(0));
    let wrong = Arc::new(Mutex::new(Vec::new()));
    let mut callers = Vec::new();
    for _ in 0..3 {
        let url = format!("corbaloc:uiop:1.2@{}|Target", path.display());
        let (done, served, wrong) = (Arc::clone(&done), Arc::clone(&served), Arc::clone(&wrong));
        callers.push(orbium_testkit::spawn(move || {
            let client = client();
            let target = reach(&client, &url);
            while !done.load(Ordering::Acquire) {
                match target.noop() {
                    Ok(()) => {
                        served.fetch_add(1, Ordering::AcqRel);
                    }
                    Err(exception) if exception.kind == ExceptionKind::ObjectNotExist => {
                        wrong.lock().unwrap().push(exception);
                    }
                    Err(_) => thread::yield_now(),
                }
            }
        }));
    }
    for round in 0..25 {
        let orb = Orb::new(Config {
            endpoints: vec![format!("uiop://{}", path.display()).parse().unwrap()],
            ..Config::default()
        })
        .unwrap();
        // Requests arrive before anything is there.
        thread::sleep(Duration::from_millis(round % 5));
        let object: Target = orb.root_poa().activate(TargetState::default()).unwrap();
        orb.bind_key("Target", &object).unwrap();
        let before = served.load(Ordering::Acquire);
        orb.root_poa().manager().activate().unwrap();
        eventually("calls are served", || {
            served.load(Ordering::Acquire) > before
        });
        orb.shutdown(true).unwrap();
    }
    done.store(true, Ordering::Release);
    for caller in callers {
        within("a caller", move || caller.join().unwrap());
    }
    assert_eq!(*wrong.lock().unwrap(), []);
}

/// A request to an adapter whose manager was never activated hung its caller for ever.
///
/// Conformance: POA - managers: HOLDING, and how many are held - for how long
#[test]
fn a_request_is_not_held_for_ever() {
    each_strategy(|strategy| {
        let limits = Limits {
            hold_time: Some(Duration::from_millis(50)),
            ..Limits::default()
        };
        let orb = server(strategy, limits);
        let object: Target = orb.root_poa().activate(TargetState::default()).unwrap();
        let client = client();
        let target = reach(&client, &orb.object_to_string(&object));
        let call = |target: &Target| {
            let target = target.clone();
            within("a held call", move || target.noop())
        };
        assert_eq!(call(&target), Err(transient(minor::NEVER_ACTIVATED)));
        // Within the process too.
        assert_eq!(call(&object), Err(transient(minor::NEVER_ACTIVATED)));
        let manager = orb.root_poa().manager();
        manager.activate().unwrap();
        assert_eq!(call(&target), Ok(()));
        manager.hold_requests(true).unwrap();
        assert_eq!(call(&target), Err(transient(minor::HELD_TOO_LONG)));
        orb.shutdown(true).unwrap();
    });
}

/// What is held is still served once the manager is activated.
///
/// Conformance: POA - managers: HOLDING, and how many are held - for how long
#[test]
fn a_request_that_is_held_is_served_when_the_manager_is_activated() {
    let orb = server(ServerStrategy::ThreadPerConnection, Limits::default());
    let object: Target = orb.root_poa().activate(TargetState::default()).unwrap();
    let client = client();
    let target = reach(&client, &orb.object_to_string(&object));
    let call = orbium_testkit::spawn(move || target.noop());
    let manager = orb.root_poa().manager();
    eventually("the call is held", || manager.held_requests() == 1);
    assert!(!call.is_finished());
    manager.activate().unwrap();
    assert_eq!(
        within("the held call", move || call.join().unwrap()),
        Ok(())
    );
    orb.shutdown(true).unwrap();
}
