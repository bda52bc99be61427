// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events as consumers of notification see them.

use std::ops::Deref;
use std::sync::Arc;

use crate::event::Event;

/// An event as consumers of a channel see it.
pub(crate) enum Seen<'e> {
    /// As a supplier of that channel has pushed it.
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
