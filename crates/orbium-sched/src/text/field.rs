// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fields of an operation by name, in text and in annotations of IDL.

use crate::info::{InfoKind, Timing};
use crate::time::Time;

impl Timing {
    /// The names of the fields of [`Timing::set`].
    pub const FIELDS: [&'static str; 9] = [
        "period",
        "wcet",
        "typical",
        "cached",
        "quantum",
        "criticality",
        "importance",
        "threads",
        "kind",
    ];

    /// Sets a field from text: `period`, `wcet`, `typical`, `cached` and `quantum` are times
    /// such as `50 ms`, `criticality` and `importance` are `VERY_LOW` to `VERY_HIGH`, `threads`
    /// is a number, `kind` is a name of [`InfoKind`].
    ///
    /// # Errors
    /// A sentence about the value, or about the name of the field.
    ///
    /// ```
    /// use orbium_sched::{Time, Timing};
    ///
    /// let mut timing = Timing::default();
    /// timing.set("wcet", "2.5 ms")?;
    /// assert_eq!(timing.worst_case_execution_time, Time::from_micros(2_500));
    /// assert!(timing.set("wcet", "2.5").unwrap_err().contains("unit"));
    /// # Ok::<(), String>(())
    /// ```
    pub fn set(&mut self, field: &str, value: &str) -> Result<(), String> {
        match field {
            "period" => self.period = time(value)?,
            "wcet" => self.worst_case_execution_time = time(value)?,
            "typical" => self.typical_execution_time = time(value)?,
            "cached" => self.cached_execution_time = time(value)?,
            "quantum" => self.quantum = time(value)?,
            "criticality" => self.criticality = value.parse().map_err(sentence)?,
            "importance" => self.importance = value.parse().map_err(sentence)?,
            "threads" => {
                let expected = |_| format!("`{}` is no number of threads", shortened(value));
                self.threads = value.parse().map_err(expected)?;
            }
            "kind" => self.kind = kind(value)?,
            _ => {
                let (field, known) = (shortened(field), Self::FIELDS.join(", "));
                return Err(format!("`{field}` is none of {known}"));
            }
        }
        Ok(())
    }

    /// The fields that differ from the default, as [`Timing::set`] reads them.
    pub(crate) fn fields(&self) -> Vec<(&'static str, String)> {
        let default = Timing::default();
        let times = [
            ("period", self.period),
            ("wcet", self.worst_case_execution_time),
            ("typical", self.typical_execution_time),
            ("cached", self.cached_execution_time),
            ("quantum", self.quantum),
        ];
        let mut fields: Vec<_> = times
            .into_iter()
            .filter(|(_, time)| !time.is_zero())
            .map(|(name, time)| (name, time.to_string()))
            .collect();
        let mut put = |name, differs, value: String| {
            if differs {
                fields.push((name, value));
            }
        };
        let (criticality, importance) = (self.criticality, self.importance);
        let is_critical = criticality != default.criticality;
        put("criticality", is_critical, criticality.to_string());
        let is_important = importance != default.importance;
        put("importance", is_important, importance.to_string());
        put("threads", self.threads != 0, self.threads.to_string());
        put(
            "kind",
            self.kind != default.kind,
            self.kind.name().to_owned(),
        );
        fields
    }
}

fn time(value: &str) -> Result<Time, String> {
    value.parse().map_err(sentence)
}

fn kind(value: &str) -> Result<InfoKind, String> {
    named(InfoKind::ALL, InfoKind::name, value)
}

/// The value of `all` with that name.
pub(super) fn named<T: Copy, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    value: &str,
) -> Result<T, String> {
    let found = all.into_iter().find(|it| name(*it) == value);
    found.ok_or_else(|| {
        let known = all.map(name).join(", ");
        format!("`{}` is none of {known}", shortened(value))
    })
}

fn sentence(error: impl std::error::Error) -> String {
    error.to_string()
}

/// Shortens a text for messages.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}
