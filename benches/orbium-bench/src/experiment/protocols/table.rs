// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls per second and gains, as a table and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::caller::{DATA, Found};
use orbium_cli::stage::timing::{median, thousands};

/// The results with one placement.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The CPU of all processes; `None` if they were not pinned.
    pub(crate) cpu: Option<usize>,
    pub(crate) protocols: Protocols,
}

/// Protocols in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Protocols(Vec<(String, Vec<Found>)>);

impl Protocols {
    pub(crate) fn add(&mut self, found: Found) {
        match self.0.iter_mut().find(|(name, _)| *name == found.protocol) {
            Some((_, all)) => all.push(found),
            None => self.0.push((found.protocol.clone(), vec![found])),
        }
    }

    /// Their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    fn found(&self, protocol: usize, data: &str) -> Option<&Found> {
        let (_, all) = self.0.get(protocol)?;
        all.iter().find(|found| found.data == data)
    }

    /// Calls per second: the median of the rounds.
    pub(crate) fn rate(&self, protocol: usize, data: &str) -> Option<f64> {
        Some(median(&self.found(protocol, data)?.rates))
    }

    /// The slowest round, the mean of all and the fastest.
    fn spread(&self, protocol: usize, data: &str) -> Option<[f64; 3]> {
        let rates = &self.found(protocol, data)?.rates;
        let least = rates.iter().copied().reduce(f64::min)?;
        let most = rates.iter().copied().reduce(f64::max)?;
        Some([least, rates.iter().sum::<f64>() / rates.len() as f64, most])
    }

    /// The protocol to which the gains of this one are relative: GIOP over the same transport, or
    /// the first.
    fn base(&self, protocol: usize) -> usize {
        let (name, _) = &self.0[protocol];
        let base = name.split_once('/').and_then(|(transport, _)| {
            let mut names = self.names();
            names.position(|other| other == transport)
        });
        base.unwrap_or(0)
    }

    /// The gain over [its base](Self::base), as a fraction: the median of the rounds' gains.
    pub(crate) fn gain(&self, protocol: usize, data: &str) -> Option<f64> {
        let own = &self.found(protocol, data)?.rates;
        let first = &self.found(self.base(protocol), data)?.rates;
        let gains = own.iter().zip(first);
        let gains: Vec<_> = gains
            .map(|(own, first)| own / first.max(1e-9) - 1.0)
            .collect();
        Some(median(&gains))
    }
}

const NAME_WIDTH: usize = 15;
const CELL_WIDTH: usize = 12;

impl Place {
    /// The placement.
    pub(crate) fn title(&self) -> String {
        match self.cpu {
            Some(cpu) => format!("all processes pinned to CPU {cpu}"),
            None => "all processes free".to_owned(),
        }
    }

    /// Tables with a row for each protocol.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        let protocols = &self.protocols;
        let _ = writeln!(
            text,
            "\nCalls per second at the median latency, {}",
            self.title()
        );
        self.table(&mut text, |protocol, data| {
            protocols.rate(protocol, data).map(thousands)
        });
        let _ = writeln!(text, "\nThe slowest round, the mean and the fastest");
        for (data, place) in [("slowest", 0), ("mean", 1), ("fastest", 2)] {
            let _ = writeln!(text, "{data}");
            self.table(&mut text, |protocol, data| {
                let spread = protocols.spread(protocol, data)?;
                Some(thousands(spread[place]))
            });
        }
        let first = protocols.names().next().unwrap_or_default();
        let _ = writeln!(
            text,
            "\nGain over GIOP and the same transport; of a transport over {first}; median of the rounds"
        );
        self.table(&mut text, |protocol, data| {
            let gain = protocols.gain(protocol, data)?;
            (protocol > 0).then(|| format!("{:+.1} %", 100.0 * gain))
        });
        text
    }

    fn table(&self, text: &mut String, cell: impl Fn(usize, &str) -> Option<String>) {
        let _ = write!(text, "{:NAME_WIDTH$}", "");
        for (data, ..) in DATA {
            let _ = write!(text, "{data:>CELL_WIDTH$}");
        }
        text.push('\n');
        for (index, name) in self.protocols.names().enumerate() {
            let _ = write!(text, "{name:NAME_WIDTH$}");
            for (data, ..) in DATA {
                let cell = cell(index, data).unwrap_or_else(|| "–".to_owned());
                let _ = write!(text, "{cell:>CELL_WIDTH$}");
            }
            text.push('\n');
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let protocols = self.protocols.names().enumerate().map(|(index, name)| {
            let data = DATA.iter().filter_map(|(data, load, size)| {
                Some(json!({
                    "data": data,
                    "operation": load.name(),
                    "elements": size,
                    "calls_per_second": self.protocols.rate(index, data)?,
                    "slowest_mean_fastest": self.protocols.spread(index, data)?,
                    "gain": self.protocols.gain(index, data)?,
                }))
            });
            json!({ "protocol": name, "data": data.collect::<Value>() })
        });
        json!({ "pinned_to_cpu": self.cpu, "protocols": protocols.collect::<Value>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_taken_within_rounds() {
        let mut protocols = Protocols::default();
        for (protocol, rates) in [("a", [10.0, 1.0, 10.0]), ("b", [20.0, 2.0, 30.0])] {
            protocols.add(Found {
                protocol: protocol.into(),
                data: "void".into(),
                rates: rates.to_vec(),
            });
        }
        assert_eq!(protocols.rate(0, "void"), Some(10.0));
        assert_eq!(protocols.spread(0, "void"), Some([1.0, 7.0, 10.0]));
        assert_eq!(protocols.gain(1, "void"), Some(1.0));
        assert_eq!(protocols.gain(1, "octet"), None);
        for (protocol, rate) in [("b/lite", 40.0), ("c/lite", 5.0)] {
            protocols.add(Found {
                protocol: protocol.into(),
                data: "void".into(),
                rates: vec![rate],
            });
        }
        // Relative to the same transport, or to the first.
        assert_eq!(protocols.gain(2, "void"), Some(1.0));
        assert_eq!(protocols.gain(3, "void"), Some(-0.5));
        let place = Place {
            cpu: None,
            protocols,
        };
        assert!(place.to_text().contains("+100.0 %"), "{}", place.to_text());
    }
}
