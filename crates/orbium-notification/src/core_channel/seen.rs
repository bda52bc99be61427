// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events for consumers of notification.

use std::ops::Deref;
use std::sync::Arc;

use crate::event::Event;

/// An event for the consumers of a channel.
pub(crate) enum Seen<'e> {
    /// An event of a supplier of that channel.
    Pushed(&'e Event),
    /// An event of a supplier of the real-time channel behind it.
    Converted(Arc<Event>),
}

impl Deref for Seen<'_> {
    type Target = Event;

    fn deref(&self) -> &Event {
        match self {
            Self::Pushed(event) => event,
            Self::Converted(event) => event,
        }
    }
}
