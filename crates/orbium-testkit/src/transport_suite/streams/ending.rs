// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ends of streams: orderly, of one direction, and abrupt.

use std::io;
use std::net::Shutdown;
use std::sync::Arc;

use orbium_transport::{ByteStream, Endpoint, HostPort};

use crate::peer::receive_patiently;
use crate::transport_suite::Subject;
use crate::transport_suite::child::{Process, linger, say};
use crate::transport_suite::ends::{
    Ends, accept, connect, expect_end, from_either_end, is_final, pattern, receive_all, send_all,
    welcome,
};
use crate::waiting::within;

/// Octets of a message of which half is sent. Any stream buffers that.
const MESSAGE: usize = 16_000;

fn half_closed(ends: Ends) {
    let Ends { server, client } = ends;
    within("half an end", move || {
        send_all(&*client, b"a question").expect("a connection");
        client.shutdown(Shutdown::Write);
        assert_eq!(receive_all(&*server, 10, 3), b"a question");
        expect_end(&*server);
        // The end is permanent.
        expect_end(&*server);
        assert!(client.send(b"more").is_err(), "sends after its end");
        // The other direction remains usable.
        let answer = pattern(0, 1 << 20);
        let sender = {
            let (server, answer) = (Arc::clone(&server), answer.clone());
            std::thread::spawn(move || {
                send_all(&*server, &answer).expect("a connection");
                server.shutdown(Shutdown::Write);
            })
        };
        assert!(receive_all(&*client, answer.len(), 1 << 16) == answer);
        expect_end(&*client);
        sender.join().expect("the answer");
    });
}

/// After the client has ended its sending, the server reads the end, and can still reply.
///
/// Conformance: streams - ends: half, whole, sudden; processes killed
pub fn the_client_may_end_its_sending_first(subject: &Subject) {
    half_closed(Ends::new(subject));
}

/// The same in the opposite direction.
///
/// Conformance: streams - ends: half, whole, sudden; processes killed
pub fn the_server_may_end_its_sending_first(subject: &Subject) {
    half_closed(Ends::new(subject).swapped());
}

/// A stream that was dropped behind the last octet still delivers all of them, and then the end.
///
/// Conformance: streams - ends: half, whole, sudden; processes killed
pub fn octets_sent_before_the_end_arrive(subject: &Subject) {
    for len in [1, 1000, 8000] {
        from_either_end(subject, |Ends { server, client }| {
            send_all(&*client, &pattern(0, len)).expect("a connection");
            client.shutdown(Shutdown::Write);
            drop(client);
            assert!(receive_all(&*server, len, 4096) == pattern(0, len));
            expect_end(&*server);
        });
    }
}

/// Receives at most half a message, and then an end or an error, without blocking forever.
fn expect_half(stream: &dyn ByteStream) {
    let mut received = Vec::new();
    let mut room = [0; 4096];
    loop {
        match receive_patiently(stream, &mut room) {
            Ok(0) => break,
            Ok(count) => received.extend_from_slice(&room[..count]),
            Err(error) => {
                assert!(is_final(&error), "the stream does not end: {error}");
                break;
            }
        }
    }
    let expected = pattern(0, MESSAGE / 2);
    assert!(
        received == expected,
        "{} of {} octets, or others",
        received.len(),
        expected.len()
    );
}

/// A peer that drops its stream within a message is detected behind its sent octets.
///
/// Conformance: streams - ends: half, whole, sudden; processes killed
pub fn a_stream_dropped_in_mid_message_ends_for_its_peer(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        within("the end", move || {
            let reader = std::thread::spawn(move || expect_half(&*server));
            send_all(&*client, &pattern(0, MESSAGE / 2)).expect("a connection");
            drop(client);
            reader.join().expect("half a message");
        });
    });
}

fn expect_refusal(stream: &dyn ByteStream) {
    // The loss of octets in transit is not detected immediately.
    let octets = pattern(0, 1 << 16);
    for _ in 0..2000 {
        match stream.send(&octets) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                assert!(is_final(&error), "waits for a dead peer: {error}");
                return;
            }
        }
    }
    panic!("octets for a dead peer are taken for ever");
}

/// Sending to a peer that has ended results in an error, not in a signal or a deadlock, and so does
/// every further attempt.
///
/// Conformance: streams - ends: half, whole, sudden; processes killed
pub fn sending_to_a_peer_that_is_gone_is_an_error(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        within("sends to nobody", move || {
            drop(server);
            expect_refusal(&*client);
            expect_refusal(&*client);
        });
    });
}

/// A process that is killed within a message ends the stream for the server: both receives and
/// sends detect it.
///
/// Conformance: streams - ends: half, whole, sudden; processes killed
pub fn a_client_killed_in_mid_message_ends_for_the_server(subject: &Subject) {
    let acceptor = subject.listen();
    let role = format!("connect {}", acceptor.address());
    let Some(mut client) = Process::start(subject, &role) else {
        return;
    };
    let stream = accept(&*acceptor);
    welcome(&*stream);
    assert_eq!(client.said(), "sent");
    client.kill();
    within("the end of a killed client", move || {
        expect_half(&*stream);
        expect_refusal(&*stream);
    });
}

/// The same for a client that is blocked when its server is killed.
///
/// Conformance: streams - ends: half, whole, sudden; processes killed
pub fn a_server_killed_in_mid_message_ends_for_the_client(subject: &Subject) {
    let Some(mut server) = Process::start(subject, "listen") else {
        return;
    };
    let at: Endpoint = server.said().parse().expect("an endpoint");
    let address = server.said();
    let stream = connect(&*subject.connector(&address));
    assert_eq!(server.said(), "sent");
    let blocked = {
        let stream = Arc::clone(&stream);
        std::thread::spawn(move || expect_half(&*stream))
    };
    server.kill();
    within("the end of a killed server", move || {
        blocked.join().expect("half a message");
        expect_refusal(&*stream);
    });
    // The server has ended, whatever remains of the process.
    let connector = subject.connector(&address);
    assert!(
        within("connect to a killed server", move || {
            crate::transport_suite::ends::try_connect(&*connector).is_err()
        }),
        "a dead server answers"
    );
    // The remains of the process do not prevent another one from listening there.
    let again = subject.try_listen(&at);
    // A port may have been taken by another process.
    let has_port = address.parse::<HostPort>().is_ok_and(|at| at.port != 0);
    assert!(again.is_ok() || has_port, "cannot listen again: {again:?}");
}

/// The actions of the client before it is killed.
pub(in crate::transport_suite) fn connect_and_send_half(subject: &Subject, address: &str) {
    let stream = connect(&*subject.connector(address));
    send_all(&*stream, &pattern(0, MESSAGE / 2)).expect("a connection");
    say("sent");
    linger();
}

/// The actions of the server before it is killed.
pub(in crate::transport_suite) fn listen_and_send_half(subject: &Subject) {
    let (acceptor, at) = subject.listen_somewhere();
    say(&at.to_string());
    say(acceptor.address());
    let stream = accept(&*acceptor);
    welcome(&*stream);
    send_all(&*stream, &pattern(0, MESSAGE / 2)).expect("a connection");
    say("sent");
    linger();
}
