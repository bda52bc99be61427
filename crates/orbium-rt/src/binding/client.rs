// SPDX-License-Identifier: MIT OR Apache-2.0
//! Binding, as the client does it.

use std::ops::Deref;
use std::time::Duration;

use orbium_core::cdr::{CdrError, CdrReader};
use orbium_core::{
    Completion, ExceptionKind, Interface, ObjectRef, Operation, Priority, ProtocolPolicy,
    SystemException,
};
use orbium_giop::minor;
use orbium_sys::Deadline;

use super::bind_error::BindError;
use super::wire::{Answer, Negotiate, Renegotiate, read_proposal};
use super::{KEY, Offer, REPOSITORY_ID, Reason, Terms};
use crate::error::bad_param;

static NEGOTIATE: Operation = Operation::new("negotiate");
static UNBIND: Operation = Operation::new("unbind");
static PRESENT_TERMS: Operation = Operation::new("present_terms");
static RENEGOTIATE: Operation = Operation::new("renegotiate");
static PROPOSAL: Operation = Operation::new("proposal");

/// Bounds of a negotiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negotiation {
    /// The maximum number of offers. Default: 8.
    pub rounds: u32,
    /// Time limit, including connecting. Default: 5 s.
    pub time: Duration,
}

impl Default for Negotiation {
    fn default() -> Self {
        Self {
            rounds: 8,
            time: Duration::from_secs(5),
        }
    }
}

/// Response of a client to a counter-offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The terms are acceptable.
    Accept,
    /// They will not, but perhaps this.
    Offer(Offer),
    /// No other terms are acceptable.
    GiveUp,
}

/// A binding: an object that is called over one connection, under the agreed terms. Calls use the
/// object to which it dereferences.
///
/// It ends with [`unbind`](Self::unbind), or when this and all references derived from it are
/// dropped, or with the connection. Calls then raise REBIND with orbium's minor code
/// `BINDING_LOST`. Calls that exceed the terms raise NO_RESOURCES with `BINDING_RATE` or
/// `BINDING_BUFFER`.
#[derive(Clone, Debug)]
pub struct Bound<I> {
    object: I,
    /// Without the deadline of the terms.
    reference: ObjectRef,
    pub(super) negotiator: ObjectRef,
    pub(super) id: u64,
    pub(super) terms: Terms,
    /// The reason why a soft offer has no reservation.
    pub(super) refused: Option<Reason>,
}

impl<I> Deref for Bound<I> {
    type Target = I;

    fn deref(&self) -> &I {
        &self.object
    }
}

impl<I> Bound<I> {
    /// The bound object.
    #[must_use]
    pub fn object(&self) -> &I {
        &self.object
    }

    /// The terms agreed on.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The reason why the binding has no reservation, though a [soft](Offer::soft) offer requested
    /// one.
    #[must_use]
    pub fn refused(&self) -> Option<&Reason> {
        self.refused.as_ref()
    }

    /// Requests the current terms from the server: those of [`terms`](Self::terms), except for the
    /// rate, which an admission such as [`FairShare`](crate::FairShare) changes within the offer.
    /// The call is a request of the binding, and counts as one.
    ///
    /// # Errors
    /// The exceptions of the call; NO_RESOURCES if the rate is exceeded; REBIND if the binding has
    /// ended, BAD_OPERATION by servers that do not change rates.
    pub fn present_terms(&self) -> Result<Terms, SystemException> {
        let mut terms = self.ask(&PRESENT_TERMS, Terms::read)?;
        terms.reservation = self.terms.reservation;
        Ok(terms)
    }

    /// The terms proposed by the server, if it has [proposed](super::Bindings::change) any outside
    /// the offer: [`Offer::exactly`] of them agrees.
    ///
    /// # Errors
    /// The exceptions of the call; REBIND if the binding has ended, BAD_OPERATION by servers that
    /// do not propose.
    pub fn proposal(&self) -> Result<Option<Terms>, SystemException> {
        let proposed = self.ask(&PROPOSAL, read_proposal)?;
        Ok(proposed.map(|terms| Terms {
            reservation: self.terms.reservation,
            ..terms
        }))
    }

    /// Calls an operation of the negotiator with the number of the binding.
    fn ask<R>(
        &self,
        operation: &'static Operation,
        read: impl FnMut(&mut CdrReader<'_>) -> Result<R, CdrError>,
    ) -> Result<R, SystemException> {
        let id = self.id;
        let said: Result<R, SystemException> =
            self.negotiator
                .call(operation, |writer| writer.write_u64(id), read);
        match said {
            // The server no longer has the binding.
            Err(it) if it.kind == ExceptionKind::BadParam => Err(lost()),
            other => other,
        }
    }

    /// The server's number for it.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Ends the binding. Its reservation is released when this returns; requests delayed by the
    /// rate are served first.
    ///
    /// # Errors
    /// The exceptions of the call; REBIND if the binding has ended already.
    pub fn unbind(&self) -> Result<(), SystemException> {
        self.ask(&UNBIND, |_| Ok(()))
    }
}

/// The object with the deadline of the terms.
fn with_deadline<I: Interface>(object: &ObjectRef, terms: &Terms) -> I {
    I::from_object(match terms.deadline {
        Some(deadline) => object.with_timeout(deadline),
        None => object.clone(),
    })
}

/// Whether the peer does not support the key, the operation, or bindings at all.
fn is_not_spoken(exception: &SystemException) -> bool {
    matches!(
        exception.kind,
        ExceptionKind::ObjectNotExist
            | ExceptionKind::BadOperation
            | ExceptionKind::InvObjref
            | ExceptionKind::NoImplement
    )
}

impl<I: Interface> Bound<I> {
    /// Changes the binding while calls continue: the server accepts the whole offer and applies the
    /// new terms from the next request on, or the binding is unchanged. Requests queued at the
    /// server keep their places. The deadline applies to calls through this binding; references
    /// derived from it before keep theirs. The protocol is that of the connection.
    ///
    /// ```
    /// # use orbium_core::SystemException;
    /// use orbium_core::Interface;
    /// use orbium_rt::{BindError, Bound, Offer};
    ///
    /// /// A faster rate, or what is left of it.
    /// fn hurry<I: Interface>(bound: &mut Bound<I>, faster: &Offer) -> Result<(), BindError> {
    ///     match bound.renegotiate(faster) {
    ///         Err(BindError::Countered(terms, _)) => bound.renegotiate(&Offer::exactly(&terms)),
    ///         other => other,
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// [`BindError::Refused`], and [`BindError::Countered`] with terms that the server would
    /// accept;
    /// [`BindError::NoProtocol`] for an offer without the protocol of the connection;
    /// [`BindError::NotSpoken`] by servers that do not renegotiate; [`BindError::System`] with REBIND if
    /// the binding has ended.
    pub fn renegotiate(&mut self, offer: &Offer) -> Result<(), BindError> {
        if !offer.is_sound() {
            return Err(BindError::Malformed);
        }
        let protocol = &self.terms.protocol;
        if !offer.protocols.is_empty() && !offer.protocols.contains(protocol) {
            return Err(BindError::NoProtocol);
        }
        let (id, offer) = (self.id, offer.clone().protocols([protocol]));
        let asked = Renegotiate { id, offer };
        let answer: Result<Answer, SystemException> =
            self.negotiator
                .call(&RENEGOTIATE, |writer| asked.write(writer), Answer::read);
        let answer = answer.map_err(|exception| match exception.kind {
            ExceptionKind::BadParam => BindError::System(lost()),
            _ if is_not_spoken(&exception) => BindError::NotSpoken,
            _ => BindError::System(exception),
        });
        match answer?.with_reservation(asked.offer.reservation) {
            Answer::Accepted(id, terms) if id == self.id && asked.offer.admits(&terms) => {
                self.object = with_deadline(&self.reference, &terms);
                self.terms = terms;
                Ok(())
            }
            Answer::Accepted(..) => Err(BindError::Broken),
            Answer::Countered(terms, reason) => Err(BindError::Countered(Box::new(terms), reason)),
            Answer::Refused(reason) => Err(BindError::Refused(reason)),
        }
    }
}

fn lost() -> SystemException {
    SystemException::orbium(ExceptionKind::Rebind, minor::BINDING_LOST, Completion::No)
}

/// Establishes a binding, and accepts terms within the offer.
pub(crate) fn bind<I: Interface>(object: &I, offer: &Offer) -> Result<Bound<I>, BindError> {
    let limits = Negotiation::default();
    bind_with(object, offer, limits, |terms, _| {
        if offer.admits(terms) {
            Next::Accept
        } else {
            Next::GiveUp
        }
    })
}

/// Establishes a binding, and calls a function to respond to counter-offers.
pub(crate) fn bind_with<I: Interface>(
    object: &I,
    offer: &Offer,
    limits: Negotiation,
    mut countered: impl FnMut(&Terms, &Reason) -> Next,
) -> Result<Bound<I>, BindError> {
    let bounds = (limits.rounds, Deadline::after(Some(limits.time)));
    let bound = negotiated(object, offer.clone(), bounds, &mut countered);
    let Err(BindError::Refused(reason)) = &bound else {
        return bound;
    };
    let Some(softer) = offer.softened(reason) else {
        return bound;
    };
    let mut softer = negotiated(object, softer, bounds, &mut countered)?;
    softer.refused = Some(reason.clone());
    Ok(softer)
}

/// One negotiation, over one connection at a time, with that maximum number of rounds and that
/// deadline.
fn negotiated<I: Interface>(
    object: &I,
    mut offer: Offer,
    (rounds, end): (u32, Deadline),
    countered: &mut impl FnMut(&Terms, &Reason) -> Next,
) -> Result<Bound<I>, BindError> {
    let mut connection: Option<Connection> = None;
    let mut last = None;
    for _ in 0..rounds {
        if !offer.is_sound() {
            return Err(BindError::Malformed);
        }
        let names = usable(object.as_object(), &offer)?;
        let protocol = names.first().ok_or(BindError::NoProtocol)?;
        let kept = connection.take().filter(|it| it.protocol == *protocol);
        let with = match kept {
            Some(kept) => kept,
            None => Connection::new(object.as_object(), protocol, &offer)?,
        };
        let named = Offer {
            protocols: names,
            ..offer.clone()
        };
        // A time limit beyond the range of the clock means no limit.
        let left = end.remaining().map_err(|_| BindError::late())?;
        let left = left.unwrap_or(Duration::MAX);
        let answer = with.negotiate(object.as_object(), &named, left)?;
        match answer.with_reservation(named.reservation) {
            Answer::Accepted(_, terms) if !named.admits(&terms) => return Err(BindError::Broken),
            Answer::Accepted(id, terms) => return with.bound::<I>(id, terms).confirmed(end),
            Answer::Refused(reason) => return Err(BindError::Refused(reason)),
            Answer::Countered(terms, reason) => {
                offer = match countered(&terms, &reason) {
                    Next::Accept => Offer::exactly(&terms),
                    Next::Offer(other) => other,
                    Next::GiveUp => return Err(BindError::Countered(Box::new(terms), reason)),
                };
                last = Some((terms, reason));
            }
        }
        connection = Some(with);
    }
    let (terms, reason) = last.ok_or_else(|| BindError::System(bad_param()))?;
    Err(BindError::NoAgreement(Box::new(terms), reason))
}

/// The protocols of an offer that the reference supports, in order of preference.
fn usable(object: &ObjectRef, offer: &Offer) -> Result<Vec<String>, BindError> {
    let offered = object.protocols().into_iter();
    let offered = offered.filter(|it| it.refusal.is_none());
    let offered = offered.filter_map(|it| Some(it.channel?.protocol()));
    let mut names: Vec<String> = Vec::new();
    for name in offered {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if !offer.protocols.is_empty() {
        let both = offer.protocols.iter().filter(|it| names.contains(it));
        names = both.cloned().collect();
    }
    names.truncate(super::qos::MAX_PROTOCOLS);
    if names.is_empty() {
        Err(BindError::NoProtocol)
    } else {
        Ok(names)
    }
}

/// The connection that is to be bound.
struct Connection {
    protocol: String,
    object: ObjectRef,
    negotiator: ObjectRef,
}

impl Connection {
    fn new(object: &ObjectRef, protocol: &str, offer: &Offer) -> Result<Self, BindError> {
        let highest = Priority::new(offer.priority.high);
        let object = object
            .with_protocols(ProtocolPolicy::new([protocol]))
            .with_one_connection(highest);
        let negotiator = object.with_object_key(KEY.as_bytes(), REPOSITORY_ID);
        let negotiator = negotiator.ok_or(BindError::NoProtocol)?;
        if negotiator.channel().is_none() {
            return Err(BindError::Collocated);
        }
        Ok(Self {
            protocol: protocol.to_owned(),
            object,
            negotiator,
        })
    }

    fn negotiate(
        &self,
        object: &ObjectRef,
        offer: &Offer,
        time: Duration,
    ) -> Result<Answer, BindError> {
        let keys = object.ior().profiles.iter();
        let key = keys
            .filter_map(orbium_giop::TaggedProfile::object_key)
            .next();
        let asked = Negotiate {
            version: offer.version(),
            object_key: key.ok_or(BindError::NoProtocol)?,
            protocol: self.protocol.clone(),
            offer: offer.clone(),
        };
        let timed = self.negotiator.with_timeout(time);
        let answer = timed.call(&NEGOTIATE, |writer| asked.write(writer), Answer::read);
        answer.map_err(|exception: SystemException| {
            if is_not_spoken(&exception) {
                BindError::NotSpoken
            } else {
                BindError::System(exception)
            }
        })
    }

    fn bound<I: Interface>(self, id: u64, terms: Terms) -> Bound<I> {
        Bound {
            object: with_deadline(&self.object, &terms),
            reference: self.object,
            negotiator: self.negotiator,
            id,
            terms,
            refused: None,
        }
    }
}
