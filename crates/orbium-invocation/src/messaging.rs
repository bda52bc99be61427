// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a caller wants of the binding and of oneways: RebindPolicy and SyncScopePolicy of
//! CORBA Messaging (CORBA 3.3 Part 1, clause 17.2).

use orbium_giop::ResponseFlags;

/// RebindPolicy: what the ORB does by itself when an object cannot be reached as before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RebindMode {
    /// TRANSPARENT: forwards are followed, and closed connections are opened again.
    #[default]
    Transparent,
    /// NO_REBIND: closed connections are opened again; a LOCATION_FORWARD raises REBIND.
    NoRebind,
    /// NO_RECONNECT: a LOCATION_FORWARD raises REBIND, and so does each call after a connection
    /// to the server was lost, closed, or given up because a call on it took too long. A new
    /// reference binds again.
    NoReconnect,
}

/// SyncScopePolicy: when a oneway call returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncScope {
    /// SYNC_WITH_TRANSPORT: the transport has accepted the request.
    #[default]
    WithTransport,
    /// SYNC_WITH_SERVER: the server has received the request, and has not begun the servant.
    /// Failures up to there are raised, and forwards are followed.
    WithServer,
    /// SYNC_WITH_TARGET: the servant has returned. System exceptions are raised as by an
    /// operation with a reply.
    WithTarget,
}

impl SyncScope {
    /// What a oneway request asks of its server (CORBA 3.3 Part 2, clause 9.4.2.1).
    #[must_use]
    pub const fn response(self) -> ResponseFlags {
        match self {
            Self::WithTransport => ResponseFlags::None,
            Self::WithServer => ResponseFlags::SyncWithServer,
            Self::WithTarget => ResponseFlags::Full,
        }
    }
}
