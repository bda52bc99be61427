// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that several consumers share.

use std::any::Any as Content;
use std::fmt;
use std::mem;
use std::ops::Deref;
use std::sync::Arc;

use crate::rtec::rtec_event_comm::Event;

/// An event that several consumers share. Cheap to clone.
///
/// A program that publishes it by [`Publisher::push_shared`](crate::Publisher::push_shared) may
/// attach a content of any type, which consumers of the same process get without conversion; the
/// channel does not read it.
///
/// ```
/// use orbium_event::{SharedEvent, new_event};
///
/// let event = SharedEvent::with_content(new_event(16, 1), "21.5".to_owned(), 4);
/// assert_eq!(event.header.r#type, 16);
/// assert_eq!(event.content::<String>().map(String::as_str), Some("21.5"));
/// assert!(SharedEvent::from(new_event(16, 1)).content::<String>().is_none());
/// ```
#[derive(Clone)]
pub struct SharedEvent(Arc<Shared<dyn Content + Send + Sync>>);

struct Shared<T: ?Sized> {
    event: Event,
    /// Bytes of the content.
    bytes: usize,
    content: T,
}

/// The content of events without content.
struct Nothing;

impl SharedEvent {
    /// An event with a content of so many bytes, which count in the queues of its consumers.
    #[must_use]
    pub fn with_content<T: Content + Send + Sync>(event: Event, content: T, bytes: usize) -> Self {
        Self(Arc::new(Shared {
            event,
            bytes,
            content,
        }))
    }

    /// The content, if it is of this type.
    #[must_use]
    pub fn content<T: Content>(&self) -> Option<&T> {
        self.0.content.downcast_ref()
    }

    /// Whether both are the same event, and not only equal.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The event, copied if it is shared.
    #[must_use]
    pub fn into_event(mut self) -> Event {
        match self.exclusive() {
            Some(event) => mem::take(event),
            None => (*self).clone(),
        }
    }

    /// The event, unless it is shared.
    pub(crate) fn exclusive(&mut self) -> Option<&mut Event> {
        Arc::get_mut(&mut self.0).map(|it| &mut it.event)
    }

    /// Bytes that it occupies in a queue.
    pub(crate) fn bytes(&self) -> usize {
        memory_size(self) + self.0.bytes
    }
}

impl From<Event> for SharedEvent {
    fn from(event: Event) -> Self {
        Self::with_content(event, Nothing, 0)
    }
}

impl Default for SharedEvent {
    fn default() -> Self {
        Event::default().into()
    }
}

impl Deref for SharedEvent {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.0.event
    }
}

impl PartialEq for SharedEvent {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for SharedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Bytes of memory that an event occupies, about, with the type of its any.
#[must_use]
pub fn memory_size(event: &Event) -> usize {
    let any = &event.data.any_value;
    let value = any.value_octets().len() + any.type_code().memory_size();
    size_of::<Event>() + event.data.payload.len() + value
}

#[cfg(test)]
mod tests {
    use orbium::{Any, TypeCode};

    use super::*;
    use crate::new_event;

    /// A peer's type with a name of 16 MiB counted as nothing.
    #[test]
    fn an_event_has_the_bytes_of_the_type_of_its_any() {
        let name = "x".repeat(1 << 20);
        let code = TypeCode::structure("IDL:S:1.0", &name, []);
        let mut event = new_event(16, 1);
        event.data.any_value = Any::with_type(code, &()).unwrap();
        assert!(SharedEvent::from(event).bytes() >= name.len());
    }
}
