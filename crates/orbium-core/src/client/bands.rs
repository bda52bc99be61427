// SPDX-License-Identifier: MIT OR Apache-2.0
//! Priority-banded connections, each bound with the server by a `_bind_priority_band`
//! request (RT-CORBA 1.2, clause 5.12.2).

use orbium_giop::real_time::PriorityBand;
use orbium_giop::{ExceptionKind, SystemException};
use orbium_transport::Stamp;

use crate::client::binding::{Candidate, PriorityContext};
use crate::client::exchange::{Answer, Exchange, Outcome};
use crate::client::link::Link;
use crate::client::pool::Pool;
use crate::client::timing::Timing;
use crate::{Operation, Orb};

/// Asks a server for a connection of a band. The text leaves its reply open:
/// nothing of it is needed here.
pub(super) static BIND_PRIORITY_BAND: Operation = Operation::new("_bind_priority_band");

/// A link over a connection of the band; a new connection is bound with the server
/// first.
pub(super) fn link<'b>(
    orb: &'b Orb,
    candidate: &'b Candidate,
    pool: &'b Pool,
    (timing, begun): (&Timing, &Stamp),
    band: PriorityBand,
) -> Result<Link<'b>, SystemException> {
    loop {
        let link = Link::through(candidate, Some(pool), timing, begun)?;
        if !link.is_new() {
            return Ok(link);
        }
        bind(orb, link.saying(PriorityContext::Range(band)), timing)?;
    }
}

/// Binds a connection to its band and returns it to the pool. A server that does not
/// know the operation still serves the requests.
fn bind(orb: &Orb, link: Link<'_>, timing: &Timing) -> Result<(), SystemException> {
    let mut exchange = Exchange::new(orb, timing, BIND_PRIORITY_BAND.is_oneway(), link);
    exchange.begin(&BIND_PRIORITY_BAND);
    let refused = match exchange.perform() {
        Answer::Results | Answer::UserException => return Ok(()),
        Answer::None => match exchange.outcome() {
            // The call itself will find out what to do.
            Outcome::Forward(_) | Outcome::Readdress(_) => return Ok(()),
            Outcome::NotBegun(exception)
            | Outcome::Lost(exception)
            | Outcome::Unwritable(exception)
            | Outcome::Failed(exception) => exception,
        },
    };
    if is_unknown_to_server(refused) {
        return Ok(());
    }
    exchange.abandon();
    Err(refused)
}

/// Whether that is what a server says to a band that does not know of any.
pub(super) fn is_unknown_to_server(refused: SystemException) -> bool {
    matches!(
        refused.kind,
        ExceptionKind::BadOperation | ExceptionKind::NoImplement
    )
}
