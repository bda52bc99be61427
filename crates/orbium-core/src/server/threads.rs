// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread per connection: it reads, and runs the servants itself.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use orbium_sys::{Interest, Poller, Ready};
use orbium_transport::{Acceptor, ByteStream, Deadline};

use crate::Orb;
use crate::server::connection::ServerConnection;
use crate::server::intake::{HandOver, Intake, Source, Taken};
use crate::server::{Shared, WAKER};

/// How long nothing is accepted after the system refused a connection.
const PAUSE: Duration = Duration::from_millis(20);

/// Starts the thread that accepts.
pub(super) fn start(
    orb: &Orb,
    shared: &Arc<Shared>,
    acceptors: Vec<Box<dyn Acceptor>>,
) -> io::Result<()> {
    let poller = Poller::new()?;
    register_acceptors(&poller, shared, &acceptors)?;
    let serving = Serving {
        orb: orb.downgrade(),
        shared: Arc::clone(shared),
    };
    shared
        .threads
        .run(move || serving.accept(&poller, &acceptors))
}

/// Registers the waker and the acceptors; the token of an acceptor is its
/// place, from 1 on.
pub(super) fn register_acceptors(
    poller: &Poller,
    shared: &Shared,
    acceptors: &[Box<dyn Acceptor>],
) -> io::Result<()> {
    poller.add(shared.waker.source(), WAKER, Interest::Read)?;
    for (token, acceptor) in (1..).zip(acceptors) {
        poller.add(&acceptor.source(), token, Interest::Read)?;
    }
    Ok(())
}

/// What a serving thread needs. It does not keep the ORB alive by itself.
#[derive(Clone)]
struct Serving {
    orb: std::sync::Weak<crate::orb::OrbCore>,
    shared: Arc<Shared>,
}

impl Serving {
    fn accept(&self, poller: &Poller, acceptors: &[Box<dyn Acceptor>]) {
        let mut ready: Vec<Ready> = Vec::new();
        while !self.shared.is_stopping() {
            if let Err(error) = poller.wait(&mut ready, None) {
                tracing::error!(%error, "cannot wait for connections");
                return;
            }
            for Ready { token } in &ready {
                let place = usize::try_from(*token).unwrap_or(0).checked_sub(1);
                let Some(acceptor) = place.and_then(|place| acceptors.get(place)) else {
                    continue;
                };
                match acceptor.accept() {
                    Ok(stream) => self.take_on(stream),
                    // Let others give some back; this thread has nothing else
                    // to do.
                    Err(error) if is_refusal(&error) => thread::sleep(PAUSE),
                    Err(_) => {}
                }
            }
        }
    }

    fn take_on(&self, stream: Box<dyn ByteStream>) {
        let Some(orb) = self.orb.upgrade().map(Orb::from) else {
            return;
        };
        let limits = &orb.config().limits;
        let (send_time, fragments) = (limits.send_time, orb.config().fragment_size);
        // A receive that lasts too long is interrupted, so that a peer which
        // leaves a message unfinished is found out; see `read`.
        let timeouts = stream.set_timeouts(Some(Some(limits.message_time)), Some(Some(send_time)));
        if timeouts.is_err() {
            return;
        }
        let registered = self.shared.register(limits.connections, |id| {
            ServerConnection::new(id, stream, send_time, fragments, None)
        });
        let Some(connection) = registered else {
            tracing::warn!("connection refused: the limit of connections is reached");
            return;
        };
        let intake = Intake::new(limits, &*connection.stream);
        if !self.read_elsewhere(&connection, intake) {
            self.shared.forget(connection.id);
        }
    }

    fn read_elsewhere(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool {
        let (serving, connection) = (self.clone(), Arc::clone(connection));
        let spawned = self
            .shared
            .threads
            .run(move || serving.read(&connection, intake));
        if let Err(error) = &spawned {
            tracing::warn!(%error, "no thread for a connection");
        }
        spawned.is_ok()
    }

    /// Reads a connection to its end, or until another thread does.
    fn read(&self, connection: &Arc<ServerConnection>, mut intake: Intake) {
        let Some(orb) = self.orb.upgrade().map(Orb::from) else {
            return;
        };
        let message_time = orb.config().limits.message_time;
        let mut unfinished: Option<Deadline> = None;
        // Whether the stream keeps part of what comes next to itself.
        let mut midway = false;
        let source = Source {
            orb: &orb,
            connection,
            reader: self,
        };
        loop {
            match intake.take(&source) {
                Taken::Done => {
                    unfinished = None;
                    // Mostly nothing was received behind the message: then
                    // there is no need to look.
                    if intake.framing.is_partial() {
                        continue;
                    }
                }
                Taken::HandedOver => return,
                Taken::Close => break,
                Taken::None => {}
            }
            if intake.framing.is_partial() || midway {
                // Looked at only while a message is incomplete.
                let limit = *unfinished.get_or_insert_with(|| Deadline::after(Some(message_time)));
                if limit.has_passed() {
                    tracing::debug!(peer = %connection.peer(), "message not completed in time");
                    break;
                }
            }
            if self.shared.is_stopping() || intake.is_assembly_late() {
                break;
            }
            probe!(ServerStart);
            match intake.framing.receive(&*connection.stream) {
                Ok(0) => break,
                Ok(_) => midway = false,
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        midway = connection.stream.is_midway();
                        if !midway && !intake.framing.is_partial() {
                            unfinished = None;
                        }
                    }
                    _ => break,
                },
            }
        }
        connection.end();
        self.shared.forget(connection.id);
    }
}

/// Whether accepting failed for want of something, descriptors most likely,
/// rather than because nobody is there.
pub(super) fn is_refusal(error: &io::Error) -> bool {
    let harmless = matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted
    );
    if !harmless {
        tracing::warn!(%error, "cannot accept a connection");
    }
    !harmless
}

impl HandOver for Serving {
    fn hand_over(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool {
        self.read_elsewhere(connection, intake)
    }
}
