// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fields of `@qos`.

use orbium_sched::{Time, Timing};

/// The communication classes, and the variants of `orbium_qos::CommunicationClass`.
const CLASSES: [(&str, &str); 4] = [
    ("ISOCHRONOUS", "Isochronous"),
    ("BURST", "Burst"),
    ("MESSAGE", "Message"),
    ("MESSAGE_STREAM", "MessageStream"),
];

/// The fields of an `@qos`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    /// The variant.
    class: Option<&'static str>,
    priority: Option<i16>,
    deadline: Option<Time>,
    bandwidth: Option<u64>,
    loss: Option<u16>,
    copies: Option<u8>,
}

impl Fields {
    /// Sets one field.
    ///
    /// # Errors
    /// The error of the field or its value.
    pub(crate) fn set(&mut self, field: &str, value: &str) -> Result<(), String> {
        match field {
            "class" => self.class = Some(class(value)?),
            "priority" => {
                let number: i16 = number(field, value)?;
                if number < 0 {
                    return Err("priorities go from 0 to 32767".to_owned());
                }
                self.priority = Some(number);
            }
            "deadline" => self.deadline = Some(time(value)?),
            "bandwidth" => self.bandwidth = Some(number(field, value)?),
            "loss" => self.loss = Some(number(field, value)?),
            "copies" => self.copies = Some(number(field, value)?),
            _ => {
                let field: String = field.chars().take(80).collect();
                let known = "class, priority, deadline, bandwidth, loss, copies";
                return Err(format!("`{field}` is none of {known}"));
            }
        }
        Ok(())
    }

    /// Each field that is set, and its value in Rust.
    pub(crate) fn values(&self) -> impl Iterator<Item = (&'static str, String)> {
        let some = |text: String| format!("Some({text})");
        let class = self
            .class
            .map(|it| some(format!("orbium_qos::CommunicationClass::{it}")));
        let priority = self
            .priority
            .map(|it| format!("orbium_qos::Priority::new({it})"));
        let values = [
            ("class", class),
            ("priority", priority),
            ("deadline", self.deadline.map(duration)),
            ("bandwidth", self.bandwidth.map(|it| some(it.to_string()))),
            ("loss", self.loss.map(|it| some(it.to_string()))),
            ("copies", self.copies.map(|it| some(it.to_string()))),
        ];
        let set = |(name, value): (_, Option<String>)| value.map(|value| (name, value));
        values.into_iter().filter_map(set)
    }
}

/// A time as an optional `Duration` in Rust.
pub(crate) fn duration(time: Time) -> String {
    let nanos = time.as_duration().as_nanos();
    format!("Some(std::time::Duration::from_nanos({nanos}))")
}

fn class(value: &str) -> Result<&'static str, String> {
    let mut known = CLASSES.iter();
    let found = known.find(|(name, _)| *name == value);
    found.map(|(_, variant)| *variant).ok_or_else(|| {
        let names = CLASSES.map(|(name, _)| name).join(", ");
        format!("the class is none of {names}")
    })
}

/// A positive time, in the form of `@rt`.
fn time(value: &str) -> Result<Time, String> {
    let mut timing = Timing::default();
    timing.set("wcet", value)?;
    let time = timing.worst_case_execution_time;
    if time.is_zero() {
        Err("a deadline is above zero".to_owned())
    } else {
        Ok(time)
    }
}

fn number<T: std::str::FromStr>(field: &str, value: &str) -> Result<T, String> {
    let expected = |_| format!("`{field}` is no number of its range");
    value.parse().map_err(expected)
}
