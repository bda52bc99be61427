// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connecting to servers, and the system exceptions for failures to.

use std::io;

use orbium_channel::Channel;
use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_invocation::story::{Phase, note};
use orbium_trace::log::Recurring;
use orbium_transport::{ByteStream, Connector, Deadline};

use crate::client_config::ClientConfig;
use crate::counts::Counts;
use crate::errors::{exhausted, no_usable_protocol, not_trusted};
use crate::pools::pool_key::PoolKey;
use orbium_invocation::exceptions::deadline_passed;

/// Raised if the system refuses another thread; the reason is noted.
#[cold]
pub fn no_thread(error: &io::Error) -> SystemException {
    note(Phase::Begin, None, error);
    exhausted()
}

/// The connector to the server that a key names.
///
/// # Errors
/// INV_POLICY: no transport is registered for its channel.
pub fn connector(
    config: &ClientConfig,
    key: &PoolKey,
) -> Result<Box<dyn Connector>, SystemException> {
    let channel = &key.channel;
    let mut options = config.channel_options();
    if let Some(properties) = key.partition.properties(config.properties) {
        options.properties = properties;
    }
    let made = config.protocols.short_connector(channel, &options);
    let bidirectional = config.bidirectional.clone();
    let made = match bidirectional.filter(|_| key.partition.is_bidirectional) {
        Some(both) => made.map(|inner| both.connector(inner, channel, &config.protocols)),
        None => made,
    };
    made.map_err(|refusal| {
        orbium_trace::log::debug!(target: "orbium::conn", %channel, %refusal, "not usable");
        no_usable_protocol()
    })
}

/// Connects without blocking in the stream: the caller waits for its readiness.
///
/// # Errors
/// The errors of the transport, or `TimedOut` after the deadline.
pub fn nonblocking(
    connector: &dyn Connector,
    deadline: Deadline,
) -> io::Result<Box<dyn ByteStream>> {
    let stream = connector.connect(deadline)?;
    // Completes a handshake, which would wait differently from a message.
    stream.send(&[])?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// The system exception for a connection that could not be opened.
pub fn refused(
    error: &io::Error,
    deadline: Deadline,
    channel: &Channel,
    counts: &Counts,
) -> SystemException {
    if deadline.has_passed() {
        return deadline_passed();
    }
    if error.kind() == io::ErrorKind::PermissionDenied {
        if let Some(suppressed) = counts.admit(Recurring::NotTrusted) {
            orbium_trace::log::warn!(target: "orbium::tls", address = %channel, %error, suppressed, "the peer is not trusted");
        }
        return not_trusted();
    }
    if orbium_sys::is_exhausted(error) {
        orbium_trace::log::warn!(target: "orbium::conn", %error, "nothing left to connect with");
        return exhausted();
    }
    let code = match error.kind() {
        io::ErrorKind::ConnectionRefused => minor::CONNECT_REFUSED,
        // The socket file does not exist: no server listens.
        io::ErrorKind::NotFound if channel.is_within_host() => minor::CONNECT_REFUSED,
        io::ErrorKind::NotFound => minor::HOST_UNKNOWN,
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => minor::CONNECT_TIMEOUT,
        _ => minor::CONNECT_FAILED,
    };
    SystemException::orbium(ExceptionKind::Transient, code, Completion::No)
}
