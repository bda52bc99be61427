// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite of transports finds what it is for: each transport here has one
//! fault, and some behaviour fails because of it.

use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use orbium_testkit::transport_suite::{Subject, loopback, orbs, streams};
use orbium_testkit::{in_own_process, with_patience};
use orbium_transport::{
    Acceptor, ByteStream, Connector, Deadline, Endpoint, EndpointError, ListenError,
    ProtocolProperties, StreamTransport, Tcp,
};

use crate::over_tcp::{Around, Wrapped};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// Says that one octet more was sent than was.
    Loses,
    /// Keeps what was refused, sends it later, and is given it again.
    Repeats,
    /// Takes whatever it is given.
    HoardsAll,
    /// Keeps the descriptors of connections.
    LeaksDescriptors,
    /// Keeps a little memory of each connection.
    LeaksMemory,
    /// Is always ready.
    Spins,
    /// Takes something from the heap for each send.
    Allocates,
    /// Takes any parameter.
    IgnoresParameters,
    /// Does not end its sending when it is told to, but only in the end.
    KeepsSending,
}

#[derive(Debug)]
struct Faulty(Fault);

#[derive(Debug)]
struct FaultyAcceptor(Fault, Box<dyn Acceptor>);

#[derive(Debug)]
struct FaultyConnector(Fault, Box<dyn Connector>);

#[derive(Debug)]
struct FaultyStream {
    fault: Fault,
    inner: Box<dyn ByteStream>,
    sends: AtomicUsize,
    kept: Mutex<Vec<u8>>,
    always_ready: std::fs::File,
}

impl FaultyStream {
    fn over(fault: Fault, inner: Box<dyn ByteStream>) -> Box<dyn ByteStream> {
        if fault == Fault::LeaksMemory {
            std::mem::forget(vec![0_u8; 300]);
        }
        if fault == Fault::LeaksDescriptors {
            std::mem::forget(inner.source().as_fd().try_clone_to_owned().unwrap());
        }
        Box::new(Wrapped(Self {
            fault,
            inner,
            sends: AtomicUsize::new(0),
            kept: Mutex::default(),
            // Ordinary files cannot be waited for; this one can.
            always_ready: std::fs::File::open("/proc/self/mounts").unwrap(),
        }))
    }
}

impl StreamTransport for Faulty {
    fn scheme(&self) -> &'static str {
        "iiop"
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        let mut endpoint = endpoint.clone();
        if self.0 == Fault::IgnoresParameters {
            endpoint.parameters.clear();
        }
        let inner = Tcp.listen(&endpoint, properties)?;
        Ok(Box::new(FaultyAcceptor(self.0, inner)))
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        let inner = Tcp.connector(address, properties)?;
        Ok(Box::new(FaultyConnector(self.0, inner)))
    }
}

impl Acceptor for FaultyAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        Ok(FaultyStream::over(self.0, self.1.accept()?))
    }

    fn source(&self) -> &dyn AsFd {
        self.1.source()
    }

    fn address(&self) -> &str {
        self.1.address()
    }
}

impl Connector for FaultyConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        Ok(FaultyStream::over(self.0, self.1.connect(deadline)?))
    }
}

impl FaultyStream {
    fn send_kept(&self, kept: &mut Vec<u8>) -> io::Result<()> {
        while !kept.is_empty() {
            let sent = self.inner.send(kept)?;
            kept.drain(..sent);
        }
        Ok(())
    }
}

impl Around for FaultyStream {
    fn inner(&self) -> &dyn ByteStream {
        &*self.inner
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        let number = self.sends.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            Fault::Loses if number == 20 && octets.len() > 1 => {
                let sent = self.inner.send(&octets[..octets.len() - 1])?;
                Ok(sent + 1)
            }
            Fault::Loses if number == 20 => Ok(octets.len()),
            Fault::Repeats | Fault::HoardsAll => {
                let mut kept = self.kept.lock().unwrap();
                match self
                    .send_kept(&mut kept)
                    .and_then(|()| self.inner.send(octets))
                {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        if self.fault == Fault::HoardsAll {
                            kept.extend_from_slice(octets);
                            return Ok(octets.len());
                        }
                        if kept.is_empty() {
                            kept.extend_from_slice(octets);
                        }
                        Err(error)
                    }
                    sent => sent,
                }
            }
            Fault::Allocates => {
                drop(std::hint::black_box(vec![1_u8; 10]));
                self.inner.send(octets)
            }
            _ => self.inner.send(octets),
        }
    }

    fn shutdown(&self, how: Shutdown) {
        if self.fault != Fault::KeepsSending || how == Shutdown::Read {
            self.inner.shutdown(how);
        }
    }

    fn source(&self) -> &dyn AsFd {
        match self.fault {
            Fault::Spins => &self.always_ready,
            _ => self.inner.source(),
        }
    }
}

fn subject(fault: Fault) -> Subject {
    Subject::new(Faulty(fault), |unique| {
        format!("iiop://{}:0", loopback(unique))
    })
    .connections(200)
}

/// The behaviour holds without the fault, and not with it.
fn expect_finding(fault: Fault, behaviour: fn(&Subject)) {
    behaviour(&subject(Fault::None));
    // Where the finding is that something never happens.
    let found = with_patience(Duration::from_secs(3), || {
        catch_unwind(AssertUnwindSafe(|| behaviour(&subject(fault))))
    });
    assert!(found.is_err(), "{fault:?} goes unnoticed");
}

/// Conformance: streams - the suite finds faults
#[test]
fn lost_octets_are_found() {
    expect_finding(
        Fault::Loses,
        streams::a_reader_that_takes_little_by_little_gets_everything,
    );
}

/// Conformance: streams - the suite finds faults
#[test]
fn repeated_octets_are_found() {
    expect_finding(Fault::Repeats, streams::a_send_that_would_block_is_repeated);
}

/// Conformance: streams - the suite finds faults
#[test]
fn a_stream_that_takes_everything_is_found() {
    in_own_process!(|| {
        expect_finding(
            Fault::HoardsAll,
            streams::a_stopped_reader_bounds_what_is_taken,
        );
    });
}

/// Conformance: streams - the suite finds faults
#[test]
fn leaks_are_found() {
    in_own_process!(|| {
        for fault in [Fault::LeaksDescriptors, Fault::LeaksMemory] {
            expect_finding(fault, streams::thousands_of_connections_leave_nothing);
        }
    });
}

/// Conformance: streams - the suite finds faults
#[test]
fn a_source_that_is_always_ready_is_found() {
    expect_finding(Fault::Spins, streams::an_idle_stream_is_not_ready);
}

/// Conformance: streams - the suite finds faults
#[test]
fn allocations_are_found() {
    in_own_process!(|| {
        expect_finding(
            Fault::Allocates,
            orbs::calls_in_steady_state_take_nothing_from_the_heap,
        );
    });
}

/// Conformance: streams - the suite finds faults
#[test]
fn mistyped_parameters_that_go_unnoticed_are_found() {
    expect_finding(
        Fault::IgnoresParameters,
        streams::unknown_parameters_are_refused,
    );
}

/// Conformance: streams - the suite finds faults
#[test]
fn a_direction_that_is_not_ended_is_found() {
    expect_finding(
        Fault::KeepsSending,
        streams::the_client_may_end_its_sending_first,
    );
}
