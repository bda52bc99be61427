// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that answer no pending request: the call continues to wait for the rest of its time.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use orbium::giop::{LocateStatus, MessageKind, ReplyStatus};
use orbium::lock::Mutex;
use orbium::{Config, Interface, Orb, transport::Transport};
use orbium_cdr::ByteOrder;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, PATIENCE, Peer, eventually, locate_reply, reach, reference, reply, within,
};
use orbium_transport::ByteStream;

use crate::over_tcp::{Around, Wrapped, WrappedClients};

/// The receives of a client, and their time-outs.
#[derive(Clone, Debug, Default)]
struct Noting(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    receives: usize,
    timeouts: Vec<Duration>,
}

#[derive(Debug)]
struct NotingStream(Box<dyn ByteStream>, Noting);

impl Around for NotingStream {
    fn inner(&self) -> &dyn ByteStream {
        &*self.0
    }

    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        self.1.0.lock().receives += 1;
        self.0.receive(room)
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        self.1.0.lock().timeouts.extend(receive.flatten());
        self.0.set_timeouts(receive, send)
    }
}

/// A client that records its receives, with a connection to a scripted server.
struct Scripted {
    _client: Orb,
    target: Target,
    peer: Peer,
    noting: Noting,
}

impl Scripted {
    fn new() -> Self {
        let (noting, server) = (Noting::default(), FakeServer::listen());
        let mut config = Config::default();
        let recording = noting.clone();
        let transport = WrappedClients::new(move |inner| {
            Box::new(Wrapped(NotingStream(inner, recording.clone())))
        });
        config.protocols.register(Transport::stream(transport));
        let client = Orb::new(config).unwrap();
        let ior = reference(2, &[server.port()], b"x", &[]);
        let target = reach(&client, &ior.to_string());
        target.as_object().connect().unwrap();
        let peer = server.accept();
        Self {
            _client: client,
            target: target.with_timeout(PATIENCE),
            peer,
            noting,
        }
    }

    fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Target) -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let target = self.target.clone();
        orbium_testkit::spawn(move || call(&target))
    }

    /// Sends messages, each of which the call receives and ignores: less time remains for each
    /// further receive.
    fn ignore(&mut self, messages: &[Vec<u8>]) {
        eventually("the call receives", || self.noting.0.lock().receives == 1);
        let before = self.noting.0.lock().timeouts.len();
        for (received, message) in (1..).zip(messages) {
            self.peer.send(message);
            eventually("it is ignored", || self.noting.0.lock().receives > received);
        }
        let timeouts = &self.noting.0.lock().timeouts;
        assert_eq!(timeouts.len(), before + messages.len(), "{timeouts:?}");
        assert!(
            timeouts.is_sorted_by(|one, next| one > next),
            "{timeouts:?}"
        );
    }
}

/// The reply to another request.
fn stray() -> Vec<u8> {
    let status = ReplyStatus::NoException;
    reply(2, ByteOrder::NATIVE, 1_000_001, status, |_| {})
}

/// The reply to a LocateRequest of that id.
fn located(id: u32) -> Vec<u8> {
    locate_reply(2, id, LocateStatus::ObjectHere, |_| {})
}

/// Regression: after an ignored message the next receive had all the time of the call anew, which
/// then took twice its time.
#[test]
fn a_call_has_the_rest_of_its_time_after_an_ignored_message() {
    let mut scripted = Scripted::new();
    let call = scripted.call(|target| target.echo_long(7));
    let request = scripted.peer.expect_request("echo_long");
    scripted.ignore(&[stray(), located(1_000_001), stray()]);
    scripted.peer.answer(&request, |w| w.write_u32(7));
    assert_eq!(within("the call", move || call.join().unwrap()), Ok(7));
}

/// Regression: as for calls.
#[test]
fn a_locate_request_has_the_rest_of_its_time_after_an_ignored_message() {
    let mut scripted = Scripted::new();
    let call = scripted.call(|target| target.as_object().locate());
    let request = scripted.peer.expect(MessageKind::LocateRequest);
    scripted.ignore(&[stray(), located(1_000_001), stray()]);
    let (id, _) = request.locate_request();
    scripted.peer.send(&located(id));
    assert_eq!(within("the call", move || call.join().unwrap()), Ok(true));
}
