// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quality of service requested over a connection, for the connection book.

use std::fmt;
use std::time::Duration;

/// Quality of service requested over a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quality {
    /// The communication class of RIOP; empty for none.
    pub class: &'static str,
    /// The CORBA priority.
    pub priority: Option<i16>,
    /// The interval of requests.
    pub period: Option<Duration>,
    /// The time-out of a call.
    pub deadline: Option<Duration>,
}

/// A text such as `MESSAGE 77, deadline 10ms`.
impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = match (self.class, self.priority) {
            (class, None) => class.to_owned(),
            ("", Some(priority)) => priority.to_string(),
            (class, Some(priority)) => format!("{class} {priority}"),
        };
        let period = self.period.map(|it| format!("period {it:?}"));
        let deadline = self.deadline.map(|it| format!("deadline {it:?}"));
        let head = Some(head).filter(|it| !it.is_empty());
        let said: Vec<_> = [head, period, deadline].into_iter().flatten().collect();
        f.write_str(&said.join(", "))
    }
}
