// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plans as text, and their validation.
//!
//! Root applies a plan, so it is untrusted input: it may change the settings of
//! [`settings`](super::settings) and no others.

use std::fmt::Write as _;
use std::io::Read;

use serde::{Deserialize, Serialize};

use super::settings;
use super::step::Step;

/// Maximum bytes of a plan.
pub const MAX_PLAN_BYTES: u64 = 256 << 10;
/// Maximum number of steps of a plan.
const MAX_STEPS: usize = 4096;

/// Steps, and changes that are left to the administrator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The steps, in this order.
    #[serde(default)]
    pub step: Vec<Step>,
    /// The changes that are left to the administrator.
    #[serde(default)]
    pub left: Vec<Left>,
}

/// A change that is left to the administrator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Left {
    /// The check of `orbium doctor`.
    pub check: String,
    /// Its finding.
    pub found: String,
    /// Its advice.
    pub remedy: String,
}

impl Plan {
    /// Parses a plan.
    ///
    /// # Errors
    /// One sentence, if the text is not a valid plan, is longer than [`MAX_PLAN_BYTES`], or changes
    /// a setting that plans may not change.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() as u64 > MAX_PLAN_BYTES {
            return Err(format!("the plan is longer than {MAX_PLAN_BYTES} bytes"));
        }
        Self::parse_unbounded(text)
    }

    /// As [`parse`](Self::parse), without a limit of length: a journal is longer than its plan.
    pub(crate) fn parse_unbounded(text: &str) -> Result<Self, String> {
        let plan: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().map_or("", |span| &text[..span.start]);
            let line = before.matches('\n').count() + 1;
            format!("line {line} of the plan: {}", error.message())
        })?;
        plan.validated()
    }

    /// Reads the plan of a file, up to the maximum length.
    ///
    /// # Errors
    /// As of [`parse`](Self::parse); that of the system.
    pub fn read(file: impl Read) -> Result<Self, String> {
        let mut text = String::new();
        // One byte more than the maximum, so that a longer plan is refused and not truncated.
        let read = file.take(MAX_PLAN_BYTES + 1).read_to_string(&mut text);
        read.map_err(|error| error.to_string())?;
        Self::parse(&text)
    }

    fn validated(self) -> Result<Self, String> {
        if self.step.len() > MAX_STEPS {
            return Err(format!("the plan has more than {MAX_STEPS} steps"));
        }
        for step in &self.step {
            settings::validate(&step.change).map_err(|reason| format!("{step}: {reason}"))?;
        }
        Ok(self)
    }

    /// The text, with a comment for the reader.
    ///
    /// # Errors
    /// If TOML cannot represent it, which does not happen for plans of [`plan`](crate::plan()).
    pub fn text(&self) -> Result<String, String> {
        let body = toml::to_string(self).map_err(|error| error.to_string())?;
        let mut text = String::from(
            "# Carried out by `orbium host apply`, as root; undone by `orbium host undo`.\n\
             # Steps may be deleted. `left` is what no step does: it cannot be undone, or is not\n\
             # for a program to decide.\n",
        );
        let _ = writeln!(
            text,
            "# {} to change, {} left to the administrator.\n",
            self.step.len(),
            self.left.len()
        );
        text.push_str(&body);
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::Plan;

    const SOUND: &str = r#"
[[step]]
check = "busy-poll"
write = { file = "/proc/sys/net/core/busy_poll", from = "0", to = "50" }

[[step]]
check = "napi"
schedule = { interface = "eth0", fifo = 50 }

[[left]]
check = "swap"
found = "in use"
remedy = "swapoff"
"#;

    #[test]
    fn a_plan_is_the_same_after_it_was_written_and_read() {
        let plan = Plan::parse(SOUND).unwrap();
        assert_eq!((plan.step.len(), plan.left.len()), (2, 1));
        assert_eq!(Plan::parse(&plan.text().unwrap()).unwrap(), plan);
    }

    #[test]
    fn a_plan_changes_known_settings_alone() {
        let write = |file: &str, to: &str| {
            format!(
                "[[step]]\ncheck = 'x'\nwrite = {{ file = {file:?}, from = '0', to = \"{to}\" }}"
            )
        };
        for (file, to, reason) in [
            ("/etc/shadow", "1", "no setting"),
            ("/proc/sys/kernel/core_pattern", "|sh", "no setting"),
            (
                "/proc/sys/net/core/../kernel/core_pattern",
                "x",
                "no setting",
            ),
            ("/sys/class/net/../../../etc/threaded", "1", "no setting"),
            ("/sys/class/net/../threaded", "1", "no setting"),
            ("/sys/class/net//threaded", "1", "no setting"),
            ("proc/sys/net/core/busy_poll", "1", "no setting"),
            ("/proc/sys/net/core/busy_poll", r"1\n2", "one line"),
            ("/proc/sys/net/core/busy_poll", "", "one line"),
            ("/proc/sys/net/core/busy_poll", r"\u001b[2J", "one line"),
        ] {
            let refused = Plan::parse(&write(file, to)).unwrap_err();
            assert!(refused.contains(reason), "{file} {to:?}: {refused}");
        }
        assert!(Plan::parse(&write("/proc/irq/17/smp_affinity_list", "0-1")).is_ok());
    }

    #[test]
    fn malformed_plans_are_refused_with_their_line() {
        for (text, reason) in [
            ("x = 1", "line 1"),
            ("# A\n\nx = 1", "line 3"),
            (
                "\n[[step]]\ncheck = 'x'\nerase = { file = 'x' }",
                "of the plan",
            ),
            (
                "[[step]]\ncheck = 'x'\nschedule = { interface = '..', fifo = 50 }",
                "interface",
            ),
            (
                "[[step]]\ncheck = 'x'\nschedule = { interface = 'a/b', fifo = 5 }",
                "interface",
            ),
            (
                "[[step]]\ncheck = 'x'\nschedule = { interface = 'lo', fifo = 100 }",
                "1 to 98",
            ),
            (
                "[[step]]\ncheck = 'x'\ncreate = { file = '/etc/passwd', text = 'x' }",
                "no file of limits",
            ),
            (
                "[[step]]\ncheck = 'x'\nsteer = { interface = '-N', port = 1, queue = 0 }",
                "interface",
            ),
        ] {
            let refused = Plan::parse(text).unwrap_err();
            assert!(refused.contains(reason), "{text}: {refused}");
        }
        let long = format!("# {}", "x".repeat(1 << 20));
        assert!(Plan::parse(&long).unwrap_err().contains("longer"));
    }
}
