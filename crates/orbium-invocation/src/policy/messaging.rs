// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messaging policies of a caller: RebindPolicy and SyncScopePolicy of CORBA Messaging (CORBA
//! 3.3 Part 1, clause 17.2), and the buffering of oneways.

use std::time::Duration;

use orbium_giop::ResponseFlags;

/// RebindPolicy: the transparent recovery when an object cannot be reached as before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RebindMode {
    /// TRANSPARENT: forwards are followed, and closed connections are reopened.
    #[default]
    Transparent,
    /// NO_REBIND: closed connections are reopened; a LOCATION_FORWARD raises REBIND.
    NoRebind,
    /// NO_RECONNECT: a LOCATION_FORWARD raises REBIND, and so does each call after a connection to
    /// the server was lost, closed, or given up because of a call's time-out. A new reference binds
    /// again.
    NoReconnect,
}

/// SyncScopePolicy: when a oneway call returns. The numbers are those of `Messaging::SyncScope`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(i16)]
pub enum SyncScope {
    /// SYNC_NONE: the request is in the buffer of its connection, sent according to
    /// [`BufferingConstraint`]. Later failures are not raised.
    None = 0,
    /// SYNC_WITH_TRANSPORT: the transport has accepted the request.
    #[default]
    WithTransport = 1,
    /// SYNC_WITH_SERVER: the server has received the request, and has not begun the servant.
    /// Failures up to there are raised, and forwards are followed.
    WithServer = 2,
    /// SYNC_WITH_TARGET: the servant has returned. System exceptions are raised as by an
    /// operation with a reply.
    WithTarget = 3,
}

impl SyncScope {
    /// The reply that a oneway request expects of its server (CORBA 3.3 Part 2, clause 9.4.2.1).
    #[must_use]
    pub const fn response(self) -> ResponseFlags {
        match self {
            Self::None | Self::WithTransport => ResponseFlags::None,
            Self::WithServer => ResponseFlags::SyncWithServer,
            Self::WithTarget => ResponseFlags::Full,
        }
    }
}

/// Constraint of the time that oneways under [`SyncScope::None`] stay in the buffer of their
/// connection: until the first of the constraints is reached (the buffering constraints of TAO,
/// which can be combined). Without any (the default, TAO's BUFFER_FLUSH) the buffer is sent at
/// once, as far as the connection accepts it without blocking, and the rest as soon as it does. A
/// message of 16 KiB or more is sent at once too, after those in the buffer.
///
/// ```
/// use std::time::Duration;
///
/// use orbium_invocation::BufferingConstraint;
///
/// let often = BufferingConstraint {
///     timeout: Some(Duration::from_millis(5)),
///     message_bytes: Some(16 << 10),
///     ..BufferingConstraint::default()
/// };
/// assert!(!often.is_reached(100, 2_000));
/// assert!(often.is_reached(1, 20_000));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferingConstraint {
    /// BUFFER_TIMEOUT: the maximum time, counted from the first message in the buffer.
    pub timeout: Option<Duration>,
    /// BUFFER_MESSAGE_COUNT: the maximum number of messages.
    pub message_count: Option<usize>,
    /// BUFFER_MESSAGE_BYTES: the maximum size in octets.
    pub message_bytes: Option<usize>,
}

impl BufferingConstraint {
    /// Whether a buffer with that number of messages and that size has to be sent now,
    /// independently of the time.
    #[must_use]
    pub fn is_reached(&self, messages: usize, octets: usize) -> bool {
        let is_reached = |limit: Option<usize>, value: usize| limit.is_some_and(|it| value >= it);
        *self == Self::default()
            || is_reached(self.message_count, messages)
            || is_reached(self.message_bytes, octets)
    }
}
