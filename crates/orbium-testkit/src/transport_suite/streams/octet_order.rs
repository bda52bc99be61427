// SPDX-License-Identifier: MIT OR Apache-2.0
//! Octets arrive once and in order, however they are sent and received.

use std::io::{self, IoSlice};
use std::sync::Arc;
use std::thread;

use orbium_sys::Interest;
use orbium_transport::ByteStream;

use crate::held_octets;
use crate::transport_suite::Subject;
use crate::transport_suite::ends::{
    Ends, MAX_TAKEN, await_change, fill, from_either_end, is_full, pattern, receive_all, send_all,
    send_all_pieces,
};
use crate::waiting::within;

/// Sent octet by octet, and received in a buffer of one octet.
///
/// Conformance: streams - octets arrive once and in order
pub fn a_message_in_single_octets_arrives(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        let message = pattern(0, 2000);
        let len = message.len();
        let reader = {
            let server = Arc::clone(&server);
            thread::spawn(move || receive_all(&*server, len, 1))
        };
        for octet in &message {
            send_all(&*client, &[*octet]).expect("a connection");
        }
        assert_eq!(reader.join().expect("the octets"), message);
        send_all(&*server, &message).expect("a connection");
        assert_eq!(receive_all(&*client, len, 1), message);
    });
}

/// Sent in two parts, split at every position, and received in parts too.
///
/// Conformance: streams - octets arrive once and in order
pub fn a_message_split_at_every_octet_arrives(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        let message = pattern(0, 150);
        for cut in 0..=message.len() {
            send_all(&*client, &message[..cut]).expect("a connection");
            send_all(&*client, &message[cut..]).expect("a connection");
            let mut received = receive_all(&*server, cut, message.len());
            received.extend(receive_all(&*server, message.len() - cut, 64));
            assert_eq!(received, message, "cut at {cut}");
        }
    });
}

/// Pieces of all sizes, empty ones too, and more of them than one call accepts.
///
/// Conformance: streams - octets arrive once and in order
pub fn pieces_arrive_in_order(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        for count in [1, 2, 16, 17, 1100] {
            let pieces: Vec<Vec<u8>> = (0..count)
                .map(|number| pattern(number * 31, number * 7 % 50))
                .collect();
            let whole = pieces.concat();
            let len = whole.len();
            let reader = {
                let server = Arc::clone(&server);
                thread::spawn(move || receive_all(&*server, len, 1000))
            };
            let mut slices: Vec<_> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
            // The kernel accepts 1024 at a time, and the core sends 16.
            for slices in slices.chunks_mut(1024) {
                send_all_pieces(&*client, slices).expect("a connection");
            }
            assert_eq!(reader.join().expect("the octets"), whole, "{count} pieces");
        }
    });
}

/// Tries to send the pattern from `place` on; returns the number of accepted octets.
fn try_send(stream: &dyn ByteStream, place: usize, end: usize, in_pieces: bool) -> usize {
    // The octets are at another address in each attempt.
    let octets = pattern(place, (end - place).min(100_000));
    let (first, rest) = octets.split_at(octets.len() / 3);
    let sent = if in_pieces {
        stream.send_vectored(&[IoSlice::new(first), IoSlice::new(rest)])
    } else {
        stream.send(&octets)
    };
    match sent {
        Ok(0) => panic!("nothing was taken, and no reason given"),
        Ok(sent) => sent,
        Err(error) if is_full(&error) || error.kind() == io::ErrorKind::Interrupted => 0,
        Err(error) => panic!("after {place} octets: {error}"),
    }
}

fn repeat_sends(ends: Ends, in_pieces: impl Fn(usize) -> bool + Send + 'static) {
    let Ends { server, client } = ends;
    client.set_nonblocking(true).expect("a stream");
    within("a send that is repeated", move || {
        // Until no more is accepted, in repeated attempts.
        let mut sent = fill(&*client, 0);
        for attempt in 0..20 {
            sent += try_send(&*client, sent, sent + 100_000, in_pieces(attempt));
        }
        let whole = 2 * sent + (4 << 20);
        let reader = thread::spawn(move || {
            let mut place = 0;
            while place < whole {
                let step = (whole - place).min(1 << 18);
                let received = receive_all(&*server, step, step);
                assert!(received == pattern(place, step), "other octets at {place}");
                place += step;
            }
            server
        });
        let mut attempt = 0;
        while sent < whole {
            attempt += 1;
            match try_send(&*client, sent, whole, in_pieces(attempt)) {
                0 => await_change(&*client, Interest::Write),
                taken => sent += taken,
            }
        }
        let server = reader.join().expect("all octets");
        // There are no further octets.
        server.set_nonblocking(true).expect("a stream");
        let more = server.receive(&mut [0; 16]);
        assert!(
            more.as_ref().is_err_and(is_full),
            "more than was sent: {more:?}"
        );
    });
}

/// After `WouldBlock` the same octets are sent again, and each arrives once.
///
/// Conformance: streams - octets arrive once and in order
pub fn a_send_that_would_block_is_repeated(subject: &Subject) {
    from_either_end(subject, |ends| repeat_sends(ends, |_| false));
}

/// After `WouldBlock` the same octets are sent again, alternately in one buffer or in several, and
/// each arrives once.
///
/// Conformance: streams - octets arrive once and in order
pub fn a_send_that_would_block_is_repeated_in_pieces(subject: &Subject) {
    from_either_end(subject, |ends| {
        repeat_sends(ends, |attempt| attempt % 3 != 1);
    });
}

/// After `WouldBlock` other octets are sent, unless the stream says that it has begun with those.
///
/// Conformance: streams - octets arrive once and in order
pub fn a_send_that_has_not_begun_may_be_left_out(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        client.set_nonblocking(true).expect("a stream");
        within("a send after one that had no room", move || {
            let sent = fill(&*client, 0);
            let next = if client.begun() > 0 { sent } else { sent + 1 };
            let reader = thread::spawn(move || {
                assert!(receive_all(&*server, sent, 1 << 16) == pattern(0, sent));
                let others = receive_all(&*server, 100_000, 1 << 16);
                assert!(
                    others == pattern(next, 100_000),
                    "other octets than were sent"
                );
            });
            let mut place = next;
            while place < next + 100_000 {
                match try_send(&*client, place, next + 100_000, false) {
                    0 => await_change(&*client, Interest::Write),
                    taken => place += taken,
                }
            }
            assert_eq!(client.begun(), 0, "all is sent");
            reader.join().expect("all octets");
        });
    });
}

/// A blocking stream accepts the octets that fit its buffers, none if it cannot do that without
/// blocking, and the rest is sent as usual.
///
/// Conformance: streams - octets arrive once and in order
pub fn sends_at_once_never_block_and_arrive_in_order(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        within("sends at once", move || {
            let mut sent = 0;
            loop {
                match client.send_at_once(&pattern(sent, 50_000)) {
                    Ok(taken) => sent += taken,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => panic!("{error}"),
                }
                assert!(sent < MAX_TAKEN, "{sent} octets were taken");
            }
            let whole = sent + 100_000;
            let reader = thread::spawn(move || {
                assert!(receive_all(&*server, whole, 1 << 16) == pattern(0, whole));
            });
            send_all(&*client, &pattern(sent, whole - sent)).expect("the rest");
            reader.join().expect("all octets");
        });
    });
}

/// One thread drives both ends, so all intermediate states occur: a full stream from which few
/// octets are read at a time.
///
/// Conformance: streams - octets arrive once and in order
pub fn a_reader_that_takes_little_by_little_gets_everything(subject: &Subject) {
    from_either_end(subject, |ends| {
        ends.set_nonblocking();
        let Ends { server, client } = ends;
        within("the exchange", move || {
            let (mut sent, mut received) = (0, 0);
            // The buffered amount is large at first; then it decreases.
            let whole = fill(&*client, 0) + (1 << 20);
            let mut room = vec![0; 70_000];
            sent += whole - (1 << 20);
            for round in 0_usize.. {
                if received == whole {
                    break;
                }
                let step = [1, 13, 4096, 70_000, 333][round % 5];
                match server.receive(&mut room[..step]) {
                    Ok(0) => panic!("ended after {received} octets"),
                    Ok(count) => {
                        assert!(
                            room[..count] == pattern(received, count),
                            "other octets at {received}"
                        );
                        received += count;
                    }
                    Err(error) if is_full(&error) => {
                        assert_ne!(sent, received, "and yet {whole} are to be sent");
                        await_change(&*server, Interest::Read);
                    }
                    Err(error) => panic!("after {received} octets: {error}"),
                }
                if sent < whole {
                    sent += try_send(&*client, sent, whole, round % 2 == 0);
                    if sent == received && sent < whole {
                        await_change(&*client, Interest::Write);
                        sent += try_send(&*client, sent, whole, false);
                    }
                }
            }
        });
    });
}

/// A peer that does not read costs no more memory than the stream's buffers, however often data are
/// sent to it.
///
/// Conformance: streams - a reader that stops costs bounded memory
pub fn a_stopped_reader_bounds_what_is_taken(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        client.set_nonblocking(true).expect("a stream");
        let before = held_octets();
        let mut sent = fill(&*client, 0);
        let full = held_octets();
        assert!(
            full.saturating_sub(before) < MAX_TAKEN,
            "{sent} octets were taken, and {} kept",
            full - before
        );
        for _ in 0..2000 {
            sent += try_send(&*client, sent, sent + 60_000, false);
        }
        assert!(sent < MAX_TAKEN, "{sent} octets were taken in the end");
        let kept = held_octets().saturating_sub(full);
        assert!(kept < 1 << 20, "{kept} octets more for nothing");
        drop(server);
    });
}

/// Both ends send more than the buffers between them hold, while both receive.
///
/// Conformance: streams - octets arrive once and in order
pub fn large_sends_cross(subject: &Subject) {
    const LEN: usize = 24 << 20;
    const CHUNK: usize = 1 << 18;
    let Ends { server, client } = Ends::new(subject);
    within("large sends both ways", move || {
        thread::scope(|scope| {
            for stream in [&server, &client] {
                scope.spawn(move || {
                    for place in (0..LEN).step_by(CHUNK) {
                        send_all(&**stream, &pattern(place, CHUNK)).expect("a connection");
                    }
                });
                scope.spawn(move || {
                    for place in (0..LEN).step_by(CHUNK) {
                        let received = receive_all(&**stream, CHUNK, CHUNK);
                        assert!(received == pattern(place, CHUNK), "other octets at {place}");
                    }
                });
            }
        });
    });
}
