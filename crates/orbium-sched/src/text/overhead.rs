// SPDX-License-Identifier: MIT OR Apache-2.0
//! Overheads as text.

use std::fmt;
use std::str::FromStr;

use super::field::shortened;
use super::read::{TextError, fault, located};
use super::word::{Fault, Word, words};
use crate::options::Overhead;
use crate::time::Time;

/// The fields.
const FIELDS: [&str; 3] = ["call", "context-switch", "blocking"];

/// The required fields: without them any text would be an empty overhead.
const REQUIRED: [&str; 2] = ["call", "context-switch"];

/// The times of a text, in the order of [`FIELDS`].
type Times = [Option<Time>; FIELDS.len()];

/// Reads `call`, `context-switch` and the optional `blocking`; `#` begins a comment.
///
/// ```
/// use orbium_sched::{Overhead, Time};
///
/// let overhead: Overhead = "call=\"35 us\" context-switch=\"2.5 us\"".parse()?;
/// assert_eq!(overhead.call, Time::from_micros(35));
/// assert_eq!(overhead.blocking, Time::ZERO);
/// assert_eq!(overhead.to_string().parse(), Ok(overhead));
/// # Ok::<(), orbium_sched::TextError>(())
/// ```
impl FromStr for Overhead {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut times = Times::default();
        let mut last = 1;
        for (number, line) in (1..).zip(text.lines()) {
            let words = words(line).map_err(|it| located(number, it))?;
            for word in words {
                set(&mut times, &word).map_err(|it| located(number, it))?;
            }
            last = number;
        }
        for (field, time) in FIELDS.iter().zip(times) {
            if time.is_none() && REQUIRED.contains(field) {
                return Err(located(last, missing(field)));
            }
        }
        let [call, context_switch, blocking] = times.map(Option::unwrap_or_default);
        Ok(Overhead {
            call,
            context_switch,
            blocking,
        })
    }
}

/// The same text, on one line.
impl fmt::Display for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (call, context_switch) = (self.call, self.context_switch);
        write!(f, "call=\"{call}\" context-switch=\"{context_switch}\"")?;
        if !self.blocking.is_zero() {
            write!(f, " blocking=\"{}\"", self.blocking)?;
        }
        Ok(())
    }
}

fn set(times: &mut Times, word: &Word) -> Result<(), Fault> {
    let Some(field) = &word.field else {
        return Err(fault(word, "a field such as call=\"20 us\" expected"));
    };
    let Some(index) = FIELDS.iter().position(|it| it == field) else {
        let (field, known) = (shortened(field), FIELDS.join(", "));
        return Err(fault(word, format!("`{field}` is none of {known}")));
    };
    let time = word.value.parse::<Time>();
    let time = time.map_err(|error| fault(word, format!("{}: {error}", FIELDS[index])))?;
    match times[index].replace(time) {
        None => Ok(()),
        Some(_) => Err(fault(word, format!("`{field}` is set twice"))),
    }
}

fn missing(field: &str) -> Fault {
    Fault {
        start: 0,
        end: 0,
        message: format!("`{field}` is missing, such as {field}=\"20 us\""),
    }
}
