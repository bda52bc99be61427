// SPDX-License-Identifier: MIT OR Apache-2.0
//! The value.

use std::fmt;
use std::time::Duration;

use orbium_core::Priority;
use orbium_sched::{Criticality, Importance};

use crate::{CommunicationClass, QosError};

/// Quality of service: a plain value. A field that is not set is that of a wider scope, and finally
/// the ORB's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Qos {
    /// The CORBA priority at which requests are served.
    pub priority: Option<Priority>,
    /// The time between calls.
    pub period: Option<Duration>,
    /// Time limit of a call from beginning to end.
    pub deadline: Option<Duration>,
    /// The longest execution of the servant.
    pub wcet: Option<Duration>,
    /// The first key of maximum urgency first.
    pub criticality: Option<Criticality>,
    /// The order of requests if nothing else determines it.
    pub importance: Option<Importance>,
    /// The kind of traffic.
    pub class: Option<CommunicationClass>,
    /// Octets per second that are sent at most.
    pub bandwidth: Option<u64>,
    /// Messages per thousand that may be lost; more than 0 for ISOCHRONOUS only. 0 excludes
    /// datagrams, with any class: calls are INV_POLICY if the reference offers nothing else.
    pub loss: Option<u16>,
    /// Number of copies of each message to a group (`miop`); for ISOCHRONOUS only. Receivers
    /// discard duplicates.
    pub copies: Option<u8>,
}

impl Qos {
    /// No field set.
    pub const NONE: Self = Self {
        priority: None,
        period: None,
        deadline: None,
        wcet: None,
        criticality: None,
        importance: None,
        class: None,
        bandwidth: None,
        loss: None,
        copies: None,
    };

    /// This value, with unset fields taken from the wider scope, each field separately.
    ///
    /// ```
    /// use orbium_qos::{CommunicationClass, Qos};
    ///
    /// let of_orb = Qos { class: Some(CommunicationClass::Burst), bandwidth: Some(1 << 20), ..Qos::NONE };
    /// let of_call = Qos { bandwidth: Some(4096), ..Qos::NONE };
    /// let both = of_call.or(&of_orb);
    /// assert_eq!((both.class, both.bandwidth), (of_orb.class, Some(4096)));
    /// ```
    #[must_use]
    pub fn or(&self, wider: &Self) -> Self {
        Self {
            priority: self.priority.or(wider.priority),
            period: self.period.or(wider.period),
            deadline: self.deadline.or(wider.deadline),
            wcet: self.wcet.or(wider.wcet),
            criticality: self.criticality.or(wider.criticality),
            importance: self.importance.or(wider.importance),
            class: self.class.or(wider.class),
            bandwidth: self.bandwidth.or(wider.bandwidth),
            loss: self.loss.or(wider.loss),
            copies: self.copies.or(wider.copies),
        }
    }

    /// Whether the fields are consistent. Those of a scope need not be; those in force must.
    ///
    /// # Errors
    /// [`QosError`].
    pub const fn check(&self) -> Result<(), QosError> {
        match self.contradiction() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// As [`check`](Self::check), for constants: contradictory fields do not compile.
    ///
    /// ```
    /// use std::time::Duration;
    /// use orbium_qos::{CommunicationClass, Qos};
    ///
    /// const STREAM: Qos = Qos {
    ///     class: Some(CommunicationClass::MessageStream),
    ///     period: Some(Duration::from_millis(20)),
    ///     ..Qos::NONE
    /// };
    /// const _: () = STREAM.assert();
    /// ```
    ///
    /// # Panics
    /// The fields contradict each other.
    #[track_caller]
    pub const fn assert(&self) {
        if let Some(error) = self.contradiction() {
            panic!("{}", error.sentence());
        }
    }

    const fn contradiction(&self) -> Option<QosError> {
        if let Some(field) = self.zero() {
            return Some(QosError::Zero(field));
        }
        if longer(self.wcet, self.period) {
            return Some(QosError::ExecutionBeyondPeriod);
        }
        if longer(self.wcet, self.deadline) {
            return Some(QosError::ExecutionBeyondDeadline);
        }
        if matches!(self.loss, Some(1001..)) {
            return Some(QosError::LossBeyondAll);
        }
        self.contradicted_class()
    }

    /// The first field that is zero and must not be.
    const fn zero(&self) -> Option<&'static str> {
        let zero = [
            ("period", is_zero(self.period)),
            ("deadline", is_zero(self.deadline)),
            ("wcet", is_zero(self.wcet)),
            ("bandwidth", matches!(self.bandwidth, Some(0))),
            ("copies", matches!(self.copies, Some(0))),
        ];
        let mut at = 0;
        while at < zero.len() {
            if zero[at].1 {
                return Some(zero[at].0);
            }
            at += 1;
        }
        None
    }

    const fn contradicted_class(&self) -> Option<QosError> {
        let is_media = matches!(self.class, Some(CommunicationClass::Isochronous));
        let is_stream = matches!(self.class, Some(CommunicationClass::MessageStream));
        match self {
            Self {
                loss: Some(1..), ..
            } if !is_media => Some(QosError::LossWithoutDatagrams),
            Self {
                copies: Some(2..), ..
            } if !is_media => Some(QosError::CopiesWithoutDatagrams),
            Self {
                bandwidth: None, ..
            } if is_media => Some(QosError::MediaWithoutBandwidth),
            Self { period: None, .. } if is_stream => Some(QosError::StreamWithoutPeriod),
            _ => None,
        }
    }

    /// Whether requests carry any of its fields.
    pub(crate) fn is_carried(&self) -> bool {
        self.class.is_some()
            || self.priority.is_some()
            || self.period.is_some()
            || self.deadline.is_some()
            || self.importance.is_some()
            || self.criticality.is_some()
    }
}

const fn is_zero(time: Option<Duration>) -> bool {
    matches!(time, Some(time) if time.is_zero())
}

/// Whether both are set, and `time` is longer.
const fn longer(time: Option<Duration>, limit: Option<Duration>) -> bool {
    match (time, limit) {
        (Some(time), Some(limit)) => time.as_nanos() > limit.as_nanos(),
        _ => false,
    }
}

/// The fields that are set, such as `class MESSAGE, priority 77, deadline 10ms`.
impl fmt::Display for Qos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn time(name: &str, time: Option<Duration>) -> Option<String> {
            time.map(|time| format!("{name} {time:?}"))
        }
        let class = self.class.map(|it| format!("class {}", it.name()));
        let fields = [
            class,
            self.priority.map(|it| format!("priority {}", it.number())),
            time("period", self.period),
            time("deadline", self.deadline),
            time("wcet", self.wcet),
            self.criticality.map(|it| format!("criticality {it}")),
            self.importance.map(|it| format!("importance {it}")),
            self.bandwidth.map(|it| format!("bandwidth {it}/s")),
            self.loss.map(|it| format!("loss {it}/1000")),
            self.copies.map(|it| format!("copies {it}")),
        ];
        let fields: Vec<_> = fields.into_iter().flatten().collect();
        match fields.as_slice() {
            [] => f.write_str("none"),
            all => f.write_str(&all.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Conformance: RT - one QoS value: fields, scopes, what makes no sense together
    #[test]
    fn contradictory_fields_are_refused() {
        let media = Some(CommunicationClass::Isochronous);
        let stream = Some(CommunicationClass::MessageStream);
        let none = Qos::NONE;
        let cases = [
            (
                Qos {
                    period: Some(Duration::ZERO),
                    ..none
                },
                QosError::Zero("period"),
            ),
            (
                Qos {
                    copies: Some(0),
                    ..none
                },
                QosError::Zero("copies"),
            ),
            (
                Qos {
                    bandwidth: Some(0),
                    ..none
                },
                QosError::Zero("bandwidth"),
            ),
            (
                Qos {
                    wcet: Some(2 * MS),
                    period: Some(MS),
                    ..none
                },
                QosError::ExecutionBeyondPeriod,
            ),
            (
                Qos {
                    wcet: Some(2 * MS),
                    deadline: Some(MS),
                    ..none
                },
                QosError::ExecutionBeyondDeadline,
            ),
            (
                Qos {
                    loss: Some(1001),
                    class: media,
                    ..none
                },
                QosError::LossBeyondAll,
            ),
            (
                Qos {
                    loss: Some(1),
                    class: stream,
                    ..none
                },
                QosError::LossWithoutDatagrams,
            ),
            (
                Qos {
                    copies: Some(2),
                    ..none
                },
                QosError::CopiesWithoutDatagrams,
            ),
            (
                Qos {
                    class: media,
                    ..none
                },
                QosError::MediaWithoutBandwidth,
            ),
            (
                Qos {
                    class: stream,
                    ..none
                },
                QosError::StreamWithoutPeriod,
            ),
        ];
        for (qos, error) in cases {
            assert_eq!(qos.check(), Err(error), "{qos:?}");
            assert!(!error.to_string().is_empty());
        }
        assert_eq!(none.check(), Ok(()));
        let lossy = Qos {
            class: media,
            bandwidth: Some(1),
            loss: Some(5),
            copies: Some(2),
            ..none
        };
        assert_eq!(lossy.check(), Ok(()));
    }
}
