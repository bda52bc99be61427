// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that nobody waits for.

mod answers;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use orbium::{Asynchronous, Config, Interface, ObjectRef, Orb, SystemException};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::{FakeServer, Peer, Request, client, reach, reference};

static ECHO_LONG: Operation = Operation::new("echo_long");
static ECHO_OCTETS: Operation = Operation::new("echo_octets");

fn echo(object: &ObjectRef, v: i32) -> Asynchronous<i32> {
    object.call_async(
        &ECHO_LONG,
        v,
        |v, writer| v.encode(writer),
        |reader| i32::decode(reader),
    )
}

fn echo_octets(object: &ObjectRef, octets: Vec<u8>) -> Asynchronous<Vec<u8>> {
    object.call_async(
        &ECHO_OCTETS,
        octets,
        |octets, writer| octets.encode(writer),
        |reader| Vec::decode(reader),
    )
}

/// What a handler was given.
fn handled<T: Send + 'static>(
    call: Asynchronous<T>,
) -> Receiver<(Result<T, SystemException>, Thread)> {
    let (tell, told) = channel();
    call.on_reply(move |result| tell.send((result, thread::current())).unwrap());
    told
}

/// An executor of one future.
fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match std::pin::Pin::new(&mut future).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
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

    fn end(self) {
        let client = self.client;
        orbium_testkit::within("the client's end", move || client.shutdown(true)).unwrap();
    }
}

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
    let requests: Vec<_> = (0..count)
        .map(|_| peer.expect_request("echo_long"))
        .collect();
    for request in requests.iter().rev() {
        peer.answer(request, |w| w.write_u32(argument(request)));
    }
}
