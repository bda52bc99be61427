// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocked operations on a stream, and their ends.

use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use orbium_transport::ByteStream;

use crate::peer::receive_patiently;
use crate::transport_suite::Subject;
use crate::transport_suite::ends::{
    Ends, fill, from_either_end, is_final, is_full, patient, pattern, receive_all, send_all,
};
use crate::waiting::{spawn_blocked, within};

/// Time after which a blocked operation ends.
const SHORT: Duration = Duration::from_millis(50);

/// A receive without data ends with its time-out; later data are received nevertheless, and without
/// a time-out the receive waits for them.
///
/// Conformance: streams - timeouts, and being woken
pub fn a_receive_times_out(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        within("a receive that times out", move || {
            server
                .set_timeouts(Some(Some(SHORT)), None)
                .expect("a timeout");
            for _ in 0..3 {
                let received = server.receive(&mut [0; 16]);
                assert!(received.as_ref().is_err_and(is_full), "{received:?}");
            }
            send_all(&*client, b"late").expect("a connection");
            patient(&*server);
            assert_eq!(receive_all(&*server, 4, 4), b"late");
            // The receives of the other end have no time-out.
            server
                .set_timeouts(Some(Some(SHORT)), None)
                .expect("a timeout");
            server.set_timeouts(Some(None), None).expect("a timeout");
            let blocked = thread::spawn(move || receive_all(&*server, 5, 5));
            thread::sleep(2 * SHORT);
            send_all(&*client, b"later").expect("a connection");
            assert_eq!(blocked.join().expect("no timeout"), b"later");
        });
    });
}

/// A send that the other end does not read ends with its time-out, and continues from there when
/// the other end reads.
///
/// Conformance: streams - timeouts, and being woken
pub fn a_send_times_out(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        within("a send that times out", move || {
            client
                .set_timeouts(None, Some(Some(SHORT)))
                .expect("a timeout");
            let mut sent = fill(&*client, 0);
            let whole = sent + (1 << 20);
            let reader = thread::spawn(move || {
                assert!(receive_all(&*server, whole, 1 << 16) == pattern(0, whole));
            });
            while sent < whole {
                match client.send(&pattern(sent, whole - sent)) {
                    Ok(taken) => sent += taken,
                    Err(error) => assert!(is_full(&error), "{error}"),
                }
            }
            reader.join().expect("all octets");
        });
    });
}

/// A thread blocked in a receive gets the end when the reading is shut down, and so do later
/// receives.
///
/// Conformance: streams - timeouts, and being woken
pub fn shutdown_wakes_a_blocked_receiver(subject: &Subject) {
    for how in [Shutdown::Read, Shutdown::Both] {
        from_either_end(subject, move |Ends { server, client }| {
            within("a receive that is shut down", move || {
                server.set_timeouts(Some(None), None).expect("a timeout");
                let blocked = {
                    let server = Arc::clone(&server);
                    spawn_blocked(move || receive_patiently(&*server, &mut [0; 16]))
                };
                server.shutdown(how);
                expect_nothing(&blocked.join().expect("no panic"), how);
                expect_nothing(&server.receive(&mut [0; 16]), how);
                drop(client);
            });
        });
    }
}

#[track_caller]
fn expect_nothing(received: &io::Result<usize>, how: Shutdown) {
    match received {
        Ok(0) => {}
        // Both directions have ended: there is no way to continue.
        Err(error) if how == Shutdown::Both && is_final(error) => {}
        other => panic!("after {how:?}: {other:?}"),
    }
}

/// A thread blocked in a send gets an error when the sending is shut down, and so do
/// later sends.
///
/// Conformance: streams - timeouts, and being woken
pub fn shutdown_wakes_a_blocked_sender(subject: &Subject) {
    for how in [Shutdown::Write, Shutdown::Both] {
        from_either_end(subject, move |Ends { server, client }| {
            within("a send that is shut down", move || {
                client.set_timeouts(None, Some(None)).expect("a timeout");
                let blocked = {
                    let client = Arc::clone(&client);
                    spawn_blocked(move || send_until_refused(&*client))
                };
                client.shutdown(how);
                blocked.join().expect("refused");
                send_until_refused(&*client);
                drop(server);
            });
        });
    }
}

fn send_until_refused(stream: &dyn ByteStream) {
    loop {
        match stream.send(&pattern(0, 1 << 16)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                assert!(is_final(&error), "{error}");
                return;
            }
        }
    }
}

/// A server that ends stops reading first and then sends its outstanding data.
///
/// Conformance: streams - timeouts, and being woken
pub fn reading_may_be_shut_down_alone(subject: &Subject) {
    from_either_end(subject, |Ends { server, client }| {
        within("the last words", move || {
            server.shutdown(Shutdown::Read);
            send_all(&*server, &pattern(0, 5000)).expect("the sending direction");
            server.shutdown(Shutdown::Write);
            assert_eq!(receive_all(&*client, 5000, 5000), pattern(0, 5000));
            crate::transport_suite::ends::expect_end(&*client);
        });
    });
}
