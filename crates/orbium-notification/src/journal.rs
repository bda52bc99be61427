// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels that store events before they deliver them.

mod stored;
use std::any::Any;
use std::fmt;

use orbium::SystemException;

use crate::idl::cos_notification::StructuredEvent;

/// Store of a channel's events before delivery, which returns them after a restart.
///
/// A channel with a journal ([`NotificationService::serve_stored`](crate::NotificationService::serve_stored))
/// passes it every event that the filters of its supplier pass, and delivers what the journal returns: all events
/// to consumers without names, and to each consumer with a name those from where the name ended.
pub trait Journal: Send + Sync + 'static {
    /// Stores an event. The push of its supplier returns with this.
    ///
    /// # Errors
    /// The event may not be stored; the supplier gets the exception.
    fn store(&self, event: &StructuredEvent) -> Result<(), SystemException>;

    /// Whether a consumer may have this name.
    fn is_name(&self, name: &str) -> bool;

    /// As [`follow`](Self::follow) with a name, for a connection that survives the process: the channel has made the name, and a new one
    /// begins with what is stored from now on. By default it begins as other names do.
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

    /// Removes the position of a connection that has ended. By default it is left.
    fn forget_connection(&self, name: &str) {
        let _ = name;
    }

    /// Delivers one event after the other until the result is dropped: those of a name from where it ended,
    /// without a name those from now on.
    ///
    /// # Errors
    /// There is no connection to the journal.
    fn follow(&self, name: Option<&str>, deliver: Deliver) -> Result<Following, SystemException>;
}

/// How a consumer gets the events of a journal.
pub enum Deliver {
    /// It is pushed to: called with one event after the other. It may block for as long as the push to a consumer may take.
    Push(Box<dyn Fn(StructuredEvent) -> Delivered + Send + Sync>),
    /// It pulls: called with events as they arrive, while it has not reported on those before. It may block for as long as remote
    /// filters may take.
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

/// An event for a consumer that pulls.
pub struct Offered {
    /// The event.
    pub event: StructuredEvent,
    /// Its place among the events of the journal: of those that wait the first one is pulled first.
    pub place: u64,
    /// Whether it was delivered before; then it is pulled by itself.
    pub is_repeated: bool,
    /// Called with what the consumer has made of the event, when that is known.
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

/// Reports what a consumer that pulls has made of an event. It may be called from any thread and with locks held: it does not block, and
/// calls nothing of the channel. While it is not called the consumer has the event, and the journal does not deliver it once more.
pub type Report = Box<dyn FnOnce(Delivered) + Send>;

/// Ends deliveries when it is dropped.
pub type Following = Box<dyn Any + Send + Sync>;

/// Outcome of an event that a journal has delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// The consumer has it, or its filters do not pass it.
    Accepted,
    /// It has not been offered to the consumer, which is suspended, full or cannot be reached; it is to be delivered
    /// later, however often that is.
    Deferred,
    /// The consumer refuses it, whenever it comes, with this exception (BAD_PARAM, MARSHAL); it is not to be delivered to
    /// it again.
    Refused(SystemException),
    /// The consumer has failed with it, and this is the exception; it is to be delivered once more.
    Failed(SystemException),
    /// The consumer has failed with it or another event that it got together with it; it is to be delivered once more, by itself.
    Singly,
    /// As `Failed`, to the next consumer of that name: this one is gone.
    Gone,
}
