// SPDX-License-Identifier: MIT OR Apache-2.0
//! A subscriber of `tracing` that records spans and events.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use orbium::lock::{Mutex, MutexGuard};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_core::span::Current;

use crate::waiting::eventually;

/// Fields by their name, as text.
pub type Fields = BTreeMap<String, String>;

/// A recorded span.
#[derive(Clone, Debug)]
pub struct RecordedSpan {
    /// The id, unique among the spans.
    pub id: u64,
    /// The enclosing span.
    pub parent: Option<u64>,
    /// The static metadata.
    pub metadata: &'static Metadata<'static>,
    /// The fields recorded so far.
    pub fields: Fields,
    /// Whether it is closed.
    pub is_closed: bool,
    handles: usize,
}

impl RecordedSpan {
    /// The value of a field; empty if it has none.
    #[must_use]
    pub fn get(&self, field: &str) -> &str {
        self.fields.get(field).map_or("", String::as_str)
    }
}

/// A recorded event.
#[derive(Clone, Debug)]
pub struct RecordedEvent {
    /// The current span.
    pub span: Option<u64>,
    /// The static metadata.
    pub metadata: &'static Metadata<'static>,
    /// The message.
    pub message: String,
    /// The other fields.
    pub fields: Fields,
}

impl RecordedEvent {
    /// The value of a field; empty if it has none.
    #[must_use]
    pub fn get(&self, field: &str) -> &str {
        self.fields.get(field).map_or("", String::as_str)
    }
}

#[derive(Debug, Default)]
struct Kept {
    spans: Vec<RecordedSpan>,
    events: Vec<RecordedEvent>,
}

/// The subscriber of a whole process: for tests in a separate process.
#[derive(Clone, Debug)]
pub struct Recorder {
    most: LevelFilter,
    kept: Arc<Mutex<Kept>>,
}

thread_local! {
    static ENTERED: RefCell<Vec<Id>> = const { RefCell::new(Vec::new()) };
}

impl Recorder {
    /// Records spans and events of at least this level of importance from now on.
    ///
    /// # Panics
    /// The process already has a subscriber.
    #[must_use]
    pub fn install(most: LevelFilter) -> Self {
        let recorder = Self {
            most,
            kept: Arc::default(),
        };
        tracing::subscriber::set_global_default(recorder.clone()).expect("the only subscriber");
        recorder
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock()
    }

    /// All spans of that name so far.
    #[must_use]
    pub fn spans(&self, name: &str) -> Vec<RecordedSpan> {
        let kept = self.lock();
        let spans = kept.spans.iter();
        spans
            .filter(|it| it.metadata.name() == name)
            .cloned()
            .collect()
    }

    /// Waits until so many spans of that name are closed, and requires that there are no others.
    ///
    /// # Panics
    /// There are others.
    #[must_use]
    pub fn ended(&self, name: &str, count: usize) -> Vec<RecordedSpan> {
        let ended = |spans: &[RecordedSpan]| spans.iter().filter(|it| it.is_closed).count();
        eventually("the spans are over", || ended(&self.spans(name)) >= count);
        let spans = self.spans(name);
        assert_eq!(spans.len(), count, "{spans:#?}");
        spans
    }

    /// All events so far with a message that contains a text.
    #[must_use]
    pub fn events(&self, message: &str) -> Vec<RecordedEvent> {
        let kept = self.lock();
        let events = kept.events.iter();
        events
            .filter(|it| it.message.contains(message))
            .cloned()
            .collect()
    }

    /// Waits for the first event with a message that contains a text and with fields that satisfy a
    /// condition.
    ///
    /// # Panics
    ///
    /// There is none within a minute.
    pub fn event(&self, message: &str, is_it: impl Fn(&RecordedEvent) -> bool) -> RecordedEvent {
        let find = || self.events(message).into_iter().find(|it| is_it(it));
        eventually(&format!("an event `{message}`"), || find().is_some());
        find().expect("it was there")
    }

    /// The numbers of spans and events.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let kept = self.lock();
        (kept.spans.len(), kept.events.len())
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.most && metadata.target().starts_with("orbium")
            || metadata.target().starts_with("test") && *metadata.level() <= Level::INFO
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.most)
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let parent = match attributes.parent() {
            Some(parent) => Some(parent.into_u64()),
            None if attributes.is_contextual() => current(),
            None => None,
        };
        let mut kept = self.lock();
        let id = kept.spans.len() as u64 + 1;
        let mut reader = Reader::default();
        attributes.record(&mut reader);
        kept.spans.push(RecordedSpan {
            id,
            parent,
            metadata: attributes.metadata(),
            fields: reader.fields,
            is_closed: false,
            handles: 1,
        });
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut reader = Reader::default();
        values.record(&mut reader);
        let place = span.into_u64() as usize - 1;
        self.lock().spans[place].fields.append(&mut reader.fields);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut reader = Reader::default();
        event.record(&mut reader);
        self.lock().events.push(RecordedEvent {
            span: current(),
            metadata: event.metadata(),
            message: reader.fields.remove("message").unwrap_or_default(),
            fields: reader.fields,
        });
    }

    fn enter(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(span.clone()));
    }

    fn exit(&self, span: &Id) {
        let left = ENTERED.with_borrow_mut(Vec::pop);
        assert_eq!(left.as_ref(), Some(span), "spans are left in order");
    }

    fn clone_span(&self, span: &Id) -> Id {
        self.lock().spans[span.into_u64() as usize - 1].handles += 1;
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        let mut kept = self.lock();
        let span = &mut kept.spans[span.into_u64() as usize - 1];
        span.handles -= 1;
        span.is_closed = span.handles == 0;
        span.is_closed
    }

    fn current_span(&self) -> Current {
        let Some(id) = current() else {
            return Current::none();
        };
        Current::new(
            Id::from_u64(id),
            self.lock().spans[id as usize - 1].metadata,
        )
    }
}

fn current() -> Option<u64> {
    ENTERED.with_borrow(|entered| entered.last().map(Id::into_u64))
}

#[derive(Default)]
struct Reader {
    fields: Fields,
}

impl Visit for Reader {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields
            .insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields
            .insert(field.name().to_owned(), format!("{value:?}"));
    }
}
