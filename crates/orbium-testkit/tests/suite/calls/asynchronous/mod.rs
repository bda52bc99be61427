// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous invocations.

mod answers;
mod early_streams;
mod ending;
mod faults;
mod pollable_sets;
mod times;

use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, Thread};

use orbium::giop::minor;
use orbium::{
    Completion, Config, ExceptionKind, Interface, ObjectRef, Orb, SystemException,
    asynchronous::Asynchronous,
};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::{FakeServer, Peer, Request, block_on, reach, reference, within};

static ECHO_LONG: Operation = Operation::new("echo_long");
static ECHO_OCTETS: Operation = Operation::new("echo_octets");

fn echo(object: &ObjectRef, v: i32) -> Asynchronous<i32> {
    object.call_async(&ECHO_LONG, v, Encode::encode, i32::decode)
}

fn echo_octets(object: &ObjectRef, octets: Vec<u8>) -> Asynchronous<Vec<u8>> {
    object.call_async(&ECHO_OCTETS, octets, Encode::encode, Vec::decode)
}

type Result<T> = std::result::Result<T, SystemException>;

/// What a handler is given, and where.
fn handled<T: Send + 'static>(call: Asynchronous<T>) -> Receiver<(Result<T>, Thread)> {
    let (report, reported) = channel();
    // The asking thread may have given up.
    call.on_reply(move |result| drop(report.send((result, thread::current()))));
    reported
}

fn result<T: Send + 'static>(call: Asynchronous<T>) -> Result<T> {
    within("the call", move || call.wait())
}

struct Scripted {
    server: FakeServer,
    client: Orb,
    object: ObjectRef,
}

impl Scripted {
    fn new() -> Self {
        Self::with(Config::default())
    }

    fn with(config: Config) -> Self {
        let server = FakeServer::listen();
        let client = Orb::new(config).unwrap();
        let object = object(&client, &[server.port()]);
        Self {
            server,
            client,
            object,
        }
    }

    /// Connected by a call that was answered.
    fn connected() -> (Self, Peer) {
        let scripted = Self::new();
        let call = echo(&scripted.object, 0);
        let mut peer = scripted.server.accept();
        answer(&mut peer, 1);
        assert_eq!(result(call), Ok(0));
        (scripted, peer)
    }

    fn end(self) {
        let client = self.client;
        within("the client's end", move || client.shutdown(true)).unwrap();
    }
}

/// An object at ports of the loopback.
fn object(client: &Orb, ports: &[u16]) -> ObjectRef {
    let minor = client.config().giop_minor.number();
    let text = reference(minor, ports, b"x", &[]).to_string();
    reach(client, &text).as_object().clone()
}

fn argument(request: &Request) -> u32 {
    u32::from_ne_bytes(*request.body.first_chunk().unwrap())
}

/// Answers so many requests, the last first.
fn answer(peer: &mut Peer, count: usize) {
    let requests = (0..count).map(|_| peer.expect_request("echo_long"));
    let requests: Vec<_> = requests.collect();
    for request in requests.iter().rev() {
        peer.answer(request, |w| w.write_u32(argument(request)));
    }
}

fn timed_out(completed: Completion) -> SystemException {
    SystemException::orbium(ExceptionKind::Timeout, minor::DEADLINE_PASSED, completed)
}

fn lost(completed: Completion) -> SystemException {
    SystemException::orbium(
        ExceptionKind::CommFailure,
        minor::CONNECTION_LOST,
        completed,
    )
}

fn has_ended(completed: Completion) -> SystemException {
    SystemException::omg(ExceptionKind::BadInvOrder, 4, completed)
}
