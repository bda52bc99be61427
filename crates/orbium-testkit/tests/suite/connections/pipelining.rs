// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many requests over one connection: what is there at once is sent together, in both
//! directions, and nothing waits for what is not there.

use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use orbium::giop::{MessageKind, ResponseFlags, Version, close_connection};
use orbium::{
    Config, Interface, Orb,
    asynchronous::Asynchronous,
    config::{ReplyBatching, ServerStrategy},
    transport::Transport,
};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::{Peer, RequestLine, Served, eventually, request, within};
use orbium_transport::{
    Acceptor, ByteStream, Connector, Deadline, Endpoint, EndpointError, ListenError,
    ProtocolProperties, StreamTransport, Tcp,
};

use crate::over_tcp::{Around, Wrapped};

static ECHO_LONG: Operation = Operation::new("echo_long");

/// TCP that counts sends, and holds those of clients up.
#[derive(Clone, Debug, Default)]
struct Counting(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    port: AtomicUsize,
    /// Sends of servers, and of clients.
    replies: AtomicUsize,
    requests: AtomicUsize,
    /// Whether clients are held up after each send, and how many are.
    holds: Mutex<(bool, usize)>,
    changed: Condvar,
    /// What a client sent last, in one piece.
    last: Mutex<Vec<u8>>,
}

#[derive(Debug)]
struct CountingStream {
    inner: Box<dyn ByteStream>,
    serves: bool,
    counts: Arc<Counts>,
}

#[derive(Debug)]
struct CountingAcceptor(Box<dyn Acceptor>, Arc<Counts>);

#[derive(Debug)]
struct CountingConnector(Box<dyn Connector>, Arc<Counts>);

impl StreamTransport for Counting {
    fn scheme(&self) -> &'static str {
        "counting"
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        let inner = Tcp.listen(endpoint, properties)?;
        let port = inner.address().rsplit(':').next().unwrap();
        self.0.port.store(port.parse().unwrap(), Ordering::SeqCst);
        Ok(Box::new(CountingAcceptor(inner, Arc::clone(&self.0))))
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        let inner = Tcp.connector(address, properties)?;
        Ok(Box::new(CountingConnector(inner, Arc::clone(&self.0))))
    }
}

impl Acceptor for CountingAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        Ok(Box::new(Wrapped(CountingStream {
            inner: self.0.accept()?,
            serves: true,
            counts: Arc::clone(&self.1),
        })))
    }

    fn source(&self) -> &dyn AsFd {
        self.0.source()
    }

    fn address(&self) -> &str {
        self.0.address()
    }
}

impl Connector for CountingConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        Ok(Box::new(Wrapped(CountingStream {
            inner: self.0.connect(deadline)?,
            serves: false,
            counts: Arc::clone(&self.1),
        })))
    }
}

impl Around for CountingStream {
    fn inner(&self) -> &dyn ByteStream {
        &*self.inner
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.counted(|| {
            let sent = self.inner.send(octets);
            if !self.serves {
                *self.counts.last.lock().unwrap() = octets.to_vec();
            }
            sent
        })
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.counted(|| self.inner.send_vectored(pieces))
    }
}

impl CountingStream {
    /// A reply is counted before the client can have it, a request when the server can.
    fn counted(&self, send: impl FnOnce() -> io::Result<usize>) -> io::Result<usize> {
        if self.serves {
            self.counts.replies.fetch_add(1, Ordering::SeqCst);
            return send();
        }
        let sent = send();
        self.counts.count_request();
        sent
    }
}

impl Counts {
    fn count_request(&self) {
        let mut holds = self.holds.lock().unwrap();
        self.requests.fetch_add(1, Ordering::SeqCst);
        if holds.0 {
            holds.1 += 1;
            let passed = self.changed.wait_while(holds, |holds| holds.0);
            passed.unwrap().1 -= 1;
        }
    }

    fn hold(&self, holds: bool) {
        self.holds.lock().unwrap().0 = holds;
        self.changed.notify_all();
    }
}

impl Counting {
    fn config(&self) -> Config {
        let mut config = Config::default();
        config.protocols.register(Transport::stream(self.clone()));
        config
    }

    fn serve(&self, config: Config) -> Served {
        Served::with(Config {
            endpoints: vec!["counting://127.0.0.1:0".parse().unwrap()],
            ..config
        })
    }

    fn peer(&self) -> Peer {
        Peer::connect(u16::try_from(self.0.port.load(Ordering::SeqCst)).unwrap())
    }

    /// Holds up the next send of a client that has made one call. The sender of that may be behind its reply.
    fn hold_next(&self) {
        eventually("a handshake and a request", || self.requests() == 2);
        self.0.hold(true);
    }

    fn replies(&self) -> usize {
        self.0.replies.load(Ordering::SeqCst)
    }

    fn requests(&self) -> usize {
        self.0.requests.load(Ordering::SeqCst)
    }
}

/// Those in which the thread that reads serves.
fn each_strategy_that_serves(test: impl Fn(ServerStrategy)) {
    for strategy in [
        ServerStrategy::ThreadPerConnection,
        ServerStrategy::Reactive,
        ServerStrategy::LeaderFollowers { threads: 2 },
    ] {
        eprintln!("with server strategy {strategy}");
        test(strategy);
    }
}

fn twoway(id: u32, operation: &str) -> Vec<u8> {
    request(RequestLine::new(id, operation), |_| {})
}

fn oneway(id: u32) -> Vec<u8> {
    let line = RequestLine {
        response: ResponseFlags::None,
        ..RequestLine::new(id, "post")
    };
    request(line, |w| w.write_u32(1))
}

fn expect_replies(peer: &mut Peer, ids: impl IntoIterator<Item = u32>) {
    for id in ids {
        assert_eq!(peer.receive().reply().0, id);
    }
}

/// Each reply was a system call of its own, however many requests had been received.
#[test]
fn replies_to_requests_received_together_go_out_in_one_send() {
    each_strategy_that_serves(|strategy| {
        let counting = Counting::default();
        let served = counting.serve(Config {
            strategy,
            ..counting.config()
        });
        // Fewer than a turn of a reactor has.
        let ids = || (0..12).map(|id| 2 * id);
        let requests: Vec<u8> = ids().flat_map(|id| twoway(id, "noop")).collect();
        eventually("twelve replies are one send", || {
            // The first reply after a pause goes out alone: a connection that is new has
            // had none. A busy machine may pause in between, too.
            let mut peer = counting.peer();
            let before = counting.replies();
            peer.send(&requests);
            expect_replies(&mut peer, ids());
            counting.replies() == before + 1
        });
        served.end();
    });
}

#[test]
fn without_reply_batching_each_reply_is_a_send() {
    let counting = Counting::default();
    let served = counting.serve(Config {
        reply_batching: ReplyBatching(false),
        ..counting.config()
    });
    let mut peer = counting.peer();
    let requests: Vec<u8> = (0..12).flat_map(|id| twoway(2 * id, "noop")).collect();
    peer.send(&requests);
    expect_replies(&mut peer, (0..12).map(|id| 2 * id));
    assert_eq!(counting.replies(), 12);
    served.end();
}

/// A reply that was collected would have waited for ever: its client opens the gate, for
/// which the next servant waits, once it has the reply.
#[test]
fn a_collected_reply_does_not_wait_for_a_servant_that_waits_for_its_client() {
    each_strategy_that_serves(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        for round in 0..10 {
            served.state.gate.close();
            let (quick, slow) = (4 * round, 4 * round + 2);
            peer.send(&[twoway(quick, "noop"), twoway(slow, "gate")].concat());
            expect_replies(&mut peer, [quick]);
            served.state.gate.open();
            expect_replies(&mut peer, [slow]);
        }
        served.end();
    });
}

/// The last request of those received together has no reply of its own, or is none.
#[test]
fn a_collected_reply_goes_out_whatever_follows_its_request() {
    each_strategy_that_serves(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        peer.send(&[twoway(2, "noop"), oneway(4)].concat());
        expect_replies(&mut peer, [2]);
        // Only part of the next request.
        let next = twoway(8, "noop");
        peer.send(&[&twoway(6, "noop"), &next[..20]].concat());
        expect_replies(&mut peer, [6]);
        peer.send(&next[20..]);
        expect_replies(&mut peer, [8]);
        // No such object; a request that cannot be read; the end.
        let nowhere = RequestLine {
            key: b"Nowhere",
            ..RequestLine::new(12, "noop")
        };
        peer.send(&[twoway(10, "noop"), request(nowhere, |_| {})].concat());
        expect_replies(&mut peer, [10, 12]);
        let mut malformed = twoway(16, "noop");
        let end = malformed.len();
        malformed[16..end].fill(0xff);
        peer.send(&[twoway(14, "noop"), malformed].concat());
        expect_replies(&mut peer, [14]);
        peer.expect(MessageKind::MessageError);
        let mut other = Peer::connect(served.port());
        let close = close_connection(Version::V1_2).to_vec();
        other.send(&[twoway(18, "noop"), oneway(20), close].concat());
        expect_replies(&mut other, [18]);
        served.end();
    });
}

fn echo(target: &orbium_testkit::probe::Target, v: i32) -> Asynchronous<i32> {
    let object = target.as_object();
    object.call_async(&ECHO_LONG, v, Encode::encode, i32::decode)
}

/// Each asynchronous request was a system call of its own, and callers waited for the
/// lock of the connection.
#[test]
fn requests_submitted_while_another_is_sent_go_out_together() {
    let counting = Counting::default();
    let served = counting.serve(counting.config());
    let client = Orb::new(counting.config()).unwrap();
    let target = served.seen_by(&client);
    let first = echo(&target, -1);
    assert_eq!(within("a call", || first.wait()), Ok(-1));
    counting.hold_next();
    let (before, calls) = (counting.requests(), served.state.calls());
    let other = target.clone();
    let sender = orbium_testkit::spawn(move || echo(&other, -2).wait());
    eventually("a send is held up", || {
        counting.0.holds.lock().unwrap().1 == 1
    });
    // None of these waits for it.
    let submitted = target.clone();
    let mut waiting = within("submitting", move || -> Vec<_> {
        (0..100).map(|v| echo(&submitted, v)).collect()
    });
    // A call that is cancelled before it is sent never is.
    for cancelled in waiting.drain(..10) {
        drop(cancelled);
    }
    counting.0.hold(false);
    for (call, v) in waiting.into_iter().zip(10..) {
        assert_eq!(within("a call", move || call.wait()), Ok(v));
    }
    assert_eq!(sender.join().unwrap(), Ok(-2));
    assert_eq!(
        counting.requests(),
        before + 2,
        "the held one, and all others"
    );
    assert_eq!(served.state.calls(), calls + 91);
    client.shutdown(true).expect("shutdown");
    served.end();
}

/// The thread that had sent the last request was suspended before it noted so: the connection ended as one that is in the
/// middle of a message, without CloseConnection.
#[test]
fn connections_that_end_just_after_a_send_end_in_order() {
    let counting = Counting::default();
    let served = counting.serve(counting.config());
    let client = Orb::new(counting.config()).unwrap();
    let target = served.seen_by(&client);
    let first = echo(&target, -1);
    assert_eq!(within("a call", || first.wait()), Ok(-1));
    counting.hold_next();
    let sender = orbium_testkit::spawn(move || drop(echo(&target, -2)));
    eventually("a request is served while its sender is held up", || {
        counting.0.holds.lock().unwrap().1 == 1 && served.state.calls() == 2
    });
    within("the end", move || client.shutdown(false)).expect("shutdown");
    counting.0.hold(false);
    sender.join().unwrap();
    // The thread that ends the ORB's connections may be behind the sender.
    eventually("CloseConnection", || {
        *counting.0.last.lock().unwrap() == close_connection(Version::V1_2)
    });
    served.end();
}

/// A request is left to the reader for a moment: no caller may have to wait, or to submit
/// more, before it goes out.
#[test]
fn a_request_that_was_left_to_the_reader_goes_out_by_itself() {
    let counting = Counting::default();
    let served = counting.serve(counting.config());
    let client = Orb::new(counting.config()).unwrap();
    let target = served.seen_by(&client);
    for round in 0..50 {
        let before = served.state.calls();
        let calls: Vec<_> = (0..5).map(|v| echo(&target, v)).collect();
        eventually("all are served", || served.state.calls() == before + 5);
        for (call, v) in calls.into_iter().zip(0..) {
            assert_eq!(within("a call", move || call.wait()), Ok(v), "{round}");
        }
    }
    client.shutdown(true).expect("shutdown");
    served.end();
}
