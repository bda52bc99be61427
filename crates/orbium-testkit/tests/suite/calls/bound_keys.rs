// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects called by a plain key: clients are sent to the whole reference, once.

use orbium::giop::{
    Ior, LocateReplyHeader, LocateStatus, MessageKind, ReplyStatus, ResponseFlags,
    Target as Addressed, Version, write_locate_request,
};
use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb,
    asynchronous::Asynchronous,
    config::{ForwardBoundKeys, ServerStrategy},
    policy::RebindMode,
};
use orbium_cdr::{ByteOrder, CdrReader, CdrWriter, Decode, Encode, Format};
use orbium_core::Operation;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Peer, RequestLine, Served, calling_by, client, each_client_strategy, each_strategy,
    eventually, locate_reply, reach, reference, request, within,
};

/// A server whose object is bound under `Whole`, forwarding as by default.
fn serving(strategy: ServerStrategy) -> Served {
    let served = Served::new(strategy);
    served.orb.bind_key("Whole", &served.target).unwrap();
    served
}

/// A request for `echo_long(7)`, or one without arguments.
fn call(peer: &mut Peer, minor: u8, key: &[u8]) -> (ReplyStatus, Vec<u8>) {
    let line = RequestLine {
        key,
        minor,
        ..RequestLine::new(1, "echo_long")
    };
    peer.send(&request(line, |w| w.write_u32(7)));
    let (_, status, body) = peer.receive().reply();
    (status, body)
}

fn forwarded_to(mut body: Vec<u8>, minor: u8) -> Ior {
    let format = Format::plain(ByteOrder::NATIVE, minor);
    Ior::decode(&mut CdrReader::new(&mut body, format)).unwrap()
}

/// A client that knew a server by address and plain key spoke ISO 8859-1 for ever.
///
/// Conformance: replies - LOCATION_FORWARD and OBJECT_FORWARD by the server: from a bound key to
/// the whole reference, once
#[test]
fn a_client_is_sent_to_the_whole_reference_once() {
    each_strategy(|strategy| {
        let served = serving(strategy);
        let whole = served.target.as_object().ior().clone();
        let mut peer = Peer::connect(served.port());
        for minor in [0, 1, 2] {
            let (status, body) = call(&mut peer, minor, b"Whole");
            assert_eq!(status, ReplyStatus::LocationForward);
            let to = forwarded_to(body, minor);
            assert_eq!(to, whole);
            assert_eq!(served.state.calls(), u64::from(minor));
            // Its key is the object's own, which is served.
            let key = to.profiles[0].object_key().unwrap();
            let (status, body) = call(&mut peer, minor, &key);
            assert_eq!(status, ReplyStatus::NoException);
            assert_eq!(&body[body.len() - 4..], 7u32.to_ne_bytes());
        }
        served.end();
    });
}

/// Conformance: replies - LOCATION_FORWARD and OBJECT_FORWARD by the server: from a bound key to
/// the whole reference, once
#[test]
fn locating_a_bound_key_gives_the_whole_reference() {
    each_strategy(|strategy| {
        let served = serving(strategy);
        let mut peer = Peer::connect(served.port());
        for minor in [0, 1, 2] {
            let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, minor));
            let version = Version { major: 1, minor };
            write_locate_request(&mut writer, version, 9, &Addressed::Key(b"Whole"));
            peer.send(&writer.finish().unwrap());
            let message = peer.expect(MessageKind::LocateReply);
            message.read(|reader| {
                let header = LocateReplyHeader::read(reader, minor).unwrap();
                assert_eq!(header.status, LocateStatus::ObjectForward);
                let to = Ior::decode(reader).unwrap();
                assert_eq!(to, *served.target.as_object().ior());
            });
        }
        served.end();
    });
}

/// Conformance: replies - LOCATION_FORWARD and OBJECT_FORWARD by the server: from a bound key to
/// the whole reference, once
#[test]
fn requests_that_cannot_or_must_not_be_forwarded_are_served_where_they_arrive() {
    each_strategy(|strategy| {
        let served = serving(strategy);
        let mut peer = Peer::connect(served.port());
        // Nobody would hear of it.
        let oneway = RequestLine {
            key: b"Whole",
            response: ResponseFlags::None,
            ..RequestLine::new(2, "post")
        };
        peer.send(&request(oneway, |w| w.write_u32(1)));
        eventually("the oneway is served", || served.state.calls() == 1);
        // Bound so that it is not, which is what the others here do.
        let (status, _) = call(&mut peer, 2, b"Target");
        assert_eq!(status, ReplyStatus::NoException);
        // Within the process.
        let url = format!("corbaloc::127.0.0.1:{}/Whole", served.port());
        assert_eq!(reach(&served.orb, &url).echo_long(3), Ok(3));
        // Unknown keys are no objects.
        let (status, _) = call(&mut peer, 2, b"Nowhere");
        assert_eq!(status, ReplyStatus::SystemException);
        served.end();
        // Turned off.
        let served = Served::with(Config {
            strategy,
            forward_bound_keys: ForwardBoundKeys(false),
            ..Config::default()
        });
        served.orb.bind_key("Whole", &served.target).unwrap();
        let mut peer = Peer::connect(served.port());
        let (status, _) = call(&mut peer, 2, b"Whole");
        assert_eq!(status, ReplyStatus::NoException);
        served.end();
    });
}

/// Regression: the LocateRequest for the code sets of an object was an exception to RebindPolicy: its
/// forward was followed.
#[test]
fn a_forward_with_the_code_sets_is_followed_where_the_policy_permits_it() {
    let served = serving(ServerStrategy::default());
    let url = format!("corbaloc::127.0.0.1:{}/Whole", served.port());
    for rebind in [RebindMode::NoRebind, RebindMode::NoReconnect] {
        let client = client();
        let target = reach(&client, &url).with_rebind(rebind);
        let refused = target.echo_string("漢字").unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::Rebind, "{rebind:?}");
    }
    assert_eq!(served.state.calls(), 0);
    served.end();
}

/// "Žofie" could not be sent by the client of the README.
///
/// Conformance: replies - LOCATION_FORWARD and OBJECT_FORWARD by the server: from a bound key to
/// the whole reference, once
#[test]
fn a_client_of_ours_sends_any_text_by_a_corbaloc() {
    each_strategy(|strategy| {
        let served = serving(strategy);
        let client = client();
        for version in ["1.0", "1.1", "1.2"] {
            let port = served.port();
            let url = format!("corbaloc:iiop:{version}@127.0.0.1:{port}/Whole");
            // This asks the server, and is sent on.
            let target: Target = orbium::narrow(client.string_to_object(&url).unwrap()).unwrap();
            for _ in 0..2 {
                assert_eq!(target.echo_string("Žofie, 漢字").unwrap(), "Žofie, 漢字");
                assert_eq!(target.echo_wstring("Žofie, 漢字").unwrap(), "Žofie, 漢字");
            }
            target.post(5).unwrap();
        }
        eventually("the oneways are served", || {
            served.state.posted() == [5, 5, 5]
        });
        served.end();
    });
}

/// Whoever is on the same host goes by what the whole reference offers there.
///
/// Conformance: replies - LOCATION_FORWARD and OBJECT_FORWARD by the server: from a bound key to
/// the whole reference, once
#[test]
fn the_forward_leads_to_a_nearer_protocol() {
    let path = std::env::temp_dir().join(format!("orbium-bound-{}", std::process::id()));
    let served = Served::with(Config {
        endpoints: vec![
            "iiop://127.0.0.1:0".parse().unwrap(),
            format!("uiop://{}", path.display()).parse().unwrap(),
        ],
        ..Config::default()
    });
    served.orb.bind_key("Whole", &served.target).unwrap();
    served.state.on_act(|call, _| {
        let peer = call.peer().map(ToString::to_string).unwrap_or_default();
        Ok(i32::from(peer.contains("127.0.0.1")))
    });
    let client = client();
    let port = served.port();
    let target = reach(&client, &format!("corbaloc::127.0.0.1:{port}/Whole"));
    assert_eq!(target.act(0), Ok(0), "over TCP still");
    served.end();
    assert!(!path.exists());
}

/// The object as its server is reached by address and plain key, in GIOP 1.2.
fn by_key(served: &Served, client: &Orb, key: &str) -> Target {
    let at = format!("127.0.0.1:{}", served.port());
    reach(client, &format!("corbaloc:iiop:1.2@{at}/{key}"))
}

// The first request of a client that knew no more than address and key could not carry
// text beyond ISO 8859-1, nor wide text: DATA_CONVERSION, or INV_OBJREF.
/// Conformance: replies - LOCATION_FORWARD and OBJECT_FORWARD by the server: from a bound key to
/// the whole reference, once
#[test]
fn the_first_request_carries_any_text() {
    static ECHO_STRING: Operation = Operation::new("echo_string");
    each_client_strategy(|strategy| {
        let served = serving(ServerStrategy::default());
        let text = "Žofie";
        let fresh = || Orb::new(calling_by(strategy)).unwrap();
        let client = fresh();
        let target = by_key(&served, &client, "Whole");
        assert_eq!(target.echo_string(text).as_deref(), Ok(text));
        assert_eq!(served.state.calls(), 1);
        // A URL that names no version means GIOP 1.0, which has no wide text at all.
        let client = fresh();
        let url = format!("corbaloc::127.0.0.1:{}/Whole", served.port());
        let target = reach(&client, &url);
        assert_eq!(target.echo_wstring(text).as_deref(), Ok(text));
        // Without waiting.
        let client = fresh();
        let target = by_key(&served, &client, "Whole");
        let called: Asynchronous<String> = target.as_object().call_async(
            &ECHO_STRING,
            text.to_owned(),
            |text, writer| text.as_str().encode(writer),
            String::decode,
        );
        let echoed = within("the call", || called.wait());
        assert_eq!(echoed.as_deref(), Ok(text));
        // What its server learns of it is the text alone: nothing else was served.
        assert_eq!(served.state.calls(), 3);
        served.end();
    });
}

/// Conformance: replies - LOCATION_FORWARD and OBJECT_FORWARD by the server: from a bound key to
/// the whole reference, once
#[test]
fn a_oneway_that_comes_first_carries_any_text() {
    static POUR: Operation = Operation::oneway("pour");
    each_strategy(|strategy| {
        let served = serving(strategy);
        let client = client();
        let object = by_key(&served, &client, "Whole").as_object().clone();
        // As octets, the text is what UTF-8 makes of it.
        let sent = object.send(&POUR, |writer| "Žofie".encode(writer));
        assert_eq!(sent, Ok(()));
        eventually("the oneway is served", || served.state.calls() == 1);
        served.end();
    });
}

/// Conformance: replies - LOCATION_FORWARD and OBJECT_FORWARD by the server: from a bound key to
/// the whole reference, once
#[test]
fn text_that_nothing_can_carry_is_refused_all_the_same() {
    each_client_strategy(|strategy| {
        // A server that does not forward.
        let served = Served::with(Config {
            forward_bound_keys: ForwardBoundKeys(false),
            ..Config::default()
        });
        served.orb.bind_key("Whole", &served.target).unwrap();
        let client = Orb::new(calling_by(strategy)).unwrap();
        let target = by_key(&served, &client, "Whole");
        for _ in 0..2 {
            let exception = target.echo_string("Žofie").unwrap_err();
            assert_eq!(exception.kind, ExceptionKind::DataConversion);
            assert_eq!(exception.completed, Completion::No);
            let text = format!("{exception:#}");
            assert!(text.contains("transmission code set"), "{text}");
        }
        assert_eq!(target.echo_string("Zofie").as_deref(), Ok("Zofie"));
        assert_eq!(served.state.calls(), 1);
        served.end();
    });
    // One that forwards in a circle.
    let server = FakeServer::listen();
    let client = client();
    let url = format!("corbaloc:iiop:1.2@127.0.0.1:{}/x", server.port());
    let target = reach(&client, &url);
    let call = orbium_testkit::spawn(move || target.echo_string("Žofie"));
    let mut peer = server.accept();
    let to = reference(2, &[server.port()], b"x", &[]);
    // Sixteen are followed (`limits.forwards`).
    for _ in 0..17 {
        let (id, _) = peer.expect(MessageKind::LocateRequest).locate_request();
        let forward = locate_reply(2, id, LocateStatus::ObjectForward, |writer| {
            to.encode(writer);
        });
        peer.send(&forward);
    }
    let exception = within("the call", move || call.join().unwrap()).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::DataConversion);
}
