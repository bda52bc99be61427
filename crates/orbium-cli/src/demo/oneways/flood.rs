// SPDX-License-Identifier: MIT OR Apache-2.0
//! Floods of oneways: how many were sent, and how many arrived.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::demo::columns::{CALL_WIDTH, CELL_WIDTH};
use crate::demo::place::Place;
use crate::stage::timing::thousands;

/// An operation that was sent for a while.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sent {
    /// The operation, for people.
    pub(crate) call: String,
    /// Calls that the transport accepted.
    pub(crate) sent: u64,
    /// Calls sent per second.
    pub(crate) rate: f64,
    /// Calls that each receiver served.
    pub(crate) received: Vec<u64>,
}

impl Sent {
    /// The fraction of lost calls, over all receivers.
    fn lost(&self) -> f64 {
        let due = (self.sent * self.received.len() as u64) as f64;
        1.0 - self.received.iter().sum::<u64>() as f64 / due.max(1.0)
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "call": self.call,
            "sent": self.sent,
            "calls_per_second": self.rate,
            "received": self.received,
            "lost": self.lost(),
        })
    }

    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let received = value["received"].as_array()?;
        Some(Self {
            call: value["call"].as_str()?.to_owned(),
            sent: value["sent"].as_u64()?,
            rate: value["calls_per_second"].as_f64()?,
            received: received.iter().map(Value::as_u64).collect::<Option<_>>()?,
        })
    }
}

/// The oneways over one protocol.
#[derive(Clone, Debug)]
pub(crate) struct Flood {
    /// The protocol.
    pub(crate) protocol: &'static str,
    /// The CPUs of the sender, as client, and of the receivers.
    pub(crate) place: Place,
    /// One row for each operation.
    pub(crate) rows: Vec<Sent>,
}

/// The text below the tables.
pub(crate) const EXPLANATION: &str = "
sent: calls that the system took, as fast as it did; received: what the receivers counted
when nothing more came. The system drops what a receiver has no time for.
";

impl Flood {
    pub(crate) fn to_json(&self) -> Value {
        let rows: Value = self.rows.iter().map(Sent::to_json).collect();
        let mut flood = self.place.to_json();
        flood["protocol"] = self.protocol.into();
        flood["rows"] = rows;
        flood
    }

    pub(crate) fn write(&self, text: &mut String) {
        let receivers = self.rows.first().map_or(0, |row| row.received.len());
        let receivers = match receivers {
            1 => "one receiver".to_owned(),
            n => format!("{n} receivers"),
        };
        let place = match self.place {
            Place::Together(cpu) => format!("one processor: all on CPU {cpu}"),
            Place::Split { client, server } => {
                format!("one processor each: sender on CPU {client}, {receivers} on CPU {server}",)
            }
            Place::Free => "processes free".to_owned(),
        };
        let _ = writeln!(text, "\n{}, oneways to {receivers}, {place}", self.protocol);
        let _ = write!(text, "{:CALL_WIDTH$}", "call");
        for heading in ["sent", "calls/s", "lost"] {
            let _ = write!(text, "{heading:>CELL_WIDTH$}");
        }
        text.push_str("   received\n");
        for row in &self.rows {
            let _ = write!(text, "{:CALL_WIDTH$}", row.call);
            let lost = format!("{:.1} %", 100.0 * row.lost());
            for cell in [thousands(row.sent as f64), thousands(row.rate), lost] {
                let _ = write!(text, "{cell:>CELL_WIDTH$}");
            }
            let received = row.received.iter().map(|count| thousands(*count as f64));
            let _ = writeln!(text, "   {}", received.collect::<Vec<_>>().join(" and "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_those_of_all_receivers() {
        let sent = Sent {
            call: "x".into(),
            sent: 100,
            rate: 5.0,
            received: vec![100, 50],
        };
        assert_eq!(sent.lost(), 0.25);
        assert_eq!(Sent::from_json(&sent.to_json()), Some(sent.clone()));
        let mut text = String::new();
        Flood {
            protocol: "UDP",
            place: Place::Split {
                client: 1,
                server: 0,
            },
            rows: vec![sent],
        }
        .write(&mut text);
        let place = "UDP, oneways to 2 receivers, one processor each: sender on CPU 1, 2 receivers";
        assert!(text.contains(place), "{text}");
        assert!(text.contains("25.0 %   100 and 50"), "{text}");
    }
}
