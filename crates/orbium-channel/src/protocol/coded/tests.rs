// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames over a socket.

use std::net::{TcpListener, TcpStream};

use orbium_giop::messaging::GiopLite;
use orbium_giop::{MessageHeader, MessageKind, Version};
use orbium_transport::TcpByteStream;

use super::*;

fn pair() -> (CodedStream, CodedStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    let coded = |stream, side| {
        let inner = Box::new(TcpByteStream::new(stream));
        CodedStream::new(inner, &GiopLite, side, 1 << 24, &Budget::NONE)
    };
    (coded(client, Side::Client), coded(server, Side::Server))
}

/// A message of which only the header is valid.
fn message(body: usize) -> Vec<u8> {
    let header = MessageHeader {
        version: Version::V1_2,
        order: orbium_cdr::ByteOrder::NATIVE,
        more_fragments: false,
        kind: MessageKind::Fragment,
        size: u32::try_from(body).unwrap(),
    };
    let mut octets = header.encode().to_vec();
    octets.extend((0..body).map(|i| (i % 251) as u8));
    octets
}

fn receive(stream: &CodedStream, len: usize, room: usize) -> Vec<u8> {
    let (mut received, mut room) = (Vec::new(), vec![0; room]);
    while received.len() < len {
        match stream.receive(&mut room).unwrap() {
            0 => break,
            count => received.extend_from_slice(&room[..count]),
        }
    }
    received
}

#[test]
fn messages_in_pieces_arrive_whole() {
    let (client, server) = pair();
    let message = message(100);
    for at in [1, 5, 12, 13, 60, 111] {
        let (a, b) = message.split_at(at);
        assert_eq!(client.send(a).unwrap(), a.len());
        let pieces = b.chunks(7).map(IoSlice::new).collect::<Vec<_>>();
        let mut sent = 0;
        let mut left = &pieces[..];
        while !left.is_empty() {
            let turn = client.send_vectored(left).unwrap();
            let mut counted = 0;
            while counted < turn {
                counted += left[0].len();
                left = &left[1..];
            }
            sent += turn;
        }
        assert_eq!(sent, b.len());
        assert_eq!(receive(&server, message.len(), 9), message);
    }
}

#[test]
fn a_message_that_had_to_wait_is_sent_once() {
    let (client, server) = pair();
    client.set_nonblocking(true).unwrap();
    let first = message(12 << 20);
    let second = message(10);
    // Like a sender that keeps the unsent rest and appends to it.
    let both = [&first[..], &second].concat();
    let mut kept = &first[..];
    let mut waited = false;
    let reader = std::thread::scope(|scope| {
        let mut reader = None;
        let mut all_given = false;
        loop {
            match client.send(kept) {
                Ok(sent) => {
                    kept = &kept[sent..];
                    if kept.is_empty() {
                        break;
                    }
                }
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                    assert!(client.begun() > 0, "its octets may be left out");
                    waited = true;
                    if !all_given {
                        (all_given, kept) = (true, &both);
                    }
                    let reader = reader.get_or_insert_with(|| {
                        scope.spawn(|| receive(&server, both.len(), 1 << 16))
                    });
                    assert!(!reader.is_finished(), "nothing is read any more");
                    std::thread::yield_now();
                }
            }
        }
        reader.map(|reader| reader.join().unwrap())
    });
    assert!(waited && client.begun() == 0);
    assert!(reader.unwrap() == both);
}

/// It reported more octets than it was given: a caller that left a message out panicked.
#[test]
fn a_send_that_leaves_out_what_has_begun_is_refused() {
    let (client, _server) = pair();
    client.set_nonblocking(true).unwrap();
    let first = client.send(&message(12 << 20)).unwrap_err();
    let other = client.send(&message(10)).unwrap_err();
    assert_eq!(first.kind(), io::ErrorKind::WouldBlock);
    assert_eq!(other.kind(), io::ErrorKind::InvalidInput);
}

/// Regression: the error said that a message was too large, but not the limit.
#[test]
fn a_message_beyond_the_limit_names_it() {
    let (client, server) = pair();
    let sent = client.send(&message((1 << 24) + 1)).unwrap_err();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let inner = Box::new(TcpByteStream::new(listener.accept().unwrap().0));
    let small = CodedStream::new(inner, &GiopLite, Side::Server, 64, &Budget::NONE);
    // A frame of 127 octets.
    let head = [0x9a, 0, 0, 0, 7, 0, 0, 0, 115, 0, 0, 0];
    io::Write::write_all(&mut peer, &head).unwrap();
    let received = small.receive(&mut [0; 64]).unwrap_err();
    let says = "message too large, limit 16,777,216 bytes (`limits.message_size`)";
    assert_eq!(sent.to_string(), says);
    let says = "message too large, limit 64 bytes (`limits.message_size`)";
    assert_eq!(received.to_string(), says);
    drop(server);
}

#[test]
fn garbage_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let inner = Box::new(TcpByteStream::new(listener.accept().unwrap().0));
    let server = CodedStream::new(inner, &GiopLite, Side::Server, 1 << 10, &Budget::NONE);
    io::Write::write_all(&mut client, &[0xff; 64]).unwrap();
    let error = server.receive(&mut [0; 64]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}
