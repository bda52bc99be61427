// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reservations on the wire: three times in microseconds. None of them reclaims.

use std::time::Duration;

use orbium_core::Reservation;
use orbium_core::cdr::{CdrError, CdrReader, CdrWriter};

pub(super) fn microseconds(span: Option<Duration>) -> u64 {
    span.map_or(0, |it| u64::try_from(it.as_micros()).unwrap_or(u64::MAX))
}

/// Behind an offer.
pub(super) fn write_reservation(reservation: Reservation, writer: &mut CdrWriter<'_>) {
    for span in [
        reservation.runtime,
        reservation.deadline,
        reservation.period,
    ] {
        writer.write_u64(microseconds(Some(span)));
    }
}

pub(super) fn read_reservation(reader: &mut CdrReader<'_>) -> Result<Reservation, CdrError> {
    Ok(Reservation {
        runtime: Duration::from_micros(reader.read_u64()?),
        deadline: Duration::from_micros(reader.read_u64()?),
        period: Duration::from_micros(reader.read_u64()?),
        reclaims: false,
    })
}
