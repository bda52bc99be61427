// SPDX-License-Identifier: MIT OR Apache-2.0
//! Journals: channels that store events before they deliver them.

mod stored;
use std::any::Any;
use std::fmt;

use orbium::SystemException;

use crate::idl::cos_notification::StructuredEvent;

/// Store of a channel's events before delivery, which delivers them again after a restart.
///
/// A channel with a journal
/// ([`NotificationService::serve_stored`](crate::NotificationService::serve_stored)) passes it
/// every event that the filters of its supplier pass, and delivers the events that the journal
/// returns: all events to unnamed consumers, and to each named consumer those from the position of
/// its name.
pub trait Journal: Send + Sync + 'static {
    /// Stores an event before the push of its supplier returns.
    ///
    /// # Errors
    /// The event may not be stored; the supplier gets the exception.
    fn store(&self, event: &StructuredEvent) -> Result<(), SystemException>;

    /// Whether the name is valid for a consumer.
    fn is_name(&self, name: &str) -> bool;

    /// As [`follow`](Self::follow) with a name, for a persistent connection: the channel has
    /// generated the name, and a new one begins with events that are stored from now on. By default
    /// it begins as other names do.
    ///
    /// # Errors
    /// There is no connection to the journal.
    fn follow_connection(
        &self,
        name: &str,
        deliver: Deliver,
    ) -> Result<Following, SystemException> {
        self.follow(Some(name), deliver)
    }

    /// Removes the position of a connection that has ended. By default it is retained.
    fn forget_connection(&self, name: &str) {
        let _ = name;
    }

    /// Delivers one event after the other until the result is dropped: those of a name from its
    /// position, without a name those from now on.
    ///
    /// # Errors
    /// There is no connection to the journal.
    fn follow(&self, name: Option<&str>, deliver: Deliver) -> Result<Following, SystemException>;
}

/// The kind of a consumer's delivery from a journal.
pub enum Deliver {
    /// Pushed: called with one event after the other. It may block for the duration of the push to
    /// a consumer.
    Push(Box<dyn Fn(StructuredEvent) -> Delivered + Send + Sync>),
    /// Pulled: called with events as they arrive, before it has reported on earlier ones. It may
    /// block for the duration of remote filters.
    Offer(Box<dyn Fn(Offered) + Send + Sync>),
}

impl fmt::Debug for Deliver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Push(_) => "Push",
            Self::Offer(_) => "Offer",
        })
    }
}

/// An event for a pull consumer.
pub struct Offered {
    /// The event.
    pub event: StructuredEvent,
    /// Its position among the events of the journal: of the waiting events the first one is pulled
    /// first.
    pub place: u64,
    /// Whether it is a redelivery; then it is pulled alone.
    pub is_repeated: bool,
    /// Called with the outcome of the event, when it is known.
    pub report: Report,
}

impl fmt::Debug for Offered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offered")
            .field("event", &self.event)
            .field("place", &self.place)
            .field("is_repeated", &self.is_repeated)
            .finish_non_exhaustive()
    }
}

/// Reports the outcome of an event for a pull consumer. It may be called from any thread and with
/// locks held: it does not block, and calls no method of the channel. Until it is called the event
/// is outstanding, and the journal does not deliver it again.
pub type Report = Box<dyn FnOnce(Delivered) + Send>;

/// Ends deliveries when it is dropped.
pub type Following = Box<dyn Any + Send + Sync>;

/// Outcome of an event that a journal has delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// The consumer has received it, or its filters do not pass it.
    Accepted,
    /// It has not been offered to the consumer, which is suspended, full or unreachable; it is to
    /// be delivered later, without a limit.
    Deferred,
    /// The consumer refuses it permanently, with this exception (BAD_PARAM, MARSHAL); it is not to
    /// be delivered to it again.
    Refused(SystemException),
    /// The consumer has failed with it, with this exception; it is to be delivered again.
    Failed(SystemException),
    /// The consumer has failed with it or another event of the same batch; it is to be delivered
    /// again, alone.
    Singly,
    /// As `Failed`, to the next consumer of that name: this one does not exist any more.
    Gone,
}
