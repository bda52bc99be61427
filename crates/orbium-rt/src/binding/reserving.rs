// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bindings that reserve processor time, at the client: negotiation of the reservation, and whether
//! the binding's thread has it.

use orbium_core::{Operation, Reservation, SystemException};
use orbium_sys::Deadline;

use super::bind_error::BindError;
use super::client::Bound;
use super::wire::Answer;
use super::{Offer, RESERVING_VERSION, Reason, ReasonCode, VERSION};

static RESERVED: Operation = Operation::new("reserved");

impl Offer {
    /// The offer without its reservation, if that was refused and the offer is soft.
    pub(super) fn softened(&self, refused: &Reason) -> Option<Self> {
        let is_refused = self.reservation.is_some() && refused.code == ReasonCode::Reservation;
        (self.soft && is_refused).then(|| Self {
            reservation: None,
            ..self.clone()
        })
    }

    /// The version of the negotiation that can carry the offer.
    pub(super) fn version(&self) -> u16 {
        match self.reservation {
            Some(_) => RESERVING_VERSION,
            None => VERSION,
        }
    }
}

impl Answer {
    /// Adds the requested reservation, which is granted unchanged.
    pub(super) fn with_reservation(mut self, reservation: Option<Reservation>) -> Self {
        if let Self::Accepted(_, terms) | Self::Countered(terms, _) = &mut self {
            terms.reservation = reservation;
        }
        self
    }
}

impl<I> Bound<I> {
    /// Asks the binding's thread whether the host has made the agreed reservation, if there is one.
    pub(super) fn confirmed(self, end: Deadline) -> Result<Self, BindError> {
        if self.terms.reservation.is_none() {
            return Ok(self);
        }
        let negotiator = match end.remaining().map_err(|_| BindError::late())? {
            Some(left) => self.negotiator.with_timeout(left),
            None => self.negotiator.clone(),
        };
        let id = self.id;
        let said: Result<Answer, SystemException> =
            negotiator.call(&RESERVED, |writer| writer.write_u64(id), Answer::read);
        match said.map_err(BindError::System)? {
            Answer::Accepted(id, _) if id == self.id => Ok(self),
            Answer::Refused(reason) => Err(BindError::Refused(reason)),
            Answer::Accepted(..) | Answer::Countered(..) => Err(BindError::Broken),
        }
    }
}
