// SPDX-License-Identifier: MIT OR Apache-2.0
//! The last warnings and errors of the process, kept from the time on when an ORB of it
//! shows itself.

use std::collections::VecDeque;
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use orbium_sync::lock::{Mutex, MutexGuard};

/// Maximum number of stored events.
const MAX_EVENTS: usize = 200;

/// Maximum octets of the text of an event: some contain text of peers.
const MAX_TEXT_LENGTH: usize = 500;

/// One event, or several consecutive equal ones.
#[derive(Clone, Debug)]
pub struct Event {
    /// `warn` or `error`.
    pub level: &'static str,
    /// The message, followed by its fields.
    pub text: String,
    /// Number of consecutive occurrences.
    pub times: u64,
    /// The last time.
    pub at: Instant,
}

static ARE_KEPT: AtomicBool = AtomicBool::new(false);

static RECENT: Mutex<VecDeque<Event>> = Mutex::new(VecDeque::new());

fn lock() -> MutexGuard<'static, VecDeque<Event>> {
    RECENT.lock()
}

/// Keeps events from now on.
pub fn keep() {
    ARE_KEPT.store(true, Relaxed);
}

/// Whether events are stored.
#[must_use]
pub fn are_kept() -> bool {
    ARE_KEPT.load(Relaxed)
}

/// Keeps an event, in printable characters.
#[cold]
pub fn note(level: &'static str, text: &str) {
    add(&mut lock(), level, text);
}

/// Stores an event with fields after its message.
#[cold]
pub fn note_event(level: &'static str, message: &str, fields: &[(&str, &dyn Field)]) {
    let mut text = message.to_owned();
    for (name, field) in fields {
        if let Some(value) = field.shown() {
            text.push_str(&format!(" {name}={value}"));
        }
    }
    note(level, &text);
}

fn add(events: &mut VecDeque<Event>, level: &'static str, text: &str) {
    let end = boundary(text, MAX_TEXT_LENGTH);
    let printable = |c: char| if c.is_control() { '?' } else { c };
    let text: String = text[..end].chars().map(printable).collect();
    let at = Instant::now();
    if let Some(last) = events.back_mut()
        && (last.level, &last.text) == (level, &text)
    {
        last.times += 1;
        last.at = at;
        return;
    }
    if events.len() == MAX_EVENTS {
        events.pop_front();
    }
    events.push_back(Event {
        level,
        text,
        times: 1,
        at,
    });
}

/// The stored events, oldest first.
#[must_use]
pub fn events() -> Vec<Event> {
    lock().iter().cloned().collect()
}

/// The value of a field of an event; `None` is omitted.
pub trait Field {
    /// The value, as the event shows it.
    fn shown(&self) -> Option<String>;
}

macro_rules! fields {
    ($($type:ty)*) => { $(
        impl Field for $type {
            fn shown(&self) -> Option<String> {
                Some(self.to_string())
            }
        }
    )* };
}

fields! { bool i32 i64 u16 u32 u64 usize f64 str String }

impl Field for fmt::Arguments<'_> {
    fn shown(&self) -> Option<String> {
        let mut text = String::new();
        // A value that cannot be formatted completely is shown as far as possible.
        let _ = text.write_fmt(*self);
        Some(text)
    }
}

impl<T: Field + ?Sized> Field for &T {
    fn shown(&self) -> Option<String> {
        (**self).shown()
    }
}

impl<T: Field> Field for Option<T> {
    fn shown(&self) -> Option<String> {
        self.as_ref().and_then(Field::shown)
    }
}

/// The last boundary of characters in `text` at `at` or before.
fn boundary(text: &str, at: usize) -> usize {
    let mut end = at.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_bounded_counted_and_printable() {
        let mut events = VecDeque::new();
        for number in 0..MAX_EVENTS + 7 {
            add(&mut events, "warn", &format!("event {number}"));
        }
        assert_eq!(events.len(), MAX_EVENTS);
        assert_eq!(events[0].text, "event 7");
        for _ in 0..3 {
            add(&mut events, "error", "again\u{1b}[31m\n");
        }
        let last = events.back().unwrap();
        assert_eq!((&*last.text, last.times), ("again?[31m?", 3));
        add(&mut events, "warn", &"é".repeat(MAX_TEXT_LENGTH));
        assert_eq!(events.back().unwrap().text.len(), MAX_TEXT_LENGTH);
        add(
            &mut events,
            "warn",
            &format!("x{}", "é".repeat(MAX_TEXT_LENGTH)),
        );
        assert_eq!(events.back().unwrap().text.len(), MAX_TEXT_LENGTH - 1);
    }

    #[test]
    fn a_text_has_the_message_first() {
        let (peer, octets) = ("192.0.2.1:5", 7_usize);
        let (missing, lane) = (None::<String>, Some("urgent"));
        crate::note_fields!(
            "warn"; [];
            target: "orbium::x",
            %peer,
            octets,
            missing,
            lane,
            rpc.system = "corba",
            most = 2 + 1,
            shown = ?peer,
            "no room"
        );
        let expected = "no room peer=192.0.2.1:5 octets=7 lane=urgent rpc.system=corba most=3 \
                        shown=\"192.0.2.1:5\"";
        let kept = events();
        assert!(kept.iter().any(|it| it.text == expected), "{kept:?}");
    }
}
