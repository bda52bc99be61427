// SPDX-License-Identifier: MIT OR Apache-2.0
//! Everything that orbium sends, read by somebody else: tshark's dissector.
//!
//! No operation here may be called `notify`: whatever its interface, tshark
//! hands a request of that name to its dissector for GIAS, which then finds
//! arguments that are none of its own malformed.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use orbium::giop::codeset::{CodeSetComponentInfo, NativeCharSet};
use orbium::giop::{LocateStatus, ReplyStatus, TaggedComponent};
use orbium::{
    Config, Interface, Orb,
    config::{GiopMinor, ServerStrategy},
};
use orbium_testkit::probe::{Pair, RefusedError, Target};
use orbium_testkit::{
    FakeServer, Peer, RequestLine, Served, eventually, locate_reply, reach, reference, request,
    within,
};

use crate::Tested;
use crate::pcap::{Capture, SERVER_PORT};
use crate::programs::{scratch_directory, tool_available};
use crate::relay::{Chunk, Relay, Side};

/// GIOP's numbers for the kinds of messages.
const REQUEST: u8 = 0;
const REPLY: u8 = 1;
const CANCEL_REQUEST: u8 = 2;
const LOCATE_REQUEST: u8 = 3;
const LOCATE_REPLY: u8 = 4;
const CLOSE_CONNECTION: u8 = 5;
const MESSAGE_ERROR: u8 = 6;
const FRAGMENT: u8 = 7;

fn target_at(client: &Orb, minor: u8, port: u16, key: &[u8]) -> Target {
    // Says which code sets are there, so that the client says which it uses.
    let components = [TaggedComponent::code_sets(&CodeSetComponentInfo::orbium(
        NativeCharSet::Latin1,
    ))];
    let reference = reference(minor, &[port], key, &components);
    reach(client, &reference.to_string())
}

/// Calls of every kind from one orbium to another.
fn calls(strategy: ServerStrategy, minor: u8, fragment_size: Option<usize>) -> Vec<Chunk> {
    let config = Config {
        strategy,
        giop_minor: GiopMinor::new(minor).expect("a version"),
        fragment_size,
        ..Config::default()
    };
    let served = Served::with(config.clone());
    let relay = Relay::before(served.port()).expect("a free port");
    let client = Orb::new(config).expect("an ORB");
    let target = target_at(&client, minor, relay.port(), b"Target");

    target.noop().unwrap();
    target.post(7).unwrap();
    assert_eq!(target.echo_octet(3), Ok(3));
    assert_eq!(target.echo_long(-5), Ok(-5));
    let pair = Pair { o: 1, l: -2 };
    assert_eq!(target.echo_pair(&pair), Ok(pair));
    assert_eq!(target.echo_string("text").as_deref(), Ok("text"));
    if minor > 0 {
        // GIOP 1.0 has no code sets, so no wide text.
        assert_eq!(target.echo_wstring("wide €").as_deref(), Ok("wide €"));
    }
    for len in [0, 1, 5000] {
        assert_eq!(target.echo_octets(&vec![9; len]), Ok(vec![9; len]));
    }
    assert!(matches!(target.refuse(4), Err(RefusedError::Refused(_))));
    assert!(target.raise_system("NO_PERMISSION").is_err());
    assert_eq!(target.as_object().non_existent(), Ok(false));
    assert_eq!(target.as_object().locate(), Ok(true));
    let nobody = target_at(&client, minor, relay.port(), b"Nobody");
    assert!(nobody.noop().is_err());
    assert_eq!(nobody.as_object().locate(), Ok(false));

    let hurried = target.with_timeout(Duration::from_millis(200));
    eventually("a request is cancelled", || {
        assert!(hurried.gate().is_err(), "the gate is closed");
        kinds(&relay.passed()).contains(&CANCEL_REQUEST)
    });
    served.state.gate.open();
    // The server ends first, and says so.
    target.noop().unwrap();
    served.end();
    client.shutdown(true).unwrap();
    relay.end()
}

/// Kinds of the messages whose headers begin a chunk.
fn kinds(chunks: &[Chunk]) -> BTreeSet<u8> {
    let headers = chunks.iter().filter(|chunk| chunk.octets.len() >= 12);
    headers.map(|chunk| chunk.octets[7]).collect()
}

/// A client that ends before its server does.
fn client_that_ends() -> Vec<Chunk> {
    let served = Served::new(ServerStrategy::default());
    let relay = Relay::before(served.port()).expect("a free port");
    let client = orbium_testkit::client();
    target_at(&client, 2, relay.port(), b"Target")
        .noop()
        .unwrap();
    client.shutdown(true).unwrap();
    let passed = relay.end();
    served.end();
    passed
}

/// What a server says to what is no message.
fn server_that_is_sent_nonsense() -> Vec<Chunk> {
    let served = Served::new(ServerStrategy::default());
    let relay = Relay::before(served.port()).expect("a free port");
    let mut peer = Peer::connect(relay.port());
    peer.send(b"GET / HTTP/1.1\r\n\r\n");
    peer.expect_end();
    drop(peer);
    let passed = relay.end();
    served.end();
    passed
}

/// What a client says to what is no message.
fn client_that_is_sent_nonsense() -> Vec<Chunk> {
    let server = FakeServer::listen();
    let relay = Relay::before(server.port()).expect("a free port");
    let client = orbium_testkit::client();
    let target = target_at(&client, 2, relay.port(), b"Target");
    let call = thread::spawn(move || target.noop());
    let mut peer = server.accept();
    peer.expect_request("noop");
    peer.send(b"HTTP/1.1 200 OK\r\n\r\n");
    peer.expect_end();
    assert!(within("the call", move || call.join().unwrap()).is_err());
    drop(peer);
    relay.end()
}

/// Requests of both sorts whose target is given by profile and by reference.
fn addressed_otherwise(mode: u16) -> Vec<Chunk> {
    let server = FakeServer::listen();
    let relay = Relay::before(server.port()).expect("a free port");
    let client = orbium_testkit::client();
    let target = target_at(&client, 2, relay.port(), b"Target");
    let call = thread::spawn(move || (target.noop(), target.as_object().locate()));
    let mut peer = server.accept();
    let request = peer.expect_request("noop");
    peer.answer_with(&request, ReplyStatus::NeedsAddressingMode, |w| {
        w.write_u16(mode);
    });
    let request = peer.expect_request("noop");
    assert_eq!(request.addressing, mode);
    peer.answer(&request, |_| {});
    let (id, addressing) = peer.receive().locate_request();
    assert_eq!(addressing, mode);
    peer.send(&locate_reply(2, id, LocateStatus::ObjectHere, |_| {}));
    let results = within("the calls", move || call.join().unwrap());
    assert_eq!(results, (Ok(()), Ok(true)));
    client.shutdown(true).unwrap();
    drop(peer);
    relay.end()
}

/// What tshark says of one packet.
struct Dissected {
    frame: u32,
    /// Empty where tshark found no such thing.
    kind: String,
    minor: String,
    operation: String,
    status: String,
    context: String,
    /// Marks of what is malformed, and complaints.
    complaints: String,
}

const FIELDS: [&str; 10] = [
    "frame.number",
    "giop.type",
    "giop.minor_version",
    "giop.request_op",
    "giop.replystatus",
    "giop.iiop.sc.scid",
    "_ws.malformed",
    "_ws.expert.severity",
    "_ws.expert.message",
    "frame.protocols",
];

/// An opening of a connection is worth a remark to tshark, but no complaint.
const REMARK: u32 = 0x0020_0000;

fn dissect(file: &Path, home: &Path) -> Result<Vec<Dissected>, Box<dyn Error>> {
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(file);
    command.args(["-d", &format!("tcp.port=={SERVER_PORT},giop")]);
    command.args(["-T", "fields", "-E", "separator=|", "-E", "aggregator=;"]);
    for field in FIELDS {
        command.args(["-e", field]);
    }
    // What a user has set up would only disturb.
    let output = command.env("HOME", home).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let mut packets = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let cells: Vec<&str> = line.split('|').collect();
        let [
            frame,
            kind,
            minor,
            operation,
            status,
            context,
            malformed,
            severity,
            said,
            layers,
        ] = cells.as_slice()
        else {
            return Err(format!("tshark said {line}").into());
        };
        let mut complaints = String::new();
        let severities = severity.split(';').filter(|text| !text.is_empty());
        let mut worst = 0;
        for text in severities {
            worst = worst.max(number(text)?);
        }
        if !malformed.is_empty() || layers.contains("malformed") || worst > REMARK {
            complaints = format!("{malformed} {said} ({layers})");
        }
        packets.push(Dissected {
            frame: frame.parse()?,
            kind: (*kind).to_owned(),
            minor: (*minor).to_owned(),
            operation: (*operation).to_owned(),
            status: (*status).to_owned(),
            context: (*context).to_owned(),
            complaints,
        });
    }
    Ok(packets)
}

/// A number in decimal or after `0x`.
fn number(text: &str) -> Result<u32, std::num::ParseIntError> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    }
}

fn everything_sent() -> Capture {
    let mut capture = Capture::new();
    let both = [Side::Client, Side::Server];
    for strategy in [
        ServerStrategy::ThreadPerConnection,
        ServerStrategy::Reactive,
        ServerStrategy::LeaderFollowers { threads: 2 },
        ServerStrategy::worker_pool(),
    ] {
        for minor in 0..=2 {
            capture.add(&calls(strategy, minor, None), &both);
        }
        capture.add(&calls(strategy, 2, Some(1024)), &both);
    }
    capture.add(&client_that_ends(), &both);
    capture.add(&server_that_is_sent_nonsense(), &[Side::Server]);
    capture.add(&client_that_is_sent_nonsense(), &[Side::Client]);
    for mode in [1, 2] {
        capture.add(&addressed_otherwise(mode), &[Side::Client]);
    }
    capture
}

/// Every kind of message is read as what it is, and nothing is complained of.
///
/// Conformance: tshark - every kind of message is read as what it is, without a complaint
#[test]
fn every_kind_of_message_is_read_by_tshark() -> Tested {
    if !tool_available("tshark") {
        return Ok(());
    }
    let directory = scratch_directory()?;
    let capture = everything_sent();
    let file = directory.join("sent.pcap");
    fs::write(&file, capture.octets())?;
    let packets = dissect(&file, &directory)?;

    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for packet in &packets {
        if !packet.complaints.is_empty() {
            wrong.push(format!("frame {}: {}", packet.frame, packet.complaints));
        }
    }
    for (frame, message) in &capture.messages {
        let Some(packet) = packets.iter().find(|packet| packet.frame == *frame) else {
            wrong.push(format!("frame {frame}: missing"));
            continue;
        };
        let (minor, kind) = (message[5], message[7]);
        if packet.kind != kind.to_string() || packet.minor != minor.to_string() {
            wrong.push(format!(
                "frame {frame}: GIOP 1.{minor} kind {kind}, taken for GIOP 1.{} kind {}",
                packet.minor, packet.kind
            ));
        }
        seen.insert((minor, kind, packet.status.clone()));
        if kind == REQUEST {
            seen.insert((minor, REQUEST, packet.operation.clone()));
            seen.insert((minor, REQUEST, format!("context {}", packet.context)));
        }
    }
    fs::remove_dir_all(&directory)?;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    all_seen(&seen);
    Ok(())
}

/// The judge is awake: a message that is wrong is complained of.
///
/// Conformance: tshark - a message that was damaged is not
#[test]
fn a_broken_message_is_not_passed_by_tshark() -> Tested {
    if !tool_available("tshark") {
        return Ok(());
    }
    let mut octets = request(RequestLine::new(1, "noop"), |_| {});
    // The length of the object key: header, id, flags and address come first.
    octets[24..28].copy_from_slice(&60_000u32.to_ne_bytes());
    let chunk = Chunk {
        connection: 0,
        from: Side::Client,
        octets,
    };
    let mut capture = Capture::new();
    capture.add(&[chunk], &[Side::Client]);
    let directory = scratch_directory()?;
    let file = directory.join("broken.pcap");
    fs::write(&file, capture.octets())?;
    let packets = dissect(&file, &directory)?;
    fs::remove_dir_all(&directory)?;
    assert!(packets.iter().any(|packet| !packet.complaints.is_empty()));
    Ok(())
}

/// Whether the capture had in it what it is about.
fn all_seen(seen: &BTreeSet<(u8, u8, String)>) {
    let expect = |minor, kind, what: &str| {
        let wanted = (minor, kind, what.to_owned());
        assert!(seen.contains(&wanted), "{wanted:?} is not among {seen:?}");
    };
    for minor in 0..=2 {
        // Twoways without and with arguments, a oneway, an implicit operation.
        for operation in ["noop", "echo_octets", "post", "refuse", "_non_existent"] {
            expect(minor, REQUEST, operation);
        }
        // No exception, a user exception, a system exception. The server
        // forwards nobody and takes every way of addressing.
        for status in ["0", "1", "2"] {
            expect(minor, REPLY, status);
        }
        for kind in [CANCEL_REQUEST, LOCATE_REQUEST, LOCATE_REPLY] {
            expect(minor, kind, "");
        }
    }
    for minor in 1..=2 {
        // The context of code sets, number 1.
        expect(minor, REQUEST, "context 0x00000001");
    }
    for kind in [CLOSE_CONNECTION, MESSAGE_ERROR, FRAGMENT] {
        expect(2, kind, "");
    }
}
