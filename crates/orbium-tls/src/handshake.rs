// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a connected socket to keys: drives rustls, one record at a time.
//!
//! Pure but for rustls' clock and randomness: octets in, octets out.

use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::UnbufferedServerConnection;
use rustls::time_provider::TimeProvider;
use rustls::unbuffered::{ConnectionState, EncodeError, UnbufferedStatus};
use rustls::{CommonState, Error, ExtractedSecrets, HandshakeKind, ProtocolVersion};

use crate::control::{Control, Keeper};
use crate::material::{ClientRole, ServerRole};
use crate::receiving::Receiving;
use crate::recheck::Recheck;
use crate::record::{self, HEADER, LARGEST_SEALED, Protection};
use crate::sending::Sending;
use crate::stream::Session;
use crate::{TlsFailure, TlsVersion};

/// Octets received at once.
const STEP: usize = 8 * 1024;

/// Octets of a handshake held at most: rustls takes no message above 64 KiB.
const MOST: usize = 128 * 1024;

enum Connection {
    Client(Box<UnbufferedClientConnection>),
    Server(Box<UnbufferedServerConnection>),
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Receive more, once everything in `outgoing` was sent.
    Receive,
    /// Nothing, once everything in `outgoing` was sent: see [`Handshake::finish`].
    Finish,
}

/// A handshake in progress.
pub(crate) struct Handshake {
    connection: Connection,
    recheck: Recheck,
    clock: Arc<dyn TimeProvider>,
    /// Octets received; the first `shown` were shown to rustls.
    incoming: Vec<u8>,
    filled: usize,
    shown: usize,
    outgoing: Vec<u8>,
    sent: usize,
}

/// What a handshake comes to.
pub(crate) struct Finished {
    pub(crate) sending: Sending,
    pub(crate) receiving: Receiving,
    pub(crate) control: Control,
    pub(crate) session: Session,
    /// As the peer showed them, its own first.
    pub(crate) certificates: Vec<CertificateDer<'static>>,
    /// Whether these are still trusted, if the session is an earlier one.
    pub(crate) trust: Result<(), TlsFailure>,
}

/// What rustls wants after it has looked at some records.
enum Wish {
    Again,
    More,
    Done,
    Closed,
}

impl Handshake {
    /// Of a client, with a server of that name.
    pub(crate) fn client(role: ClientRole, name: ServerName<'static>) -> Result<Self, TlsFailure> {
        let clock = Arc::clone(&role.config.time_provider);
        let connection = UnbufferedClientConnection::new(role.config, name.clone());
        let connection = connection.map_err(|error| TlsFailure::from_rustls(error, true))?;
        let recheck = Recheck::Server(role.verifier, name, role.sessions);
        let connection = Connection::Client(Box::new(connection));
        Ok(Self::of(connection, recheck, clock))
    }

    /// Of a server.
    pub(crate) fn server(role: ServerRole) -> Result<Self, TlsFailure> {
        let clock = Arc::clone(&role.config.time_provider);
        let connection = UnbufferedServerConnection::new(role.config);
        let connection = connection.map_err(|error| TlsFailure::from_rustls(error, false))?;
        let recheck = Recheck::Client(role.verifier, role.sessions);
        let connection = Connection::Server(Box::new(connection));
        Ok(Self::of(connection, recheck, clock))
    }

    fn of(connection: Connection, recheck: Recheck, clock: Arc<dyn TimeProvider>) -> Self {
        Self {
            connection,
            recheck,
            clock,
            incoming: Vec::new(),
            filled: 0,
            shown: 0,
            outgoing: Vec::new(),
            sent: 0,
        }
    }

    /// What is to be sent.
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

    /// Where to receive to.
    pub(crate) fn room(&mut self) -> Result<&mut [u8], TlsFailure> {
        if self.filled >= MOST {
            return Err(TlsFailure::Protocol("an endless handshake".to_owned()));
        }
        self.incoming.resize(self.filled + STEP, 0);
        Ok(&mut self.incoming[self.filled..])
    }

    /// So much was received.
    pub(crate) fn add(&mut self, count: usize) {
        self.filled += count;
    }

    /// Goes as far as what was received allows. A failure may leave something
    /// in `outgoing` that tells the peer.
    pub(crate) fn advance(&mut self) -> Result<Step, TlsFailure> {
        self.check_head()?;
        loop {
            match self.process()? {
                Wish::Again => {}
                Wish::Done => return Ok(Step::Finish),
                Wish::Closed => return Err(TlsFailure::ClosedEarly),
                // One record at a time: what comes behind the handshake is
                // sealed for the record layer, and rustls must not count it.
                Wish::More => match self.next_record()? {
                    Some(end) => self.shown = end,
                    None => return Ok(Step::Receive),
                },
            }
        }
    }

    /// Whether the first octets can be TLS at all.
    fn check_head(&self) -> Result<(), TlsFailure> {
        const MAJOR: u8 = 3;
        match &self.incoming[..self.filled] {
            [20..=23, MAJOR, ..] | [20..=23] | [] => Ok(()),
            _ if self.shown > 0 => Ok(()),
            _ => Err(TlsFailure::NotTls),
        }
    }

    /// The end of the first record not shown yet, if it is there.
    fn next_record(&self) -> Result<Option<usize>, TlsFailure> {
        let hidden = &self.incoming[self.shown..self.filled];
        let too_long = || TlsFailure::Protocol("a record too long".to_owned());
        let length = record::length(hidden).map_err(|_| too_long())?;
        debug_assert!(length.is_none_or(|length| length <= HEADER + LARGEST_SEALED));
        Ok(length
            .filter(|length| *length <= hidden.len())
            .map(|length| self.shown + length))
    }

    /// Lets rustls look at what it was shown.
    fn process(&mut self) -> Result<Wish, TlsFailure> {
        self.look().map_err(|error| {
            // What it has to tell the peer about it.
            while let Ok(Wish::Again) = self.look() {}
            let is_client = matches!(self.connection, Connection::Client(_));
            TlsFailure::from_rustls(error, is_client)
        })
    }

    fn look(&mut self) -> Result<Wish, Error> {
        let shown = &mut self.incoming[..self.shown];
        let out = &mut self.outgoing;
        let (discard, wish) = match &mut self.connection {
            Connection::Client(connection) => {
                let (discard, wish) = wish(connection.process_tls_records(shown), out);
                (discard, wish.map(|wish| settled(wish, connection)))
            }
            Connection::Server(connection) => {
                let (discard, wish) = wish(connection.process_tls_records(shown), out);
                (discard, wish.map(|wish| settled(wish, connection)))
            }
        };
        self.incoming.copy_within(discard..self.filled, 0);
        self.filled -= discard;
        self.shown -= discard;
        wish
    }

    /// Takes the keys out. Everything in `outgoing` must have been sent.
    pub(crate) fn finish(mut self) -> Result<Finished, TlsFailure> {
        let is_client = matches!(self.connection, Connection::Client(_));
        let failed = |error| TlsFailure::from_rustls(error, is_client);
        let common: &CommonState = match &self.connection {
            Connection::Client(connection) => connection,
            Connection::Server(connection) => connection,
        };
        let version = match common.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => TlsVersion::V1_3,
            Some(ProtocolVersion::TLSv1_2) => TlsVersion::V1_2,
            _ => return Err(TlsFailure::NoCommonVersion),
        };
        let suite = common.negotiated_cipher_suite();
        let session = Session {
            version,
            suite: suite.map_or_else(String::new, |suite| format!("{:?}", suite.suite())),
            resumed: common.handshake_kind() == Some(HandshakeKind::Resumed),
        };
        let certificates = common
            .peer_certificates()
            .map(<[CertificateDer<'_>]>::to_vec)
            .unwrap_or_default();
        let trust = match self.clock.current_time() {
            _ if !session.resumed => Ok(()),
            Some(now) => self.recheck.check(&certificates, now).map_err(failed),
            None => Err(failed(Error::FailedToGetCurrentTime)),
        };
        let (secrets, keeper) = match self.connection {
            Connection::Client(connection) => {
                let (secrets, keeper) = connection
                    .dangerous_into_kernel_connection()
                    .map_err(failed)?;
                (secrets, Keeper::Client(keeper))
            }
            Connection::Server(connection) => {
                let (secrets, keeper) = connection
                    .dangerous_into_kernel_connection()
                    .map_err(failed)?;
                (secrets, Keeper::Server(keeper))
            }
        };
        let ExtractedSecrets { tx, rx } = secrets;
        let protection = |secrets| {
            Protection::new(version, secrets)
                .ok_or_else(|| TlsFailure::NothingInCommon("the cipher is not known".to_owned()))
        };
        self.incoming.truncate(self.filled);
        let early = self.incoming.split_off(self.shown);
        Ok(Finished {
            sending: Sending::new(protection(&tx)?),
            receiving: Receiving::new(protection(&rx)?, early),
            control: Control::new(version, keeper),
            session,
            certificates,
            trust,
        })
    }
}

/// Follows rustls one step; what is to be sent goes to `out`.
fn wish<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    out: &mut Vec<u8>,
) -> (usize, Result<Wish, Error>) {
    let UnbufferedStatus { discard, state } = status;
    let wish = state.and_then(|state| match state {
        ConnectionState::EncodeTlsData(mut record) => {
            let start = out.len();
            let room = match record.encode(&mut []) {
                Err(EncodeError::InsufficientSize(size)) => size.required_size,
                Ok(_) => return Ok(Wish::Again),
                Err(error) => return Err(Error::General(error.to_string())),
            };
            out.resize(start + room, 0);
            match record.encode(&mut out[start..]) {
                Ok(_) => Ok(Wish::Again),
                Err(error) => Err(Error::General(error.to_string())),
            }
        }
        // It is sent before anything is received.
        ConnectionState::TransmitTlsData(records) => {
            records.done();
            Ok(Wish::Again)
        }
        ConnectionState::BlockedHandshake => Ok(Wish::More),
        ConnectionState::WriteTraffic(_) => Ok(Wish::Done),
        ConnectionState::PeerClosed | ConnectionState::Closed => Ok(Wish::Closed),
        // Neither early data nor data behind the handshake is ever shown.
        _ => Err(Error::HandshakeNotComplete),
    });
    (discard, wish)
}

/// A side may be allowed to send before the other has proved who it is.
fn settled(wish: Wish, connection: &CommonState) -> Wish {
    match wish {
        Wish::Done if connection.is_handshaking() => Wish::More,
        wish => wish,
    }
}
