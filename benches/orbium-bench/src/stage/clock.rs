// SPDX-License-Identifier: MIT OR Apache-2.0
//! Times that are comparable between all processes of an experiment, and processor time stolen by
//! the hypervisor.

use std::time::Duration;

use serde_json::{Value, json};

/// The monotonic clock, which all processes share.
#[cfg(target_os = "linux")]
pub(crate) fn now() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or(0),
        u32::try_from(now.tv_nsec).unwrap_or(0),
    )
}

/// Time since the first call of this function: the clock is not shared with other processes here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn now() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

/// An interval between two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) begin: Duration,
    pub(crate) end: Duration,
}

impl Span {
    pub(crate) fn length(self) -> Duration {
        self.end.saturating_sub(self.begin)
    }

    /// The length of the intersection.
    pub(crate) fn shared_with(self, other: Self) -> Duration {
        let begin = self.begin.max(other.begin);
        self.end.min(other.end).saturating_sub(begin)
    }

    /// Nanoseconds of both times.
    pub(crate) fn to_json(self) -> Value {
        json!([self.begin, self.end].map(|point| u64::try_from(point.as_nanos()).unwrap_or(0)))
    }

    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let point = |at: usize| value[at].as_u64().map(Duration::from_nanos);
        Some(Self {
            begin: point(0)?,
            end: point(1)?,
        })
    }
}

/// Processor time that the hypervisor has stolen from this machine since its start; `None` if the
/// system does not report it.
pub(crate) fn stolen() -> Option<Duration> {
    stolen_of(&std::fs::read_to_string("/proc/stat").ok()?)
}

/// The eighth number of the first line, in hundredths of a second.
fn stolen_of(stat: &str) -> Option<Duration> {
    let all = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: u64 = all.split_whitespace().nth(7)?.parse().ok()?;
    Some(Duration::from_millis(ticks.saturating_mul(10)))
}

/// The sentence about the stolen time of an experiment, with the value at its beginning.
pub(crate) fn stolen_since(begin: Option<Duration>) -> Option<String> {
    let taken = stolen()?.checked_sub(begin?)?;
    (!taken.is_zero()).then(|| {
        format!(
            "The hypervisor took {:.2} s of the processors' time from this machine in that time (steal): \
             that stops every thread, whatever its priority, and no ORB can help it.",
            taken.as_secs_f64()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_read() {
        let stat = "cpu  5813620 472063 1028646 1867266 9582 0 129606 91383 0 0\ncpu0 1 2 3\n";
        assert_eq!(stolen_of(stat), Some(Duration::from_millis(913_830)));
        assert_eq!(stolen_of("cpu0 1 2 3\n"), None);
        assert_eq!(stolen_of(""), None);
        assert_eq!(stolen_since(None), None);
    }

    #[test]
    fn spans_share_what_both_last() {
        let span = |begin, end| Span {
            begin: Duration::from_secs(begin),
            end: Duration::from_secs(end),
        };
        let shared = |one: Span, other| one.shared_with(other).as_secs();
        assert_eq!(shared(span(1, 5), span(3, 9)), 2);
        assert_eq!(shared(span(1, 5), span(6, 9)), 0);
        assert_eq!(Span::from_json(&span(1, 5).to_json()), Some(span(1, 5)));
        assert_eq!(Span::from_json(&Value::Null), None);
    }
}
