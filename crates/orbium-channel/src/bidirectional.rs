// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that carry the requests of both sides, as the two sides of an ORB use them.

use std::fmt;
use std::io;
use std::sync::Arc;

use orbium_transport::{ByteStream, Connector};

use crate::accepting::Accepting;
use crate::connection::{Connection, Delivery};
use crate::{Channel, Protocols};

/// The connections of an ORB that carry the requests of both sides (CORBA 3.3 Part 2, clause
/// 9.9). The crate `orbium-bidir` implements it.
pub trait BidirectionalConnections: fmt::Debug + Send + Sync {
    /// The acceptors of a lane that listens at those channels: its own, and one for the
    /// connections that the ORB opens, if no other lane has that one.
    ///
    /// # Errors
    /// No descriptors are left.
    fn accepting(
        self: Arc<Self>,
        accepting: Accepting,
        channels: &[Channel],
    ) -> io::Result<Accepting>;

    /// A connector to a channel over connections that go both ways; `inner` for a channel
    /// that can have none.
    fn connector(
        self: Arc<Self>,
        inner: Box<dyn Connector>,
        channel: &Channel,
        protocols: &Protocols,
    ) -> Box<dyn Connector>;
}

/// One half of a bidirectional connection: the [extension](ByteStream::extension) of the stream by
/// which its user sends, and waits for what arrives.
///
/// The connection below the halves has the framing. [`ByteStream::receive`] of a half gets no
/// room, and returns the bytes of the delivery that [`Deliveries::take`] then returns.
#[derive(Clone, Debug)]
pub enum BidirectionalHalf {
    /// Of a connection of the calling side.
    Calling(Arc<dyn Deliveries>),
    /// Of the server engine.
    Serving(Arc<dyn Bidirectional>),
}

impl BidirectionalHalf {
    /// The half that a stream is of, if it is of any.
    #[must_use]
    pub fn of(stream: &dyn ByteStream) -> Option<&Self> {
        stream.extension()?.downcast_ref()
    }

    /// The same, of the server engine.
    #[must_use]
    pub fn serving(stream: &dyn ByteStream) -> Option<&dyn Bidirectional> {
        match Self::of(stream)? {
            Self::Serving(half) => Some(&**half),
            Self::Calling(_) => None,
        }
    }

    /// Whether its messages are delivered: before requests go both ways, the server engine
    /// receives bytes.
    #[must_use]
    pub fn is_delivered(&self) -> bool {
        match self {
            Self::Calling(_) => true,
            Self::Serving(half) => half.is_both(),
        }
    }

    /// What has arrived for it.
    #[must_use]
    pub fn deliveries(&self) -> &dyn Deliveries {
        match self {
            Self::Calling(half) => &**half,
            Self::Serving(half) => &**half,
        }
    }
}

/// What has arrived for one half of a bidirectional connection.
pub trait Deliveries: fmt::Debug + Send + Sync {
    /// Takes the next delivery. `room` is memory that is not needed any more, for a later one.
    fn take(&self, room: Vec<u8>) -> Option<Delivery>;
}

/// A bidirectional connection, or one that may become so, as the server engine sees it.
pub trait Bidirectional: Deliveries {
    /// The client has announced its listen points, in the data of a service context. If requests go
    /// both ways from now on, `share` is called: it returns the connection with all that was
    /// received behind the announcing request.
    fn announce(&self, points: &[u8], share: &mut dyn FnMut() -> Connection);

    /// Whether this side has opened it: requests that come over it are those of the server.
    fn is_opened_here(&self) -> bool;

    /// Whether requests of both sides go over it by now.
    fn is_both(&self) -> bool;

    /// Whether this side has calls over it, or keeps it for some.
    fn is_called_over(&self) -> bool;

    /// Receives what is there into the memory of the connection, without blocking; requests
    /// are delivered later. For connections that have no room for replies: the peer
    /// may itself wait until this side takes some.
    ///
    /// # Errors
    /// The stream has ended.
    fn read_ahead(&self) -> io::Result<()>;

    /// Whether few requests were read ahead so far.
    fn may_read_ahead(&self) -> bool;
}
