// SPDX-License-Identifier: MIT OR Apache-2.0
//! Priority-banded connections, each bound with the server by a `_bind_priority_band`
//! request (RT-CORBA 1.2, clause 5.12.2).

use orbium_giop::SystemException;
use orbium_giop::real_time::PriorityBand;
use orbium_transport::Stamp;

use crate::call::exchange::{Answer, Exchange};
use crate::call::link::Link;
use crate::priorities::band_operation::{BIND_PRIORITY_BAND, is_unknown_to_server};
use crate::reference::Reference;
use crate::reference::candidate::Candidate;
use orbium_connection::introduction::PriorityContext;
use orbium_connection::outcome::Outcome;
use orbium_connection::pool::Pool;
use orbium_invocation::timing::Timing;

/// A link over a connection of the band; a new connection is bound with the server
/// first.
pub(crate) fn link<'b>(
    object: &'b Reference,
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
        bind(object, link.saying(PriorityContext::Range(band)), timing)?;
    }
}

/// Binds a connection to its band and returns it to the pool. A server that does not implement the
/// operation still serves the requests.
fn bind(object: &Reference, link: Link<'_>, timing: &Timing) -> Result<(), SystemException> {
    let mut exchange = Exchange::new(object, timing, BIND_PRIORITY_BAND.is_oneway(), link);
    exchange.begin(&BIND_PRIORITY_BAND);
    let refused = match exchange.perform() {
        Answer::Results | Answer::Extended | Answer::UserException => return Ok(()),
        Answer::None => match exchange.outcome() {
            // The call itself handles these.
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
