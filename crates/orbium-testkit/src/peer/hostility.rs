// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hostile peers: their messages, and a well-behaved client to be served at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use orbium::giop::{CancelRequest, MessageKind, Version};
use orbium::{Interface, Orb, config::Limits};
use orbium_cdr::ByteOrder;

use crate::probe::Target;
use crate::{PATIENCE, RequestLine, eventually, request, within};

/// Interval between two calls of a [`WellBehaved`] client. Without it that client alone keeps a
/// processor busy in every test that waits for a limit.
const CALL_INTERVAL: Duration = Duration::from_millis(1);

/// A client that calls repeatedly in a separate thread, and leaves the processors to the rest of
/// the test between its calls.
#[derive(Debug)]
pub struct WellBehaved {
    over: Arc<AtomicBool>,
    calls: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl WellBehaved {
    /// Starts the calls; the ORB ends with it.
    #[must_use]
    pub fn start(client: Orb, target: &Target) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let calls = Arc::new(AtomicU64::new(0));
        let (until, count) = (Arc::clone(&over), Arc::clone(&calls));
        let target = target.with_timeout(PATIENCE);
        let thread = thread::spawn(move || {
            let mut number = 0;
            while !until.load(Ordering::SeqCst) {
                number += 1;
                assert_eq!(target.echo_long(number), Ok(number));
                let octets = vec![number as u8; 1000];
                assert_eq!(target.echo_octets(&octets).unwrap(), octets);
                count.fetch_add(1, Ordering::SeqCst);
                thread::sleep(CALL_INTERVAL);
            }
            client.shutdown(true).unwrap();
        });
        Self {
            over,
            calls,
            thread: Some(thread),
        }
    }

    /// Ends it, after some more calls.
    ///
    /// # Panics
    /// It was not served, now or before.
    #[track_caller]
    pub fn end(mut self) {
        let before = self.calls.load(Ordering::SeqCst);
        let client = self.thread.take().expect("not ended before");
        eventually("the well-behaved client is served", || {
            self.calls.load(Ordering::SeqCst) > before + 2 || client.is_finished()
        });
        self.over.store(true, Ordering::SeqCst);
        within("the well-behaved client", move || client.join().unwrap());
    }
}

impl Drop for WellBehaved {
    /// Also after a failure: the following tests need the processors.
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
    }
}

/// Limits with a short time-out for unfinished messages.
#[must_use]
pub fn short_message_time() -> Limits {
    Limits {
        message_time: Duration::from_millis(200),
        ..Limits::default()
    }
}

/// A few valid messages of different kinds, versions and byte orders.
#[must_use]
pub fn good_messages() -> Vec<Vec<u8>> {
    let big = RequestLine {
        order: ByteOrder::Big,
        ..RequestLine::new(4, "echo_octets")
    };
    let old = |minor| RequestLine {
        minor,
        ..RequestLine::new(6, "echo_long")
    };
    vec![
        request(RequestLine::new(2, "echo_string"), |w| {
            w.write_octets(b"text\0");
        }),
        request(big, |w| w.write_octets(&[1; 40])),
        request(old(0), |w| w.write_u32(1)),
        request(old(1), |w| w.write_u32(1)),
        CancelRequest { request_id: 4 }
            .message(Version::V1_2, ByteOrder::NATIVE)
            .to_vec(),
    ]
}

/// Messages to which a server replies with MessageError.
#[must_use]
pub fn malformed_messages() -> Vec<Vec<u8>> {
    let whole = request(RequestLine::new(2, "noop"), |_| {});
    let with = |place: usize, octet: u8| {
        let mut message = whole.clone();
        message[place] = octet;
        message
    };
    vec![
        b"GET / HTTP/1.1\r\nHost: here\r\n\r\n".to_vec(),
        with(0, b'g'),
        with(4, 2),
        with(5, 4),
        with(7, 8),
        with(7, MessageKind::Reply as u8),
        with(7, MessageKind::LocateReply as u8),
        // Beyond the limit of 256 MiB; a request would be answered by an exception.
        [&with(7, MessageKind::LocateRequest as u8)[..8], &[0xFF; 4]].concat(),
    ]
}
