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
    /// The acceptors of a lane that listens at those channels: its own, and one for the connections
    /// that the ORB opens, unless another lane has that one.
    ///
    /// # Errors
    /// The process has run out of descriptors.
    fn accepting(
        self: Arc<Self>,
        accepting: Accepting,
        channels: &[Channel],
    ) -> io::Result<Accepting>;

    /// A connector to a channel over bidirectional connections; `inner` for a channel that supports
    /// none.
    fn connector(
        self: Arc<Self>,
        inner: Box<dyn Connector>,
        channel: &Channel,
        protocols: &Protocols,
    ) -> Box<dyn Connector>;
}

/// One half of a bidirectional connection: the [extension](ByteStream::extension) of the stream
/// through which its user sends and waits for input.
///
/// The underlying connection does the framing. [`ByteStream::receive`] of a half is called with an
/// empty buffer, and returns the bytes of the delivery that [`Deliveries::take`] then returns.
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

    /// The same, for the server engine.
    #[must_use]
    pub fn serving(stream: &dyn ByteStream) -> Option<&dyn Bidirectional> {
        match Self::of(stream)? {
            Self::Serving(half) => Some(&**half),
            Self::Calling(_) => None,
        }
    }

    /// Whether its messages are delivered whole: before requests are sent in both directions, the
    /// server engine receives bytes.
    #[must_use]
    pub fn is_delivered(&self) -> bool {
        match self {
            Self::Calling(_) => true,
            Self::Serving(half) => half.is_both(),
        }
    }

    /// Its queue of deliveries.
    #[must_use]
    pub fn deliveries(&self) -> &dyn Deliveries {
        match self {
            Self::Calling(half) => &**half,
            Self::Serving(half) => &**half,
        }
    }
}

/// The queue of deliveries of one half of a bidirectional connection.
pub trait Deliveries: fmt::Debug + Send + Sync {
    /// Takes the next delivery. `room` is a buffer for reuse by a later one.
    fn take(&self, room: Vec<u8>) -> Option<Delivery>;
}

/// A bidirectional connection, or one that may become so, as accessed by the server engine.
pub trait Bidirectional: Deliveries {
    /// Notes the listen points that the client has announced in a service context. If the
    /// connection becomes bidirectional, `share` is called: it returns the connection with all
    /// bytes received after the announcing request.
    fn announce(&self, points: &[u8], share: &mut dyn FnMut() -> Connection);

    /// Whether this side has opened it: requests received over it come from the server.
    fn is_opened_here(&self) -> bool;

    /// Whether requests are now sent in both directions.
    fn is_both(&self) -> bool;

    /// Whether this side makes calls over it, or retains it for calls.
    fn is_called_over(&self) -> bool;

    /// Receives the available bytes into the memory of the connection, without blocking; requests
    /// are delivered later. For connections that cannot accept replies: the peer may itself wait
    /// until this side receives. Returns whether more may come: neither side has ended the
    /// direction.
    ///
    /// # Errors
    /// The stream has failed.
    fn read_ahead(&self) -> io::Result<bool>;

    /// Whether the number of requests read ahead is below the limit.
    fn may_read_ahead(&self) -> bool;
}
