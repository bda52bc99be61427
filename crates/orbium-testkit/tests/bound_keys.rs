// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects called by a plain key: clients are sent to the whole reference, once.

use orbium::giop::{
    Ior, LocateReplyHeader, LocateStatus, MessageKind, ReplyStatus, ResponseFlags,
    Target as Addressed, Version, write_locate_request,
};
use orbium::{Config, ForwardBoundKeys, Interface, ServerStrategy};
use orbium_cdr::{ByteOrder, CdrReader, CdrWriter, Decode, Format};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    Peer, RequestLine, Served, client, each_strategy, eventually, reach, request,
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

#[test]
fn what_cannot_be_forwarded_or_must_not_is_served_where_it_arrives() {
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

/// "Žofie" could not be sent by the client of the README.
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
