// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams that are as they may be, and mostly are not: a handshake waits for
//! their first use, or their own timeouts end at once.

use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use orbium::{
    Config, ExceptionKind, Interface, Orb,
    config::{ClientStrategy, ServerStrategy},
    transport::Transport,
};
use orbium_testkit::{Served, within};
use orbium_transport::{
    Acceptor, ByteStream, Connector, Deadline, Endpoint, EndpointError, ListenError,
    ProtocolProperties, StreamTransport, Tcp,
};

use crate::over_tcp::{Around, Wrapped};

/// How long servers take to greet.
const SLOW: Duration = Duration::from_millis(300);

/// What is odd about a stream over TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Oddity {
    /// Its client waits for a greeting before it says anything.
    Shy,
    /// Its client does not wait at all: as if each timeout were over at once.
    Hasty,
}

/// TCP with an oddity. Counts how often clients have tried in vain.
#[derive(Clone, Debug)]
struct Odd {
    oddity: Oddity,
    tries: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct OddAcceptor(Box<dyn Acceptor>, Odd);

#[derive(Debug)]
struct OddConnector(Box<dyn Connector>, Odd);

#[derive(Debug)]
struct OddStream {
    inner: Box<dyn ByteStream>,
    serves: bool,
    greeted: Mutex<bool>,
    odd: Odd,
}

impl OddStream {
    fn over(inner: Box<dyn ByteStream>, serves: bool, odd: &Odd) -> Box<dyn ByteStream> {
        Box::new(Wrapped(Self {
            inner,
            serves,
            greeted: Mutex::new(odd.oddity != Oddity::Shy),
            odd: odd.clone(),
        }))
    }

    /// Receives, and counts what was in vain.
    fn attempt(&self, room: &mut [u8]) -> io::Result<usize> {
        let received = self.inner.receive(room);
        if received.is_err() && !self.serves {
            self.odd.tries.fetch_add(1, Ordering::Relaxed);
        }
        received
    }

    fn greet(&self) -> io::Result<()> {
        let mut greeted = self.greeted.lock().unwrap();
        if *greeted {
            return Ok(());
        }
        if self.serves {
            thread::sleep(SLOW);
            self.inner.send(b"!")?;
        } else if self.attempt(&mut [0])? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        *greeted = true;
        Ok(())
    }
}

impl StreamTransport for Odd {
    fn scheme(&self) -> &'static str {
        "odd"
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        let inner = Tcp.listen(endpoint, properties)?;
        Ok(Box::new(OddAcceptor(inner, self.clone())))
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        let inner = Tcp.connector(address, properties)?;
        Ok(Box::new(OddConnector(inner, self.clone())))
    }
}

impl Acceptor for OddAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        Ok(OddStream::over(self.0.accept()?, true, &self.1))
    }

    fn source(&self) -> &dyn AsFd {
        self.0.source()
    }

    fn address(&self) -> &str {
        self.0.address()
    }
}

impl Connector for OddConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        let inner = self.0.connect(deadline)?;
        inner.set_nonblocking(self.1.oddity == Oddity::Hasty)?;
        Ok(OddStream::over(inner, false, &self.1))
    }
}

impl Around for OddStream {
    fn inner(&self) -> &dyn ByteStream {
        &*self.inner
    }

    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        self.greet()?;
        self.attempt(room)
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.greet()?;
        self.inner.send(octets)
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.greet()?;
        self.inner.send_vectored(pieces)
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        let hasty = self.odd.oddity == Oddity::Hasty && !self.serves;
        self.inner.set_nonblocking(nonblocking || hasty)
    }

    fn counts_in_ticks(&self) -> bool {
        self.inner.counts_in_ticks()
    }
}

impl Odd {
    fn new(oddity: Oddity) -> Self {
        let tries = Arc::default();
        Self { oddity, tries }
    }

    fn tries(&self) -> usize {
        self.tries.load(Ordering::Relaxed)
    }

    fn config(&self) -> Config {
        let mut config = Config::default();
        config.protocols.register(Transport::stream(self.clone()));
        config
    }

    fn serve(&self, parameters: &str) -> Served {
        let endpoint = format!("odd://127.0.0.1:0{parameters}");
        Served::with(Config {
            endpoints: vec![endpoint.parse().unwrap()],
            ..self.config()
        })
    }
}

/// It is over before anybody waits for room to send, which there always is: who
/// waited for that tried without end.
#[test]
fn a_handshake_is_not_tried_again_and_again() {
    for parameters in ["", "?messaging=giop-lite", "?messaging=fixed"] {
        let odd = Odd::new(Oddity::Shy);
        let served = odd.serve(parameters);
        let client = Orb::new(Config {
            strategy: ServerStrategy::Reactive,
            client_strategy: ClientStrategy::Reactor,
            ..odd.config()
        })
        .unwrap();
        let target = served.seen_by(&client);
        let asked = target.clone();
        assert_eq!(within("a call", move || asked.echo_long(7)), Ok(7));
        let tries = odd.tries();
        assert!(tries < 10, "{tries} tries with {parameters:?}");
        assert!(target.as_object().protocols()[0].refusal.is_none());
        client.shutdown(true).expect("shutdown");
        served.end();
    }
}

/// A socket's timeouts are late by whole ticks, so they are ended early, and what
/// is left is waited for otherwise, not by trying again.
///
/// Conformance: connections - short deadlines are not rounded up to the ticks of the system, and an
/// answer that comes after its deadline is none
#[test]
fn a_deadline_is_not_left_to_the_timeout_of_a_socket() {
    use ClientStrategy::{ExclusivePerThread, ExclusivePool, LeaderFollowers};
    for client_strategy in [ExclusivePool, ExclusivePerThread, LeaderFollowers] {
        let odd = Odd::new(Oddity::Hasty);
        let served = odd.serve("");
        let client = Orb::new(Config {
            client_strategy,
            ..odd.config()
        })
        .unwrap();
        let target = served.seen_by(&client);
        served.state.gate.close();
        for milliseconds in [10, 100, 300] {
            let before = odd.tries();
            let impatient = target.with_timeout(Duration::from_millis(milliseconds));
            let exception = within("a call", move || impatient.gate()).unwrap_err();
            assert_eq!(exception.kind, ExceptionKind::Timeout);
            let tries = odd.tries() - before;
            assert!(
                tries <= 2,
                "{tries} tries within {milliseconds} ms: {client_strategy}"
            );
        }
        served.state.gate.open();
        // Answers in time are none the worse for it.
        let patient = target.with_timeout(Duration::from_secs(60));
        assert_eq!(within("a call", move || patient.echo_long(7)), Ok(7));
        client.shutdown(true).expect("shutdown");
        served.end();
    }
}
