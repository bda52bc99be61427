// SPDX-License-Identifier: MIT OR Apache-2.0
//! Media over UDP and groups, found through references.

use std::net::UdpSocket;
use std::time::Duration;

use orbium::media::{
    FrameKind, MESSAGING, MediaError, MediaOptions, MediaReceiver, MediaSender, Time,
};
use orbium::{Config, ExceptionKind, ObjectRef, Orb};
use orbium_testkit::PATIENCE;

use super::picture;

const DIOP: &str = "diop://127.0.0.1:0";

fn orb() -> Orb {
    let mut config = Config::default();
    config.properties.set("multicast_interface", "lo").unwrap();
    Orb::new(config).unwrap()
}

fn bound(orb: &Orb, endpoint: &str, options: MediaOptions) -> MediaReceiver {
    let mut receiver = MediaReceiver::bind(orb, endpoint, options).unwrap();
    receiver.set_timeout(Some(PATIENCE)).unwrap();
    receiver
}

/// The reference as another ORB reads it.
fn travelled(from: &Orb, to: &Orb, receiver: &MediaReceiver) -> ObjectRef {
    let text = from.object_to_string(receiver.reference());
    to.string_to_object(&text).unwrap().expect("not nil")
}

fn now() -> Time {
    Time::Nanoseconds(40_000_000)
}

#[test]
fn a_reference_leads_to_the_receiver_under_the_policies() {
    let (here, there) = (orb(), orb());
    let options = MediaOptions {
        stream: 77,
        ..MediaOptions::default()
    };
    let mut receiver = bound(&here, DIOP, options);
    let reference = travelled(&here, &there, &receiver);
    let mut sender = MediaSender::connect(&there, &reference).unwrap();
    assert_eq!(sender.channel().messaging, [MESSAGING]);
    sender.send(FrameKind::Audio, now(), b"sound").unwrap();
    let frame = receiver.receive().unwrap();
    assert_eq!(
        (frame.header().stream, frame.payload()),
        (77, &b"sound"[..])
    );

    // Of the reference, of the thread, of the ORB.
    let refused = |outcome: Result<MediaSender, MediaError>| match outcome {
        Err(MediaError::NotOffered(offered)) => assert!(offered.contains("diop://"), "{offered}"),
        other => panic!("{other:?}"),
    };
    let allowed = reference.with_protocols("miop/media,diop/media".parse().unwrap());
    let forbidden = reference.with_protocols("diop,miop/media".parse().unwrap());
    assert!(MediaSender::connect(&there, &allowed).is_ok());
    refused(MediaSender::connect(&there, &forbidden));
    there.set_thread_protocols(Some("iiop".parse().unwrap()));
    refused(MediaSender::connect(&there, &reference));
    assert!(MediaSender::connect(&there, &allowed).is_ok());
    there.set_thread_protocols(None);
    let strict = Orb::new(Config {
        client_protocols: Some("iiop".parse().unwrap()),
        ..Config::default()
    });
    refused(MediaSender::connect(&strict.unwrap(), &reference));
}

#[test]
fn nothing_can_be_called_at_a_receiver() {
    let (here, there) = (orb(), orb());
    let receiver = bound(&here, DIOP, MediaOptions::default());
    let reference = travelled(&here, &there, &receiver);
    let exception = reference.non_existent().unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::InvPolicy);
    // Nor can frames be sent to what can be called.
    let called = there.string_to_object("corbaloc::127.0.0.1:9/x").unwrap();
    let outcome = MediaSender::connect(&there, &called.expect("not nil"));
    assert!(
        matches!(outcome, Err(MediaError::NotOffered(_))),
        "{outcome:?}"
    );
}

#[test]
fn impossible_endpoints_and_options_are_reported() {
    let orb = orb();
    let bind = |endpoint, options| MediaReceiver::bind(&orb, endpoint, options).map(drop);
    let default = MediaOptions::default();
    assert!(matches!(
        bind("diop", default),
        Err(MediaError::Endpoint(_))
    ));
    assert!(matches!(
        bind("diop://127.0.0.1:0?x=1", default),
        Err(MediaError::Endpoint(_))
    ));
    for endpoint in [
        "iiop://127.0.0.1:0",
        "none://x",
        "diop://127.0.0.1:0?messaging=giop-lite",
    ] {
        let outcome = bind(endpoint, default);
        assert!(
            matches!(outcome, Err(MediaError::Protocol(_))),
            "{endpoint}: {outcome:?}"
        );
    }
    for options in [
        MediaOptions {
            frame_size: 0,
            ..default
        },
        MediaOptions {
            frames: 0,
            ..default
        },
        MediaOptions {
            incomplete: 0,
            ..default
        },
        MediaOptions {
            frame_size: 1 << 30,
            frames: 1 << 16,
            ..default
        },
        MediaOptions {
            frame_size: usize::MAX,
            ..default
        },
    ] {
        assert!(matches!(bind(DIOP, options), Err(MediaError::Options(_))));
    }
    let open = |address| MediaSender::open(&orb, address, 0).map(drop);
    assert!(matches!(
        open("iiop://127.0.0.1:1"),
        Err(MediaError::Protocol(_))
    ));
    assert!(matches!(
        open("diop://127.0.0.1:1?messaging=x"),
        Err(MediaError::Protocol(_))
    ));
    assert!(matches!(open("diop://127.0.0.1:0"), Err(MediaError::Io(_))));
}

/// A relay that loses, doubles and holds back what it is told to.
#[test]
fn a_relay_that_loses_doubles_and_shuffles_is_seen_through() {
    let orb = orb();
    let mut receiver = bound(&orb, DIOP, MediaOptions::default());
    let channel = MediaSender::connect(&orb, receiver.reference()).unwrap();
    let to = channel.channel().address.clone();
    let relay = UdpSocket::bind("127.0.0.1:0").unwrap();
    relay.set_read_timeout(Some(PATIENCE)).unwrap();
    let at = relay.local_addr().unwrap();
    let mut sender = MediaSender::open(&orb, &format!("diop://{at}"), 0).unwrap();
    let mut room = [0; 2000];
    // Sends a frame of three datagrams and catches them.
    let mut frame = |len: usize| {
        let sequence = sender
            .send(FrameKind::Key, now(), &picture(1, len))
            .unwrap();
        let mut next = || {
            let (len, _) = relay.recv_from(&mut room).unwrap();
            room[..len].to_vec()
        };
        (sequence, [next(), next(), next()])
    };
    let pass = |datagram: &[u8]| {
        relay.send_to(datagram, &to).unwrap();
    };
    let mut arrives = |sequence, len, missing, is_late| {
        let frame = receiver.receive().unwrap();
        assert_eq!(frame.sequence(), sequence);
        assert!(*frame == picture(1, len)[..]);
        assert_eq!((frame.missing(), frame.is_late()), (missing, is_late));
    };
    // As it is; doubled; turned round.
    let (sequence, parts) = frame(4000);
    parts.iter().for_each(|part| pass(part));
    arrives(sequence, 4000, 0, false);
    let (sequence, parts) = frame(4001);
    parts.iter().for_each(|part| {
        pass(part);
        pass(part);
    });
    arrives(sequence, 4001, 0, false);
    let (sequence, parts) = frame(4002);
    parts.iter().rev().for_each(|part| pass(part));
    arrives(sequence, 4002, 0, false);
    // One part is lost; one frame is overtaken.
    let (_, parts) = frame(4003);
    parts[1..].iter().for_each(|part| pass(part));
    let (late, held_back) = frame(4004);
    let (sequence, parts) = frame(4005);
    parts.iter().for_each(|part| pass(part));
    arrives(sequence, 4005, 2, false);
    held_back.iter().for_each(|part| pass(part));
    arrives(late, 4004, 0, true);
    let statistics = receiver.statistics().stream;
    assert_eq!((statistics.frames, statistics.late), (5, 1));
    assert_eq!(statistics.duplicates, 3);
}

#[test]
fn a_group_has_many_receivers() {
    let (here, there) = (orb(), orb());
    let process = std::process::id();
    let group = format!("239.254.{}.{}", process % 256, process / 256 % 256);
    let first = bound(&here, &format!("miop://{group}:0"), MediaOptions::default());
    let reference = travelled(&here, &there, &first);
    let mut sender = MediaSender::connect(&there, &reference).unwrap();
    let at = sender.channel().address.clone();
    let mut receivers = vec![first];
    for _ in 0..2 {
        receivers.push(bound(
            &here,
            &format!("miop://{at}"),
            MediaOptions::default(),
        ));
    }
    let payload = picture(5, 20_000);
    for _ in 0..5 {
        let sequence = sender.send(FrameKind::Key, now(), &payload).unwrap();
        for receiver in &mut receivers {
            let frame = receiver.receive().unwrap();
            assert_eq!(frame.sequence(), sequence);
            assert!(*frame == payload[..]);
            assert_eq!(frame.missing(), 0);
        }
    }
    for receiver in &receivers {
        assert_eq!(receiver.statistics().stream.frames, 5);
        assert_eq!(receiver.statistics().copied, 0);
    }
}

#[test]
fn waiting_ends() {
    let orb = orb();
    let mut receiver = bound(&orb, DIOP, MediaOptions::default());
    receiver
        .set_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    assert!(matches!(receiver.receive(), Err(MediaError::TimedOut)));
    receiver.set_timeout(None).unwrap();
    let stopper = receiver.stopper();
    let waiting = orbium_testkit::spawn(move || {
        let outcome = receiver.receive();
        assert!(matches!(outcome, Err(MediaError::Ended)), "{outcome:?}");
        let again = receiver.receive();
        assert!(matches!(again, Err(MediaError::Ended)), "{again:?}");
    });
    stopper.stop();
    waiting.join().unwrap();
}

#[test]
fn an_orb_that_ended_connects_no_more() {
    let (here, there) = (orb(), orb());
    let mut receiver = bound(&here, DIOP, MediaOptions::default());
    let mut sender = MediaSender::connect(&there, receiver.reference()).unwrap();
    there.shutdown(true).unwrap();
    let outcome = MediaSender::connect(&there, receiver.reference());
    assert!(matches!(outcome, Err(MediaError::Ended)), "{outcome:?}");
    // What is there goes on.
    sender.send(FrameKind::End, now(), &[]).unwrap();
    assert_eq!(receiver.receive().unwrap().kind(), FrameKind::End);
}
