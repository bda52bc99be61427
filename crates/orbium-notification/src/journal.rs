// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels that store events before they deliver them.

mod stored;
use std::any::Any;

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

/// Called with an event. It may block for as long as the push to a consumer may take.
pub type Deliver = Box<dyn Fn(StructuredEvent) -> Delivered + Send + Sync>;

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
    /// As `Failed`, to the next consumer of that name: this one is gone.
    Gone,
}
