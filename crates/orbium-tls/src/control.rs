// SPDX-License-Identifier: MIT OR Apache-2.0
//! What both directions of a connection share: the rest of the handshake.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustls::client::ClientConnectionData;
use rustls::kernel::KernelConnection;
use rustls::server::ServerConnectionData;

use crate::record::Protection;
use crate::testing::Known;
use crate::{TlsFailure, TlsVersion};

/// What rustls keeps of a connection, for new keys and new tickets.
pub(crate) enum Keeper {
    /// Of a client.
    Client(KernelConnection<ClientConnectionData>),
    /// Of a server.
    Server(KernelConnection<ServerConnectionData>),
    /// Of nobody: keys that everybody knows, for tests.
    Known(Known),
}

/// Not used for any message; locked when keys or tickets come, for as long as
/// it takes to compute them.
pub(crate) struct Control {
    pub(crate) version: TlsVersion,
    pub(crate) is_client: bool,
    keeper: Mutex<Keeper>,
    /// The peer wants our next key, and that we announce it.
    wants_key: AtomicBool,
}

impl Control {
    pub(crate) fn new(version: TlsVersion, keeper: Keeper) -> Self {
        Self {
            version,
            is_client: match &keeper {
                Keeper::Client(_) => true,
                Keeper::Server(_) => false,
                Keeper::Known(known) => known.is_client,
            },
            keeper: Mutex::new(keeper),
            wants_key: AtomicBool::new(false),
        }
    }

    fn keeper(&self) -> MutexGuard<'_, Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failure(&self, error: rustls::Error) -> TlsFailure {
        TlsFailure::from_rustls(error, self.is_client)
    }

    /// Remembers a ticket of TLS 1.3, to take the session up again.
    pub(crate) fn keep_ticket(&self, ticket: &[u8]) -> Result<(), TlsFailure> {
        match &mut *self.keeper() {
            Keeper::Client(connection) => connection
                .handle_new_session_ticket(ticket)
                .map_err(|error| self.failure(error)),
            Keeper::Server(_) => Err(TlsFailure::Protocol("a ticket from a client".to_owned())),
            Keeper::Known(_) => Ok(()),
        }
    }

    /// The next key of the peer.
    pub(crate) fn next_receiving(&self) -> Result<Protection, TlsFailure> {
        let secrets = match &mut *self.keeper() {
            Keeper::Client(connection) => connection.update_rx_secret(),
            Keeper::Server(connection) => connection.update_rx_secret(),
            Keeper::Known(known) => known.next_receiving(),
        };
        self.protection(secrets)
    }

    /// Our next key.
    pub(crate) fn next_sending(&self) -> Result<Protection, TlsFailure> {
        let secrets = match &mut *self.keeper() {
            Keeper::Client(connection) => connection.update_tx_secret(),
            Keeper::Server(connection) => connection.update_tx_secret(),
            Keeper::Known(known) => known.next_sending(),
        };
        self.protection(secrets)
    }

    fn protection(
        &self,
        secrets: Result<(u64, rustls::ConnectionTrafficSecrets), rustls::Error>,
    ) -> Result<Protection, TlsFailure> {
        let secrets = secrets.map_err(|error| self.failure(error))?;
        Protection::new(self.version, &secrets)
            .ok_or_else(|| TlsFailure::NothingInCommon("the cipher is not known".to_owned()))
    }

    /// The peer asks for our next key.
    pub(crate) fn ask_for_key(&self) {
        self.wants_key.store(true, Ordering::Release);
    }

    /// Whether it has, since last time.
    #[inline]
    pub(crate) fn is_asked_for_key(&self) -> bool {
        self.wants_key.load(Ordering::Relaxed) && self.wants_key.swap(false, Ordering::AcqRel)
    }
}
