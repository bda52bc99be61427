// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events as values.

pub(crate) mod event_types;
pub(crate) mod updates;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use orbium::Any;
use orbium::cdr::CdrError;

use crate::filter::{Subject, now};
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
        let header: &[Property] = match &body {
            Body::Structured(event) => &event.header.variable_header,
            Body::Any(_) => &[],
        };
        let field = |name: &str| header.iter().find(|it| it.name == name).map(|it| &it.value);
        let priority = field("Priority").and_then(|it| it.extract::<i16>().ok());
        let timeout = match field("Timeout").and_then(|it| it.extract::<u64>().ok()) {
            Some(units) => i64::try_from(units).unwrap_or(i64::MAX),
            None => supplier.get(qos::TIMEOUT),
        };
        let timeout = (timeout > 0).then(|| qos::duration(timeout));
        let stop = field("StopTime").and_then(until);
        let life = [timeout, stop].into_iter().flatten().min();
        let supplied = i16::try_from(supplier.get(qos::PRIORITY)).unwrap_or_default();
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

/// The time left until a `TimeBase::UtcT`; zero if it has passed.
// A path to the method would be for one lifetime only.
#[allow(clippy::redundant_closure_for_method_calls)]
fn until(utc: &Any) -> Option<Duration> {
    let units = utc.read_with(|reader| reader.read_u64()).ok()?;
    (utc.type_code().name() == "UtcT").then(|| {
        let left = units.saturating_sub(now());
        Duration::from_nanos(left.saturating_mul(100))
    })
}

fn bytes_of(body: &Body) -> usize {
    let any = |it: &Any| it.value_octets().len() + size_of::<Any>();
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
