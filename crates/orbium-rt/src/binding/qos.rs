// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quality-of-service parameters of a binding: the offer and the agreement.

use std::fmt;
use std::time::Duration;

use orbium_core::{Priority, Reservation};
use orbium_giop::real_time::PriorityBand;

/// Most protocols in an offer.
pub(super) const MAX_PROTOCOLS: usize = 16;
/// Maximum octets of the name of a protocol.
pub(super) const MAX_NAME_LENGTH: usize = 64;
/// Octets of the text of a reason.
pub(super) const MAX_TEXT_LENGTH: usize = 512;
/// The longest period of a rate.
const MAX_RATE_PERIOD: Duration = Duration::from_secs(24 * 3600);

/// The longest period of a reservation: a thread waits that long for its bandwidth.
const MAX_RESERVATION_PERIOD: Duration = Duration::from_secs(1);

/// Whether the wire format represents a span of time exactly.
fn is_microseconds(span: Duration) -> bool {
    let whole = span.subsec_nanos().is_multiple_of(1000);
    whole && !span.is_zero() && u64::try_from(span.as_micros()).is_ok()
}

/// Names of protocols from the arguments of builders.
pub(super) fn owned(names: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    names.into_iter().map(Into::into).collect()
}

/// Whether a reservation is valid; the host may have further rules.
fn is_reservation(it: Reservation) -> bool {
    [it.runtime, it.deadline, it.period]
        .into_iter()
        .all(is_microseconds)
        && it.runtime <= it.deadline
        && it.deadline <= it.period
        && it.period <= MAX_RESERVATION_PERIOD
        && !it.reclaims
}

/// Request rate: a number of requests in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    /// Requests, including oneways, in each period.
    pub requests: u32,
    /// From 1 µs to a day, in microseconds.
    pub period: Duration,
    /// Maximum number of requests at once after a pause.
    pub burst: u32,
}

impl Rate {
    /// A rate of `requests` per second, one at a time.
    #[must_use]
    pub const fn per_second(requests: u32) -> Self {
        Self {
            requests,
            period: Duration::from_secs(1),
            burst: 1,
        }
    }

    fn is_sound(&self) -> bool {
        self.requests > 0
            && self.burst > 0
            && is_microseconds(self.period)
            && self.period <= MAX_RATE_PERIOD
    }
}

/// Bounds of the requests delayed at the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Buffer {
    /// Maximum number of requests delayed by the rate; 0 with [`Excess::Refuse`].
    pub requests: u32,
    /// Octets of each request, and of all delayed ones together.
    pub octets: u32,
}

/// Treatment of requests beyond the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Excess {
    /// NO_RESOURCES with orbium's minor code `BINDING_RATE`; oneways are dropped.
    #[default]
    Refuse,
    /// They are delayed, as long as the buffer has room.
    Delay,
}

/// Offer of a client: the desired terms, and the least acceptable ones. All terms in between are
/// acceptable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The acceptable priorities, the higher the better.
    pub priority: PriorityBand,
    /// The desired rate. Period and burst are fixed, but a server may reduce the burst.
    pub rate: Rate,
    /// The least acceptable number of requests per period.
    pub least_requests: u32,
    /// The treatment of requests beyond the rate.
    pub excess: Excess,
    /// The desired buffer.
    pub buffer: Buffer,
    /// The least acceptable buffer.
    pub least_buffer: Buffer,
    /// The time limit of each call, as for [`with_timeout`](orbium_core::Interface::with_timeout);
    /// in whole microseconds.
    pub deadline: Option<Duration>,
    /// Time of a processor for the binding's thread (SCHED_DEADLINE), in whole microseconds and with a
    /// period of at most 1 s. It is granted as it is, or the offer is refused.
    pub reservation: Option<Reservation>,
    /// Whether a binding without the reservation is acceptable if the admission or the server's
    /// host refuses it: [`Bound::refused`](super::Bound::refused) then has the reason. Not sent to
    /// the server.
    pub soft: bool,
    /// The acceptable protocols, in order of preference; empty for all those of the reference.
    pub protocols: Vec<String>,
}

impl Offer {
    /// Exactly that priority, and that many requests per second, of at most 64 KiB; requests beyond
    /// the rate are refused.
    #[must_use]
    pub fn new(priority: Priority, requests_per_second: u32) -> Self {
        let buffer = Buffer {
            requests: 0,
            octets: 64 << 10,
        };
        Self {
            priority: PriorityBand {
                low: priority.number(),
                high: priority.number(),
            },
            rate: Rate::per_second(requests_per_second),
            least_requests: requests_per_second,
            excess: Excess::Refuse,
            buffer,
            least_buffer: buffer,
            deadline: None,
            reservation: None,
            soft: false,
            protocols: Vec::new(),
        }
    }

    /// An offer that only these terms satisfy.
    #[must_use]
    pub fn exactly(terms: &Terms) -> Self {
        Self {
            priority: PriorityBand {
                low: terms.priority.number(),
                high: terms.priority.number(),
            },
            rate: terms.rate,
            least_requests: terms.rate.requests,
            excess: terms.excess,
            buffer: terms.buffer,
            least_buffer: terms.buffer,
            deadline: terms.deadline,
            reservation: terms.reservation,
            soft: false,
            protocols: vec![terms.protocol.clone()],
        }
    }

    /// Also accepts lower priorities down to `lowest`.
    #[must_use]
    pub fn down_to(mut self, lowest: Priority) -> Self {
        self.priority.low = lowest.number().min(self.priority.high);
        self
    }

    /// Also accepts lower rates down to that many requests per period.
    #[must_use]
    pub fn at_least(mut self, requests: u32) -> Self {
        self.least_requests = requests;
        self
    }

    /// Sets the maximum number of requests at once.
    #[must_use]
    pub fn burst(mut self, requests: u32) -> Self {
        self.rate.burst = requests;
        self
    }

    /// Delays requests beyond the rate: that many requests, of that many octets together.
    #[must_use]
    pub fn delay(mut self, buffer: Buffer) -> Self {
        self.excess = Excess::Delay;
        (self.buffer, self.least_buffer) = (buffer, buffer);
        self
    }

    /// Sets the time limit of each call, in whole microseconds.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Requests that the server's host reserves processor time for the binding's thread. A
    /// reservation that [reclaims](Reservation::reclaims) cannot be requested by a client, and
    /// makes the offer invalid.
    #[must_use]
    pub fn reserve(mut self, reservation: Reservation) -> Self {
        self.reservation = Some(reservation);
        self
    }

    /// Accepts a binding without the reservation if that is refused.
    #[must_use]
    pub fn soft(mut self) -> Self {
        self.soft = true;
        self
    }

    /// Sets the acceptable protocols, in order of preference.
    #[must_use]
    pub fn protocols(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.protocols = owned(names);
        self
    }

    /// Whether the offer is valid.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let PriorityBand { low, high } = self.priority;
        let (most, least) = (self.buffer, self.least_buffer);
        let named =
            |name: &String| (1..=MAX_NAME_LENGTH).contains(&name.len()) && !name.contains('\0');
        (0..=high).contains(&low)
            && self.rate.is_sound()
            && (1..=self.rate.requests).contains(&self.least_requests)
            && least.requests <= most.requests
            && least.octets <= most.octets
            && self.deadline.is_none_or(is_microseconds)
            && self.reservation.is_none_or(is_reservation)
            && self.protocols.len() <= MAX_PROTOCOLS
            && self.protocols.iter().all(named)
    }

    /// Whether these terms are within the offer.
    #[must_use]
    pub fn admits(&self, terms: &Terms) -> bool {
        let band = self.priority.low..=self.priority.high;
        let requests = self.least_requests..=self.rate.requests;
        let within = |least: u32, most: u32, it: u32| (least..=most).contains(&it);
        let (least, most, buffer) = (self.least_buffer, self.buffer, terms.buffer);
        band.contains(&terms.priority.number())
            && requests.contains(&terms.rate.requests)
            && terms.rate.period == self.rate.period
            && within(1, self.rate.burst, terms.rate.burst)
            && terms.excess == self.excess
            && within(least.requests, most.requests, buffer.requests)
            && within(least.octets, most.octets, buffer.octets)
            && terms.deadline == self.deadline
            && terms.reservation == self.reservation
            && (self.protocols.is_empty() || self.protocols.contains(&terms.protocol))
    }
}

/// Terms of a binding, agreed on or proposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The priority of the binding's thread.
    pub priority: Priority,
    /// The rate.
    pub rate: Rate,
    /// The treatment of requests beyond the rate.
    pub excess: Excess,
    /// The bounds on delayed requests.
    pub buffer: Buffer,
    /// The time limit of each call.
    pub deadline: Option<Duration>,
    /// Time of a processor for the binding's thread.
    pub reservation: Option<Reservation>,
    /// The protocol of the connection.
    pub protocol: String,
}

impl Terms {
    /// Whether the terms are valid.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        Offer::exactly(self).is_sound()
    }
}

/// Reason for which an offer is not accepted unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// For programs.
    pub code: ReasonCode,
    /// For people.
    pub text: String,
}

impl Reason {
    /// A reason; a text of more than 512 octets is truncated.
    #[must_use]
    pub fn new(code: ReasonCode, text: impl Into<String>) -> Self {
        let mut text = text.into().replace('\0', " ");
        while text.len() > MAX_TEXT_LENGTH {
            text.pop();
        }
        Self { code, text }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Obstacle to an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[non_exhaustive]
pub enum ReasonCode {
    /// The offer is invalid.
    Malformed = 1,
    /// The priority.
    Priority = 2,
    /// The rate exceeds the remaining capacity.
    Rate = 3,
    /// The buffer.
    Buffer = 4,
    /// The protocol.
    Protocol = 5,
    /// The maximum number of bindings is reached.
    Bindings = 6,
    /// No thread is available.
    Thread = 7,
    /// The object does not exist here.
    Object = 8,
    /// The connection is bound already.
    Bound = 9,
    /// The deadline: a request takes longer.
    Deadline = 10,
    /// The server's policy, or an unknown reason.
    Policy = 11,
    /// The reservation: the admission or the host refuses it, or it cannot change.
    Reservation = 12,
}

impl ReasonCode {
    /// The reason with that number; [`Policy`](Self::Policy) for an unknown one.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        match number {
            1 => Self::Malformed,
            2 => Self::Priority,
            3 => Self::Rate,
            4 => Self::Buffer,
            5 => Self::Protocol,
            6 => Self::Bindings,
            7 => Self::Thread,
            8 => Self::Object,
            9 => Self::Bound,
            10 => Self::Deadline,
            12 => Self::Reservation,
            _ => Self::Policy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: the server decoded such an offer as a different one, and the client reported the
    /// reply as a violation of the protocol.
    #[test]
    fn terms_that_the_wire_cannot_carry_are_no_offer() {
        let offer = |deadline| Offer::new(Priority::MIN, 1).deadline(deadline);
        for good in [Duration::from_micros(1), Duration::from_micros(u64::MAX)] {
            assert!(offer(good).is_sound(), "{good:?}");
        }
        for bad in [
            Duration::ZERO,
            Duration::from_nanos(1500),
            Duration::from_micros(u64::MAX) + Duration::from_micros(1),
            Duration::MAX,
        ] {
            assert!(!offer(bad).is_sound(), "{bad:?}");
        }
    }

    #[test]
    fn a_reservation_has_a_runtime_within_its_deadline_and_a_short_period() {
        let ms = Duration::from_millis;
        let offer = |runtime, deadline, period| {
            let reservation = Reservation {
                runtime,
                deadline,
                period,
                reclaims: false,
            };
            Offer::new(Priority::MIN, 1).reserve(reservation)
        };
        assert!(offer(ms(20), ms(40), ms(50)).is_sound());
        assert!(offer(ms(1000), ms(1000), ms(1000)).is_sound());
        let reclaiming = Reservation::new(ms(20), ms(50)).reclaiming();
        for bad in [
            Offer::new(Priority::MIN, 1).reserve(reclaiming),
            offer(Duration::ZERO, ms(1), ms(1)),
            offer(ms(2), ms(1), ms(3)),
            offer(ms(1), ms(3), ms(2)),
            offer(Duration::from_nanos(1500), ms(1), ms(1)),
            offer(ms(1), ms(1), ms(1001)),
        ] {
            assert!(!bad.is_sound(), "{bad:?}");
        }
    }
}
