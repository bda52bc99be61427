// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversion between structured events and events of a real-time event channel.

use orbium::cdr::CdrError;
use orbium::{Any, cdr::TCKind};
use orbium_event::new_event;
use orbium_event::rtec::rtec_event_comm::Event;

use crate::event::{ANY_TYPE, as_any, event_type, property, structured_event};
use crate::idl::cos_notification::{EventType, StructuredEvent};

/// The domain and the name of events of the real-time event channel without an assigned type.
const REAL_TIME: (&str, &str) = ("RtecEventComm", "Event");

/// The types and sources of structured events in a real-time event channel, and the event types of
/// that channel's events for structured consumers.
///
/// ```
/// use orbium_notification::{EventHeaders, structured_event};
///
/// let headers = EventHeaders::new(16, 1).with("Telecom", "Alarm", (17, 1));
/// assert_eq!(headers.of(&structured_event("Telecom", "Alarm", "link 7")), (17, 1));
/// assert_eq!(headers.of(&structured_event("Telecom", "Traffic", "link 7")), (16, 1));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EventHeaders {
    others: (i32, i32),
    by_type: Vec<(EventType, (i32, i32))>,
}

impl EventHeaders {
    /// All structured events have this type and source.
    #[must_use]
    pub fn new(r#type: i32, source: i32) -> Self {
        Self {
            others: (r#type, source),
            by_type: Vec::new(),
        }
    }

    /// Assigns another type and source to structured events of a domain and event type. Events of
    /// that type and source, including those of other suppliers, are of this domain and type for
    /// structured consumers.
    #[must_use]
    pub fn with(mut self, domain: &str, name: &str, header: (i32, i32)) -> Self {
        self.by_type.push((event_type(domain, name), header));
        self
    }

    /// The type and source of a structured event.
    #[must_use]
    pub fn of(&self, event: &StructuredEvent) -> (i32, i32) {
        let wanted = &event.header.fixed_header.event_type;
        let found = self.by_type.iter().find(|(it, _)| it == wanted);
        found.map_or(self.others, |(_, header)| *header)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (i32, i32)> {
        let by_type = self.by_type.iter().map(|(_, header)| *header);
        by_type.chain([self.others])
    }

    /// The event of the channel for a structured one: its any is the structured event, or the
    /// pushed any.
    pub(super) fn to_event(&self, structured: &StructuredEvent) -> Result<Event, CdrError> {
        let (r#type, source) = self.of(structured);
        let mut event = new_event(r#type, source);
        event.data.any_value = as_any(structured)?.into_owned();
        Ok(event)
    }

    /// The structured event of an event: that of its any, or one with its type, its source and its
    /// any or its payload.
    pub(super) fn to_structured(&self, event: &Event) -> StructuredEvent {
        if let Ok(structured) = event.data.any_value.extract::<StructuredEvent>() {
            return structured;
        }
        let (r#type, source) = (event.header.r#type, event.header.source);
        let mut named = self.by_type.iter();
        let named = named.find(|(_, it)| *it == (r#type, source));
        let is_any = event.data.any_value.type_code().kind() != TCKind::Null;
        let mut structured = match named {
            Some((kind, _)) => structured_event(&kind.domain_name, &kind.type_name, ""),
            None if is_any && (r#type, source) == self.others => structured_event("", ANY_TYPE, ""),
            None => structured_event(REAL_TIME.0, REAL_TIME.1, ""),
        };
        structured.filterable_data = vec![property("type", r#type), property("source", source)];
        structured.remainder_of_body = if is_any {
            event.data.any_value.clone()
        } else {
            // An octet sequence can be encoded.
            Any::new(&event.data.payload).unwrap_or_default()
        };
        structured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers() -> EventHeaders {
        EventHeaders::new(16, 1).with("Telecom", "Alarm", (17, 2))
    }

    #[test]
    fn a_structured_event_survives_the_channel() {
        for (name, header) in [("Alarm", (17, 2)), ("Traffic", (16, 1))] {
            let mut structured = structured_event("Telecom", name, "link 7");
            structured.filterable_data = vec![property("severity", 5i16)];
            let event = headers().to_event(&structured).unwrap();
            assert_eq!((event.header.r#type, event.header.source), header);
            assert_eq!(headers().to_structured(&event), structured);
        }
    }

    #[test]
    fn an_any_is_the_any_of_the_event() {
        let mut structured = structured_event("", ANY_TYPE, "");
        structured.remainder_of_body = 7i32.into();
        let event = headers().to_event(&structured).unwrap();
        assert_eq!(event.data.any_value, Any::from(7i32));
        let returned = headers().to_structured(&event);
        assert_eq!(returned.header, structured.header);
        assert_eq!(returned.remainder_of_body, structured.remainder_of_body);
    }

    #[test]
    fn events_of_other_suppliers_have_type_source_and_payload() {
        let mut event = new_event(17, 2);
        event.data.payload = vec![1, 2];
        let named = headers().to_structured(&event);
        let kind = &named.header.fixed_header.event_type;
        assert_eq!(*kind, event_type("Telecom", "Alarm"));
        assert_eq!(named.remainder_of_body.extract::<Vec<u8>>(), Ok(vec![1, 2]));
        event.header.r#type = 99;
        let other = headers().to_structured(&event);
        let kind = &other.header.fixed_header.event_type;
        assert_eq!(*kind, event_type("RtecEventComm", "Event"));
        let numbers = other
            .filterable_data
            .iter()
            .map(|it| it.value.extract::<i32>());
        assert_eq!(numbers.collect::<Vec<_>>(), [Ok(99), Ok(2)]);
    }
}
