// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quality of service that requests ask for, as the book of connections shows it.

use std::fmt;

/// Quality of service that the requests of a connection ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// The communication class of RIOP; empty for none.
    pub class: &'static str,
    /// The CORBA priority.
    pub priority: Option<i16>,
}

/// Such as `MESSAGE 77`.
impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.class, self.priority) {
            (class, None) => f.write_str(class),
            ("", Some(priority)) => write!(f, "{priority}"),
            (class, Some(priority)) => write!(f, "{class} {priority}"),
        }
    }
}
