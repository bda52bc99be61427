// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversion of an event channel's events for notification.

use std::sync::Arc;
use std::time::Instant;

use orbium_event::SharedEvent;

use crate::channel::Channel;
use crate::core_channel::seen::Seen;
use crate::event::{Body, Event, Population};

impl Channel {
    /// An event for the consumers of this channel; `None` if it is of another one.
    pub(crate) fn seen<'e>(&self, event: &'e SharedEvent, now: Instant) -> Option<Seen<'e>> {
        let pushed = event.content::<Event>();
        if let Some(pushed) = pushed.filter(|it| it.is_of(&self.population)) {
            return Some(Seen::Pushed(pushed));
        }
        let front = self.core.front.as_ref()?;
        let found = front.converted.lock().find(event);
        let converted = found.unwrap_or_else(|| {
            let body = Body::Structured(front.headers.to_structured(event));
            // It does not count in this channel: the real-time channel has separate bounds.
            let new = Event::new(body, &self.level, &Population::default(), now);
            let new = Arc::new(new);
            front.converted.lock().add(event, &new);
            new
        });
        Some(Seen::Converted(converted))
    }
}
