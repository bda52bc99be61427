// SPDX-License-Identifier: MIT OR Apache-2.0
//! Encoding of offers and answers. Input is untrusted: it is bounded, and validated before use.

use std::time::Duration;

use orbium_core::Priority;
use orbium_core::cdr::{CdrError, CdrErrorKind, CdrReader, CdrWriter};
use orbium_giop::real_time::PriorityBand;

use super::qos::{MAX_NAME_LENGTH, MAX_PROTOCOLS, MAX_TEXT_LENGTH};
use super::reservation_wire::{microseconds, read_reservation, write_reservation};
use super::{Buffer, Excess, Offer, RESERVING_VERSION, Rate, Reason, ReasonCode, Terms};

/// The server's answer to an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Accepted(u64, Terms),
    Countered(Terms, Reason),
    Refused(Reason),
}

fn name(reader: &mut CdrReader<'_>, most: usize) -> Result<String, CdrError> {
    let text = reader.read_name()?;
    if text.len() > most {
        return Err(reader.error(CdrErrorKind::BoundExceeded));
    }
    Ok(text.to_owned())
}

fn read_priority(reader: &mut CdrReader<'_>) -> Result<i16, CdrError> {
    let number = reader.read_u16()? as i16;
    match number {
        0.. => Ok(number),
        _ => Err(reader.error(CdrErrorKind::BadDiscriminator)),
    }
}

impl Rate {
    fn write(self, writer: &mut CdrWriter<'_>) {
        writer.write_u32(self.requests);
        writer.write_u64(microseconds(Some(self.period)));
        writer.write_u32(self.burst);
    }

    fn read(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            requests: reader.read_u32()?,
            period: Duration::from_micros(reader.read_u64()?),
            burst: reader.read_u32()?,
        })
    }
}

impl Buffer {
    fn write(self, writer: &mut CdrWriter<'_>) {
        writer.write_u32(self.requests);
        writer.write_u32(self.octets);
    }

    fn read(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            requests: reader.read_u32()?,
            octets: reader.read_u32()?,
        })
    }
}

impl Excess {
    fn read(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        match reader.read_u32()? {
            0 => Ok(Self::Refuse),
            1 => Ok(Self::Delay),
            _ => Err(reader.error(CdrErrorKind::BadEnumerator)),
        }
    }
}

fn read_deadline(reader: &mut CdrReader<'_>) -> Result<Option<Duration>, CdrError> {
    let deadline = reader.read_u64()?;
    Ok((deadline > 0).then(|| Duration::from_micros(deadline)))
}

impl Offer {
    pub(super) fn write(&self, writer: &mut CdrWriter<'_>) {
        writer.write_u16(self.priority.low as u16);
        writer.write_u16(self.priority.high as u16);
        self.rate.write(writer);
        writer.write_u32(self.least_requests);
        writer.write_u32(self.excess as u32);
        self.buffer.write(writer);
        self.least_buffer.write(writer);
        writer.write_u64(microseconds(self.deadline));
        writer.write_count(self.protocols.len());
        for protocol in &self.protocols {
            writer.write_name(protocol);
        }
        if let Some(reservation) = self.reservation {
            write_reservation(reservation, writer);
        }
    }

    /// Reads a valid offer; `is_reserving` states whether a reservation follows it.
    pub(super) fn read(
        reader: &mut CdrReader<'_>,
        is_reserving: impl FnOnce(&CdrReader<'_>) -> bool,
    ) -> Result<Self, CdrError> {
        let priority = PriorityBand {
            low: read_priority(reader)?,
            high: read_priority(reader)?,
        };
        let mut offer = Self {
            priority,
            rate: Rate::read(reader)?,
            least_requests: reader.read_u32()?,
            excess: Excess::read(reader)?,
            buffer: Buffer::read(reader)?,
            least_buffer: Buffer::read(reader)?,
            deadline: read_deadline(reader)?,
            reservation: None,
            soft: false,
            protocols: Vec::new(),
        };
        let count = reader.read_count(5)?;
        if count > MAX_PROTOCOLS {
            return Err(reader.error(CdrErrorKind::BoundExceeded));
        }
        for _ in 0..count {
            offer.protocols.push(name(reader, MAX_NAME_LENGTH)?);
        }
        if is_reserving(reader) {
            offer.reservation = Some(read_reservation(reader)?);
        }
        if offer.is_sound() {
            Ok(offer)
        } else {
            Err(reader.error(CdrErrorKind::BadDiscriminator))
        }
    }
}

impl Terms {
    pub(super) fn write(&self, writer: &mut CdrWriter<'_>) {
        writer.write_u16(self.priority.number() as u16);
        self.rate.write(writer);
        writer.write_u32(self.excess as u32);
        self.buffer.write(writer);
        writer.write_u64(microseconds(self.deadline));
        writer.write_name(&self.protocol);
    }

    /// Reads valid terms.
    pub(super) fn read(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let number = read_priority(reader)?;
        let bad = reader.error(CdrErrorKind::BadDiscriminator);
        let terms = Self {
            priority: Priority::new(number).ok_or(bad)?,
            rate: Rate::read(reader)?,
            excess: Excess::read(reader)?,
            buffer: Buffer::read(reader)?,
            deadline: read_deadline(reader)?,
            reservation: None,
            protocol: name(reader, MAX_NAME_LENGTH)?,
        };
        if terms.is_sound() {
            Ok(terms)
        } else {
            Err(bad)
        }
    }
}

impl Reason {
    fn write(&self, writer: &mut CdrWriter<'_>) {
        writer.write_u32(self.code as u32);
        writer.write_name(&self.text);
    }

    fn read(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            code: ReasonCode::from_number(reader.read_u32()?),
            text: name(reader, MAX_TEXT_LENGTH)?,
        })
    }
}

impl Answer {
    pub(super) fn write(&self, writer: &mut CdrWriter<'_>) {
        match self {
            Self::Accepted(id, terms) => {
                writer.write_u32(0);
                writer.write_u64(*id);
                terms.write(writer);
            }
            Self::Countered(terms, reason) => {
                writer.write_u32(1);
                terms.write(writer);
                reason.write(writer);
            }
            Self::Refused(reason) => {
                writer.write_u32(2);
                reason.write(writer);
            }
        }
    }

    pub(super) fn read(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(match reader.read_u32()? {
            0 => Self::Accepted(reader.read_u64()?, Terms::read(reader)?),
            1 => Self::Countered(Terms::read(reader)?, Reason::read(reader)?),
            2 => Self::Refused(Reason::read(reader)?),
            _ => return Err(reader.error(CdrErrorKind::BadEnumerator)),
        })
    }
}

/// The arguments of `negotiate`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Negotiate {
    pub(super) version: u16,
    pub(super) object_key: Vec<u8>,
    pub(super) protocol: String,
    pub(super) offer: Offer,
}

impl Negotiate {
    pub(super) fn write(&self, writer: &mut CdrWriter<'_>) {
        writer.write_u16(self.version);
        writer.write_octets(&self.object_key);
        writer.write_name(&self.protocol);
        self.offer.write(writer);
    }

    pub(super) fn read(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let version = reader.read_u16()?;
        Ok(Self {
            version,
            object_key: reader.read_octets()?.to_vec(),
            protocol: name(reader, MAX_NAME_LENGTH)?,
            offer: Offer::read(reader, |_| version == RESERVING_VERSION)?,
        })
    }
}

/// The arguments of `renegotiate`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Renegotiate {
    pub(super) id: u64,
    pub(super) offer: Offer,
}

impl Renegotiate {
    pub(super) fn write(&self, writer: &mut CdrWriter<'_>) {
        writer.write_u64(self.id);
        self.offer.write(writer);
    }

    pub(super) fn read(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            id: reader.read_u64()?,
            offer: Offer::read(reader, |reader| reader.remaining() > 0)?,
        })
    }
}

/// The result of `proposal`: a sequence of at most one.
pub(super) fn write_proposal(terms: Option<&Terms>, writer: &mut CdrWriter<'_>) {
    writer.write_count(terms.iter().len());
    if let Some(terms) = terms {
        terms.write(writer);
    }
}

pub(super) fn read_proposal(reader: &mut CdrReader<'_>) -> Result<Option<Terms>, CdrError> {
    match reader.read_u32()? {
        0 => Ok(None),
        1 => Terms::read(reader).map(Some),
        _ => Err(reader.error(CdrErrorKind::BoundExceeded)),
    }
}

#[cfg(test)]
mod tests {
    use orbium_core::Reservation;
    use orbium_core::cdr::{ByteOrder, Format};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const FORMAT: Format = Format::plain(ByteOrder::NATIVE, 2);

    prop_compose! {
        fn buffers()(requests in 0..1000_u32, octets in 0..u32::MAX / 2, less in 0..1000_u32)
            -> (Buffer, Buffer)
        {
            let most = Buffer { requests, octets };
            let least = Buffer {
                requests: requests.saturating_sub(less),
                octets: octets.saturating_sub(less),
            };
            (most, least)
        }
    }

    prop_compose! {
        fn offers()(
            low in 0..=i16::MAX, above in 0..1000_i16,
            requests in 1..u32::MAX, less in 0..1000_u32, burst in 1..u32::MAX,
            period in 1..86_400_000_000_u64, delays: bool, (buffer, least_buffer) in buffers(),
            deadline in 0..u64::MAX, protocols in vec("[a-z+/]{1,64}", 0..=16),
            reserved in proptest::option::of(1..1_000_000_u64),
        ) -> Offer {
            Offer {
                priority: PriorityBand { low, high: low.saturating_add(above) },
                rate: Rate { requests, period: Duration::from_micros(period), burst },
                least_requests: requests.saturating_sub(less).max(1),
                excess: if delays { Excess::Delay } else { Excess::Refuse },
                buffer,
                least_buffer,
                deadline: (deadline > 0).then(|| Duration::from_micros(deadline)),
                reservation: reserved.map(|it| {
                    Reservation::new(Duration::from_micros(it), Duration::from_secs(1))
                }),
                soft: false,
                protocols,
            }
        }
    }

    fn version(offer: &Offer) -> u16 {
        1 + u16::from(offer.reservation.is_some())
    }

    fn octets(write: impl FnOnce(&mut CdrWriter<'_>)) -> Vec<u8> {
        let mut writer = CdrWriter::new(FORMAT);
        write(&mut writer);
        writer.finish().unwrap()
    }

    fn terms(offer: &Offer) -> Terms {
        Terms {
            priority: Priority::new(offer.priority.high).unwrap(),
            rate: offer.rate,
            excess: offer.excess,
            buffer: offer.buffer,
            deadline: offer.deadline,
            reservation: None,
            protocol: offer.protocols.first().cloned().unwrap_or("iiop".into()),
        }
    }

    proptest! {
        /// Conformance: RT GOPI 5.2 - bindings: on the wire as documented; hostile octets
        #[test]
        fn written_terms_come_back(offer in offers(), id: u64, key in vec(any::<u8>(), 0..40)) {
            let asked = Negotiate { version: version(&offer), object_key: key, protocol: "uiop".into(), offer };
            let mut written = octets(|writer| asked.write(writer));
            let mut reader = CdrReader::new(&mut written, FORMAT);
            prop_assert_eq!(&Negotiate::read(&mut reader).unwrap(), &asked);
            prop_assert_eq!(reader.remaining(), 0);
            let again = Renegotiate { id, offer: asked.offer.clone() };
            let mut written = octets(|writer| again.write(writer));
            let mut reader = CdrReader::new(&mut written, FORMAT);
            prop_assert_eq!(Renegotiate::read(&mut reader).unwrap(), again);
            let terms = terms(&asked.offer);
            for proposal in [None, Some(&terms)] {
                let mut written = octets(|writer| write_proposal(proposal, writer));
                let mut reader = CdrReader::new(&mut written, FORMAT);
                prop_assert_eq!(read_proposal(&mut reader).unwrap(), proposal.cloned());
            }
            let mut terms = terms;
            terms.reservation = asked.offer.reservation;
            prop_assert!(asked.offer.admits(&terms));
            prop_assert!(Offer::exactly(&terms).admits(&terms));
            terms.reservation = None;
            let reason = Reason::new(ReasonCode::Rate, "too much");
            for answer in [
                Answer::Accepted(id, terms.clone()),
                Answer::Countered(terms, reason.clone()),
                Answer::Refused(reason),
            ] {
                let mut written = octets(|writer| answer.write(writer));
                let mut reader = CdrReader::new(&mut written, FORMAT);
                prop_assert_eq!(Answer::read(&mut reader).unwrap(), answer);
            }
        }

        /// Whatever comes, what is read makes sense, or nothing is.
        ///
        /// Conformance: RT GOPI 5.2 - bindings: on the wire as documented; hostile octets
        #[test]
        fn hostile_octets_are_an_error(offer in offers(), spoilt in vec((any::<usize>(), any::<u8>()), 0..6), cut in 0..400_usize) {
            let asked = Negotiate { version: version(&offer), object_key: vec![7; 9], protocol: "iiop".into(), offer };
            let mut written = octets(|writer| asked.write(writer));
            for (at, octet) in spoilt {
                let at = at % written.len();
                written[at] = octet;
            }
            written.truncate(cut.max(1));
            let mut reader = CdrReader::new(&mut written, FORMAT);
            if let Ok(read) = Negotiate::read(&mut reader) {
                prop_assert!(read.offer.is_sound());
                prop_assert!(read.offer.protocols.len() <= MAX_PROTOCOLS);
            }
        }

        /// Conformance: RT GOPI 5.2 - bindings: on the wire as documented; hostile octets
        #[test]
        fn any_octets_are_an_answer_or_an_error(mut random in vec(any::<u8>(), 1..200)) {
            let mut reader = CdrReader::new(&mut random, FORMAT);
            if let Ok(Answer::Accepted(_, terms) | Answer::Countered(terms, _)) = Answer::read(&mut reader) {
                prop_assert!(terms.is_sound());
            }
            let mut reader = CdrReader::new(&mut random, FORMAT);
            if let Ok(read) = Renegotiate::read(&mut reader) {
                prop_assert!(read.offer.is_sound());
            }
            let mut reader = CdrReader::new(&mut random, FORMAT);
            if let Ok(Some(terms)) = read_proposal(&mut reader) {
                prop_assert!(terms.is_sound());
            }
        }
    }
}
