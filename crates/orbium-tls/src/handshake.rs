// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a connected socket to a connection with an authenticated peer: drives rustls.
//!
//! Pure except for rustls' clock and randomness: octets in, octets out.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::time_provider::TimeProvider;
use rustls::{
    ClientConnection, Connection, Error, HandshakeKind, ProtocolVersion, ServerConnection,
};

use crate::certificate::material::{ClientRole, ServerRole};
use crate::certificate::recheck::Recheck;
use crate::session::Session;
use crate::stream::receiving::Receiving;
use crate::stream::sending::{MAX_WRITE, Sending};
use crate::{TlsFailure, TlsVersion};

/// Maximum octets of a handshake: rustls accepts no message above 64 KiB.
const MAX_HANDSHAKE_BYTES: usize = 128 * 1024;

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Receive more, once everything in `outgoing` was sent.
    Receive,
    /// None, once everything in `outgoing` is sent: see [`Handshake::finish`].
    Finish,
}

/// A handshake in progress.
pub(crate) struct Handshake {
    connection: Connection,
    recheck: Recheck,
    clock: Arc<dyn TimeProvider>,
    receiving: Receiving,
    /// Octets received.
    received: usize,
    outgoing: Vec<u8>,
    sent: usize,
}

/// The result of a handshake.
pub(crate) struct Finished {
    pub(crate) connection: Connection,
    pub(crate) sending: Sending,
    pub(crate) receiving: Receiving,
    pub(crate) session: Session,
    /// As presented by the peer, its own first.
    pub(crate) certificates: Vec<CertificateDer<'static>>,
    /// Whether these are still trusted, for a resumed session.
    pub(crate) trust: Result<(), TlsFailure>,
}

impl Handshake {
    /// Of a client, with a server of that name.
    pub(crate) fn client(role: ClientRole, name: ServerName<'static>) -> Result<Self, TlsFailure> {
        let clock = Arc::clone(&role.config.time_provider);
        let connection = ClientConnection::new(role.config, name.clone());
        let connection = connection.map_err(|error| TlsFailure::from_rustls(error, true))?;
        let recheck = Recheck::Server(role.verifier, name, role.sessions);
        Ok(Self::of(connection.into(), recheck, clock))
    }

    /// Of a server.
    pub(crate) fn server(role: ServerRole) -> Result<Self, TlsFailure> {
        let clock = Arc::clone(&role.config.time_provider);
        let connection = ServerConnection::new(role.config);
        let connection = connection.map_err(|error| TlsFailure::from_rustls(error, false))?;
        let recheck = Recheck::Client(role.verifier, role.sessions);
        Ok(Self::of(connection.into(), recheck, clock))
    }

    fn of(mut connection: Connection, recheck: Recheck, clock: Arc<dyn TimeProvider>) -> Self {
        connection.set_buffer_limit(Some(MAX_WRITE));
        Self {
            connection,
            recheck,
            clock,
            receiving: Receiving::new(),
            received: 0,
            outgoing: Vec::new(),
            sent: 0,
        }
    }

    /// The octets to be sent.
    pub(crate) fn outgoing(&self) -> &[u8] {
        &self.outgoing[self.sent..]
    }

    /// So much of it was sent.
    pub(crate) fn mark_sent(&mut self, count: usize) {
        self.sent += count;
        if self.sent >= self.outgoing.len() {
            self.outgoing.clear();
            self.sent = 0;
        }
    }

    /// The room to receive into.
    pub(crate) fn room(&mut self) -> Result<&mut [u8], TlsFailure> {
        if self.received >= MAX_HANDSHAKE_BYTES {
            return Err(TlsFailure::Protocol("an endless handshake".to_owned()));
        }
        Ok(self.receiving.room())
    }

    /// So much was received.
    pub(crate) fn add(&mut self, count: usize) {
        self.received += count;
        self.receiving.add(count);
    }

    /// Advances as far as the received data permit. After a failure, `outgoing` may contain an
    /// alert for the peer.
    pub(crate) fn advance(&mut self) -> Result<Step, TlsFailure> {
        self.receiving.feed(&mut self.connection);
        while self.connection.wants_write() {
            self.connection
                .write_tls(&mut self.outgoing)
                .map_err(|error| TlsFailure::Protocol(error.to_string()))?;
        }
        if !self.connection.is_handshaking() {
            // A failure after the handshake is reported by the stream.
            return Ok(Step::Finish);
        }
        match self.receiving.failure() {
            Some(failure) => Err(failure.clone()),
            None if self.receiving.has_ended() => Err(TlsFailure::ClosedEarly),
            None => Ok(Step::Receive),
        }
    }

    /// Returns the connection. Everything in `outgoing` must have been sent.
    pub(crate) fn finish(self) -> Result<Finished, TlsFailure> {
        let connection = self.connection;
        let is_client = matches!(connection, Connection::Client(_));
        let failed = |error| TlsFailure::from_rustls(error, is_client);
        let version = match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => TlsVersion::V1_3,
            Some(ProtocolVersion::TLSv1_2) => TlsVersion::V1_2,
            _ => return Err(TlsFailure::NoCommonVersion),
        };
        let suite = connection.negotiated_cipher_suite();
        let session = Session {
            version,
            suite: suite.map_or_else(String::new, |suite| format!("{:?}", suite.suite())),
            resumed: connection.handshake_kind() == Some(HandshakeKind::Resumed),
        };
        let certificates = connection
            .peer_certificates()
            .map(<[CertificateDer<'_>]>::to_vec)
            .unwrap_or_default();
        let trust = match self.clock.current_time() {
            _ if !session.resumed => Ok(()),
            Some(now) => self.recheck.check(&certificates, now).map_err(failed),
            None => Err(failed(Error::FailedToGetCurrentTime)),
        };
        Ok(Finished {
            sending: Sending::new(&connection),
            receiving: self.receiving,
            connection,
            session,
            certificates,
            trust,
        })
    }
}
