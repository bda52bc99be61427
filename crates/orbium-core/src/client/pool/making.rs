// SPDX-License-Identifier: MIT OR Apache-2.0
//! Opening connections, and the system exceptions for failures to.

use std::io;

use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_sys::made_of;
use orbium_transport::ByteStream;
use orbium_transport::{Connector, Deadline};

use super::{Pool, Source};
use crate::client::binding::no_usable_protocol;
use crate::client::connection::Connection;
use crate::client::counts::{Counted, Counts};
use crate::client::link::{deadline_passed, not_trusted};
use crate::client::pools::PoolKey;
use crate::client::{reacting, story};
use crate::log::Recurring;
use crate::{Channel, Config};

impl Pool {
    /// A new connection, or a call slot of the multiplexed one.
    pub(super) fn connect(&self, deadline: Deadline) -> Result<Box<Connection>, SystemException> {
        let limit = Deadline::after(Some(self.config.connect_timeout.0));
        let earliest = deadline.earlier(limit);
        let negotiated = self.key.negotiated;
        let begun = story::start_connecting();
        let made = match &self.source {
            Source::Exclusive(connector) => {
                let made = match self.reacts {
                    false => connector.connect(earliest),
                    true => reacting::connect(connector, earliest),
                };
                made.map(|stream| {
                    let counted = Counted::new(&self.counts, &self.key.channel);
                    let stream = counted.metered(stream);
                    let made = Connection::new(stream, &self.config, negotiated, Some(counted));
                    if self.reacts { made.reacting() } else { made }
                })
            }
            Source::Shared(multiplexer) => {
                multiplexer
                    .call_slot(earliest)
                    .map(|(stream, (last, distance))| {
                        let mut slot = Connection::new(stream, &self.config, negotiated, None);
                        slot.number_from(last, distance);
                        slot
                    })
            }
        };
        match made {
            Ok(connection) => {
                story::note_connecting(&self.key.channel, begun, None);
                Ok(Box::new(connection))
            }
            Err(error) => Err(made_of(error, |error| {
                crate::log::debug!(target: "orbium::conn", channel = %self.key.channel, %error, "cannot connect");
                story::note_connecting(&self.key.channel, begun, Some(error));
                refused(error, deadline, &self.key.channel, &self.counts)
            })),
        }
    }
}

/// What connects to the server that a key names.
pub(in crate::client) fn connector(
    config: &Config,
    key: &PoolKey,
) -> Result<Box<dyn Connector>, SystemException> {
    let channel = &key.channel;
    let mut options = config.channel_options();
    if let Some(properties) = key.partition.properties(config.properties) {
        options.properties = properties;
    }
    let made = config.protocols.connector(channel, &options);
    made.map_err(|refusal| {
        crate::log::debug!(target: "orbium::conn", %channel, %refusal, "not usable");
        no_usable_protocol()
    })
}

/// Connects without blocking in the stream: the caller waits for its readiness.
pub(in crate::client) fn nonblocking(
    connector: &dyn Connector,
    deadline: Deadline,
) -> io::Result<Box<dyn ByteStream>> {
    let stream = connector.connect(deadline)?;
    // Completes a handshake, which would wait otherwise than a message does.
    stream.send(&[])?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// Raised where the system gives no further thread or descriptor.
#[cold]
pub(in crate::client) fn exhausted() -> SystemException {
    let (kind, code) = (ExceptionKind::NoResources, minor::SYSTEM_EXHAUSTED);
    SystemException::orbium(kind, code, Completion::No)
}

/// Raised where the system gives no further thread; why is noted.
#[cold]
pub(in crate::client) fn no_thread(error: &io::Error) -> SystemException {
    story::note(story::Phase::Begin, None, error);
    exhausted()
}

/// The system exception for a connection that could not be made.
#[inline(never)]
pub(in crate::client) fn refused(
    error: &io::Error,
    deadline: Deadline,
    channel: &Channel,
    counts: &Counts,
) -> SystemException {
    if deadline.has_passed() {
        return deadline_passed();
    }
    if orbium_sys::kind_of(error) == io::ErrorKind::PermissionDenied {
        if let Some(suppressed) = counts.admit(Recurring::NotTrusted) {
            crate::log::warn!(target: "orbium::tls", address = %channel, %error, suppressed, "the peer is not trusted");
        }
        return not_trusted();
    }
    if orbium_sys::is_exhausted(error) {
        crate::log::warn!(target: "orbium::conn", %error, "nothing left to connect with");
        return exhausted();
    }
    let code = match orbium_sys::kind_of(error) {
        io::ErrorKind::ConnectionRefused => minor::CONNECT_REFUSED,
        // The socket file does not exist: no server listens.
        io::ErrorKind::NotFound if channel.is_within_host() => minor::CONNECT_REFUSED,
        io::ErrorKind::NotFound => minor::HOST_UNKNOWN,
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => minor::CONNECT_TIMEOUT,
        _ => minor::CONNECT_FAILED,
    };
    SystemException::orbium(ExceptionKind::Transient, code, Completion::No)
}
