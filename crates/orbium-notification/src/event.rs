// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events as values.

pub(crate) mod event_types;
mod expiry;
pub(crate) mod updates;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use orbium::Any;
use orbium::cdr::CdrError;

use crate::event::expiry::{priority_of, until, utc_after};
use crate::filter::Subject;
use crate::idl::cos_notification::{
    EventHeader, EventType, FixedEventHeader, Property, StructuredEvent,
};
use crate::qos::{self, Level};

/// A structured event without properties and body.
#[must_use]
pub fn structured_event(domain: &str, r#type: &str, name: &str) -> StructuredEvent {
    StructuredEvent {
        header: EventHeader {
            fixed_header: FixedEventHeader {
                event_type: event_type(domain, r#type),
                event_name: name.to_owned(),
            },
            variable_header: Vec::new(),
        },
        ..StructuredEvent::default()
    }
}

/// A type of events.
#[must_use]
pub fn event_type(domain: &str, r#type: &str) -> EventType {
    EventType {
        domain_name: domain.to_owned(),
        type_name: r#type.to_owned(),
    }
}

/// A property: a name and a value.
#[must_use]
pub fn property(name: &str, value: impl Into<Any>) -> Property {
    Property {
        name: name.to_owned(),
        value: value.into(),
    }
}

/// A pushed event, in the form of its supplier.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Structured(StructuredEvent),
    Any(Any),
}

/// An event in the channel, shared by its consumers.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) body: Body,
    /// Approximate bytes of its memory.
    pub(crate) bytes: usize,
    /// The priority set by its header or its supplier.
    pub(crate) priority: Option<i16>,
    pub(crate) expires: Option<Instant>,
    undelivered: Undelivered,
}

/// The number of events that are not yet delivered to all consumers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Population(Arc<AtomicUsize>);

impl Population {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
struct Undelivered(Population);

impl Drop for Undelivered {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Event {
    /// An event that arrives from a supplier with these properties.
    pub(crate) fn new(body: Body, supplier: &Level, population: &Population, now: Instant) -> Self {
        let supplied = (supplier.get(qos::PRIORITY), supplier.get(qos::TIMEOUT));
        Self::with(supplied, body, population, now)
    }

    /// An event that was [stored](Self::to_store): its header has what its supplier had set.
    pub(crate) fn stored(body: Body, population: &Population, now: Instant) -> Self {
        Self::with((0, 0), body, population, now)
    }

    /// An event with the priority and the timeout of its supplier.
    fn with(
        (priority, timeout): (i64, i64),
        body: Body,
        population: &Population,
        now: Instant,
    ) -> Self {
        let header: &[Property] = match &body {
            Body::Structured(event) => &event.header.variable_header,
            Body::Any(_) => &[],
        };
        let supplied = i16::try_from(priority).unwrap_or_default();
        let priority = priority_of(header);
        let field = |name: &str| header.iter().find(|it| it.name == name).map(|it| &it.value);
        let timeout = match field("Timeout").and_then(|it| it.extract::<u64>().ok()) {
            Some(units) => i64::try_from(units).unwrap_or(i64::MAX),
            None => timeout,
        };
        let timeout = (timeout > 0).then(|| qos::duration(timeout));
        let stop = field("StopTime").and_then(until);
        let life = [timeout, stop].into_iter().flatten().min();
        population.0.fetch_add(1, Ordering::Relaxed);
        Self {
            bytes: bytes_of(&body),
            priority: priority.or((supplied != 0).then_some(supplied)),
            expires: life.and_then(|it| now.checked_add(it)),
            body,
            undelivered: Undelivered(population.clone()),
        }
    }

    /// Whether it is counted in this population.
    pub(crate) fn is_of(&self, population: &Population) -> bool {
        Arc::ptr_eq(&self.undelivered.0.0, &population.0)
    }

    pub(crate) fn subject(&self) -> Subject<'_> {
        match &self.body {
            Body::Structured(event) => Subject::Structured(event),
            Body::Any(any) => Subject::Any(any),
        }
    }

    /// The domain and the name of its type.
    pub(crate) fn event_type(&self) -> (&str, &str) {
        match &self.body {
            Body::Structured(event) => {
                let it = &event.header.fixed_header.event_type;
                (&it.domain_name, &it.type_name)
            }
            Body::Any(_) => ("", ANY_TYPE),
        }
    }

    /// The event for structured consumers.
    pub(crate) fn structured(&self) -> Cow<'_, StructuredEvent> {
        match &self.body {
            Body::Structured(event) => Cow::Borrowed(event),
            Body::Any(any) => {
                let mut event = structured_event("", ANY_TYPE, "");
                event.remainder_of_body = any.clone();
                Cow::Owned(event)
            }
        }
    }

    /// As a journal stores it. The time at which it expires and its priority, which its supplier may have given it, are in the header: they
    /// do not depend on when it is delivered.
    pub(crate) fn to_store(&self, now: Instant) -> Cow<'_, StructuredEvent> {
        let mut event = self.structured();
        let priority = self
            .priority
            .filter(|it| priority_of(&event.header.variable_header) != Some(*it));
        if let Some(priority) = priority {
            let fields = &mut event.to_mut().header.variable_header;
            fields.retain(|it| it.name != "Priority");
            fields.push(property("Priority", priority));
        }
        if let Some(expires) = self.expires {
            let fields = &mut event.to_mut().header.variable_header;
            fields.retain(|it| it.name != "Timeout" && it.name != "StopTime");
            let left = expires.saturating_duration_since(now);
            fields.push(property("StopTime", utc_after(left)));
        }
        event
    }

    /// The event for consumers of anys.
    pub(crate) fn any(&self) -> Result<Cow<'_, Any>, CdrError> {
        match &self.body {
            Body::Structured(event) => as_any(event),
            Body::Any(any) => Ok(Cow::Borrowed(any)),
        }
    }
}

/// A structured event for consumers of anys: one that was pushed as an any is that any again.
pub(crate) fn as_any(event: &StructuredEvent) -> Result<Cow<'_, Any>, CdrError> {
    let kind = &event.header.fixed_header.event_type;
    if kind.domain_name.is_empty() && kind.type_name == ANY_TYPE {
        return Ok(Cow::Borrowed(&event.remainder_of_body));
    }
    Any::new(event).map(Cow::Owned)
}

/// The type of an event without structure for structured consumers.
pub(crate) const ANY_TYPE: &str = "%ANY";

fn bytes_of(body: &Body) -> usize {
    let any = |it: &Any| it.value_octets().len() + it.type_code().memory_size() + size_of::<Any>();
    let list = |list: &[Property]| -> usize {
        list.iter()
            .map(|it| it.name.len() + any(&it.value) + size_of::<String>())
            .sum()
    };
    let body = match body {
        Body::Structured(event) => {
            let header = &event.header;
            let kind = &header.fixed_header.event_type;
            let names = kind.domain_name.len()
                + kind.type_name.len()
                + header.fixed_header.event_name.len();
            names
                + list(&header.variable_header)
                + list(&event.filterable_data)
                + any(&event.remainder_of_body)
        }
        Body::Any(value) => any(value),
    };
    body + size_of::<Event>()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use orbium::TypeCode;

    use super::*;

    #[test]
    fn a_stored_event_has_its_priority_and_the_time_at_which_it_expires() {
        let (then, population) = (Instant::now(), Population::default());
        let event = |fields: Vec<Property>| {
            let mut event = structured_event("Telecom", "Alarm", "");
            event.header.variable_header = fields;
            Event::with((3, 20_000_000), Body::Structured(event), &population, then)
        };
        let stored = |fields| event(fields).to_store(then).into_owned();
        let fields = stored(vec![property("Timeout", 100_000_000u64)]);
        let fields = fields.header.variable_header;
        assert_eq!(priority_of(&fields), Some(3));
        assert!(fields.iter().all(|it| it.name != "Timeout"));
        let left = fields.iter().find_map(|it| until(&it.value)).unwrap();
        assert!(
            (Duration::from_secs(2)..=Duration::from_secs(10)).contains(&left),
            "{left:?}"
        );
        // It never expires, and has its own priority.
        let own = vec![property("Timeout", 0u64), property("Priority", 0i16)];
        assert_eq!(stored(own.clone()).header.variable_header, own);
    }

    /// A peer's type with a name of 16 MiB counted as nothing.
    #[test]
    fn an_event_has_the_bytes_of_the_types_of_its_anys() {
        let name = "x".repeat(1 << 20);
        let code = TypeCode::structure("IDL:S:1.0", &name, []);
        let any = Any::with_type(code, &()).unwrap();
        let mut event = structured_event("Telecom", "Alarm", "");
        event.filterable_data.push(property("p", any.clone()));
        event.remainder_of_body = any.clone();
        assert!(bytes_of(&Body::Structured(event)) >= 2 * name.len());
        assert!(bytes_of(&Body::Any(any)) >= name.len());
    }
}
