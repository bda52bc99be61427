// SPDX-License-Identifier: MIT OR Apache-2.0
//! Somebody between the peers: what arrives is what was sent, up to where it was
//! damaged, however the stream is cut.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use orbium_tls::{Tls, TlsStream};
use orbium_transport::{Acceptor, ByteStream};

use crate::realm::{About, Realm, accept, connect_with, each_version, listen_with, only};

/// Octets of data sent, in two messages.
const SIZE: usize = 40_000;

/// What becomes of the client's ciphertext, counted from its first octet.
#[derive(Clone, Copy, Debug)]
enum Harm {
    None,
    /// A bit of that octet is turned.
    Flip(usize),
    /// Nothing comes from there on, not even the rest of a record.
    Cut(usize),
    /// That octet comes twice.
    Double(usize),
}

/// Carries `from` to `to` in pieces of that many octets.
fn carry(mut from: TcpStream, mut to: TcpStream, piece: usize, harm: Harm) {
    let (mut room, mut carried) = (vec![0; piece], 0);
    while let Ok(count @ 1..) = from.read(&mut room) {
        let mut octets = room[..count].to_vec();
        let within = |at: usize| {
            (carried..carried + count)
                .contains(&at)
                .then(|| at - carried)
        };
        match harm {
            Harm::None => {}
            Harm::Flip(at) => {
                if let Some(at) = within(at) {
                    octets[at] ^= 0x10;
                }
            }
            Harm::Cut(at) => octets.truncate(at.saturating_sub(carried)),
            Harm::Double(at) => {
                if let Some(at) = within(at) {
                    octets.insert(at, octets[at]);
                }
            }
        }
        carried += count;
        if to.write_all(&octets).is_err() || octets.is_empty() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

fn sent() -> Vec<u8> {
    (0..SIZE).map(|number| (number % 251) as u8).collect()
}

/// What the server receives, and whether an orderly end came behind it.
fn received(server: &TlsStream) -> (Vec<u8>, bool) {
    let (mut all, mut room) = (Vec::new(), [0; 1000]);
    loop {
        match server.receive(&mut room) {
            Ok(0) => return (all, true),
            Ok(count) => all.extend_from_slice(&room[..count]),
            Err(_) => return (all, false),
        }
    }
}

/// A client that sends to a server through somebody between.
fn through(client: &Tls, server: &Tls, piece: usize, harm: Harm) -> (Vec<u8>, bool) {
    let acceptor = listen_with(server, &Default::default());
    let between = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = between.local_addr().unwrap().to_string();
    let onwards = acceptor.address().to_string();
    thread::scope(|scope| {
        scope.spawn(move || {
            let client = between.accept().unwrap().0;
            let server = TcpStream::connect(onwards).unwrap();
            let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
            let answers = thread::spawn(|| carry(back.0, back.1, 4096, Harm::None));
            carry(client, server, piece, harm);
            answers.join().unwrap();
        });
        scope.spawn(move || {
            // A handshake that is harmed fails, as does what is sent after the
            // server has noticed.
            if let Ok(stream) = connect_with(client, &address, &Default::default()) {
                let octets = sent();
                let (small, large) = octets.split_at(100);
                let done = stream.send(small).and_then(|_| stream.send(large));
                drop(done);
            }
        });
        let server = accept(&acceptor);
        received(&server)
    })
}

#[test]
fn received_octets_are_the_beginning_of_those_sent() {
    let realm = Realm::new("authority");
    each_version(|version| {
        let server = Tls::new(only(realm.config(&About::named("server")), version)).unwrap();
        let client = Tls::new(only(realm.trusting(), version)).unwrap();
        for piece in [3, 1400, 16_384] {
            let (all, orderly) = through(&client, &server, piece, Harm::None);
            assert!(all == sent() && orderly, "in pieces of {piece}");
        }
        let (mut some, mut none) = (0, 0);
        for number in 0..24 {
            // From the handshake to the last record.
            let at = 150 + number * (SIZE / 24);
            for harm in [Harm::Flip(at), Harm::Cut(at), Harm::Double(at)] {
                let (all, _) = through(&client, &server, 3000, harm);
                assert!(sent().starts_with(&all), "{version:?}, {harm:?}");
                assert!(all.len() < SIZE, "{version:?}, {harm:?}");
                match all.len() {
                    0 => none += 1,
                    _ => some += 1,
                }
            }
        }
        assert!(
            some > 0 && none > 0,
            "{some} streams with data, {none} without"
        );
    });
}
