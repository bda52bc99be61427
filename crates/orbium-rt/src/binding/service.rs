// SPDX-License-Identifier: MIT OR Apache-2.0
//! The object that clients negotiate with, and the answer to markers.

use std::fmt;
use std::sync::Arc;

use orbium_channel::dedication::Undedicated;
use orbium_core::cdr::CdrReader;
use orbium_core::{
    Call, DedicatedThread, Dedication, Dispatch, DispatchError, DispatchHook, Gate, Hook, Orb,
    PoaError, Policies, Priority, RequestInfo, Reservation, Servant, SystemException,
    ThreadRequest, UntypedReply, priority, unknown_operation,
};

use super::active_binding::{Agreement, Binding, Book, Site};
use super::wire::{Answer, Negotiate, Renegotiate, write_proposal};
use super::{
    Admission, BindingInfo, Change, ChangeError, KEY, Offer, REPOSITORY_ID, RESERVING_VERSION,
    Reason, ReasonCode, Terms, VERSION, Verdict,
};
use crate::error::bad_param;
use crate::priority::host::Host;

/// The bindings of a server; see [`RtOrb::serve_bindings`](crate::RtOrb). Dropping this handle does
/// not end them.
#[derive(Clone)]
pub struct Bindings(Arc<Decider>);

impl Bindings {
    /// The number of bindings.
    #[must_use]
    pub fn active(&self) -> usize {
        self.0.book.active()
    }

    /// The bindings, in no order.
    #[must_use]
    pub fn list(&self) -> Vec<BindingInfo> {
        self.0.book.list()
    }

    /// Changes the binding of that number: rate, burst, buffer and priority within its client's
    /// offer apply from the next request on, if the admission accepts them. Other terms are
    /// proposed to the client, and replace a previous proposal. No request is lost: queued ones
    /// keep their places, and those in progress are not affected.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn change(&self, id: u64, terms: &Terms) -> Result<Change, ChangeError> {
        let binding = self.0.book.find(id).ok_or(ChangeError::NotBound)?;
        if !terms.is_sound() || terms.protocol != binding.site.protocol {
            return Err(ChangeError::Malformed);
        }
        let mut agreement = binding.agreement();
        if agreement.held.is_none() {
            return Err(ChangeError::NotBound);
        }
        if !agreement.offer.admits(terms) {
            agreement.proposed = Some(terms.clone());
            return Ok(Change::Proposed);
        }
        match self
            .0
            .change(&binding, &mut agreement, &Offer::exactly(terms))
        {
            Ok(Answer::Accepted(..)) => Ok(Change::Made),
            Ok(Answer::Countered(terms, reason)) => {
                Err(ChangeError::Countered(Box::new(terms), reason))
            }
            Ok(Answer::Refused(reason)) | Err(reason) => Err(ChangeError::Refused(reason)),
        }
    }
}

impl fmt::Debug for Bindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bindings").field(&self.0.book).finish()
    }
}

/// Error of serving bindings.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServeError {
    /// Bindings are enabled already.
    AlreadyServed,
    /// Its adapter could not be created: the ORB cannot listen, or was shut down.
    Poa(PoaError),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyServed => f.write_str("the ORB serves bindings already"),
            Self::Poa(error) => error.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ServeError {}

impl From<PoaError> for ServeError {
    fn from(error: PoaError) -> Self {
        Self::Poa(error)
    }
}

impl From<SystemException> for ServeError {
    fn from(exception: SystemException) -> Self {
        Self::Poa(PoaError::System(exception))
    }
}

/// Decides on markers and offers: admission, host, bindings.
struct Decider {
    admission: Box<dyn Admission>,
    host: Arc<Host>,
    book: Arc<Book>,
}

/// A handle on the decider: one each for the ORB and for the adapter.
#[derive(Clone)]
struct Service(Arc<Decider>);

/// Dispatch hook that serves a negotiation on the thread that has read it: the connection of that
/// thread is the one to be bound.
#[derive(Debug)]
struct InReadingThread;

impl DispatchHook for InReadingThread {
    fn arrived(&self, _: &RequestInfo<'_>) -> Dispatch {
        Dispatch::At(priority::current().unwrap_or(Priority::MIN), None)
    }
}

/// Enables bindings for an ORB.
pub(crate) fn serve(
    orb: &Orb,
    host: &Arc<Host>,
    admission: impl Admission,
) -> Result<Bindings, ServeError> {
    let book = Arc::new(Book::default());
    let decider = Arc::new(Decider {
        admission: Box::new(admission),
        host: Arc::clone(host),
        book,
    });
    let service = Service(Arc::clone(&decider));
    if !orb.install_dedication(Arc::new(service.clone())) {
        return Err(ServeError::AlreadyServed);
    }
    let policies = Policies {
        dispatch: Some(Hook(Arc::new(InReadingThread))),
        ..Policies::default()
    };
    let adapter = orb.root_poa().create_poa(KEY, None, policies)?;
    let servant: Arc<dyn Servant> = Arc::new(service);
    let object = adapter.activate_servant(&servant)?;
    orb.bind_key_in_place(KEY, &object)?;
    adapter.manager().activate()?;
    Ok(Bindings(decider))
}

impl Dedication for Service {
    fn decide(&self, request: &ThreadRequest<'_>) -> Result<DedicatedThread, Undedicated> {
        self.0.admission.thread(request)?;
        self.0.thread(request.priority, None, None)
    }
}

impl Decider {
    /// The configuration of a thread at a priority on this host.
    fn thread(
        &self,
        priority: Option<Priority>,
        reservation: Option<Reservation>,
        gate: Option<Arc<dyn Gate>>,
    ) -> Result<DedicatedThread, Undedicated> {
        let scheduling = match priority.map(|it| self.host.scheduling(it)) {
            Some(scheduling) => scheduling.map_err(|_| Undedicated::Priority)?,
            None => None,
        };
        Ok(DedicatedThread {
            priority,
            scheduling,
            reservation,
            gate,
        })
    }

    /// Answers an offer. An accepted one is assigned its thread.
    fn answer(&self, call: &Call<'_>, reply: &mut UntypedReply<'_>, asked: &Negotiate) -> Answer {
        self.settle(call, reply, asked)
            .unwrap_or_else(Answer::Refused)
    }

    fn settle(
        &self,
        call: &Call<'_>,
        reply: &mut UntypedReply<'_>,
        Negotiate {
            object_key,
            protocol,
            offer,
            ..
        }: &Negotiate,
    ) -> Result<Answer, Reason> {
        if call.gate().is_some() {
            return Err(Reason::new(
                ReasonCode::Bound,
                "the connection is bound already",
            ));
        }
        let (Some(peer), Some(lane)) = (call.peer(), call.lane()) else {
            let text = "there is no connection: the caller is within the process";
            return Err(Reason::new(ReasonCode::Thread, text));
        };
        let found = call.orb().object_with_key(object_key);
        let none = || Reason::new(ReasonCode::Object, "no such object is active here");
        let (poa, object_id) = found.ok_or_else(none)?;
        let site = Site {
            protocol: protocol.clone(),
            object_id,
            adapter: poa.name().to_owned(),
            lane: lane.name().to_owned(),
            peer: peer.clone(),
        };
        let verdict = self.admission.consider(&site.asked(offer, None));
        let (terms, reservation) = match verdict {
            Verdict::Refuse(reason) => return Err(reason),
            Verdict::Counter(terms, reason) => return Ok(Answer::Countered(terms, reason)),
            Verdict::Accept(terms, reservation) => (terms, reservation),
        };
        if terms.reservation != offer.reservation {
            return Err(not_reserved("the server's admission reserves no time"));
        }
        let priority = Some(terms.priority);
        let binding = self
            .book
            .enter(site, offer.clone(), terms.clone(), reservation);
        let id = binding.id;
        let thread = self.thread(priority, terms.reservation, Some(binding));
        let granted = thread.and_then(|thread| call.dedicate(reply, thread));
        match granted {
            Ok(()) => Ok(Answer::Accepted(id, terms)),
            // The reserved share is free again: the binding was dropped.
            Err(why) => Err(reason_of(why)),
        }
    }

    /// Answers an offer for an established binding. An accepted one takes effect at once.
    ///
    /// # Errors
    /// The reason for the refusal: the binding is unchanged.
    fn change(
        &self,
        binding: &Binding,
        agreement: &mut Agreement,
        offer: &Offer,
    ) -> Result<Answer, Reason> {
        let ended = || Reason::new(ReasonCode::Bound, "the binding has ended");
        let held = agreement.held.as_ref().ok_or_else(ended)?;
        let reservation = agreement.offer.reservation;
        if offer.reservation != reservation {
            return Err(not_reserved("the reservation of a binding cannot change"));
        }
        let asked = binding.site.asked(offer, Some(held));
        let (mut terms, held) = match self.admission.consider(&asked) {
            Verdict::Refuse(reason) => return Err(reason),
            Verdict::Counter(terms, reason) => return Ok(Answer::Countered(terms, reason)),
            Verdict::Accept(terms, held) => (terms, held),
        };
        terms.reservation = reservation;
        let thread = self.thread(Some(terms.priority), reservation, None);
        let thread = thread.map_err(reason_of)?;
        let before = binding.agree(agreement, terms, held, thread);
        // Released before the answer, which states the rate that then remains.
        drop(before);
        Ok(Answer::Accepted(binding.id, agreement.present_terms()))
    }
}

impl Service {
    fn negotiate(
        &self,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        let asked = Negotiate::read(arguments)?;
        let answer = match asked.version {
            VERSION | RESERVING_VERSION => self.0.answer(call, reply, &asked),
            other => {
                let text = format!("version {other} of negotiation is not known here");
                Answer::Refused(Reason::new(ReasonCode::Malformed, text))
            }
        };
        reply.result(|writer| answer.write(writer))
    }

    fn renegotiate(
        &self,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        let Renegotiate { id, offer } = Renegotiate::read(arguments)?;
        let change = |binding: &Binding| {
            let mut agreement = binding.agreement();
            let answer = self.0.change(binding, &mut agreement, &offer)?;
            if matches!(answer, Answer::Accepted(..)) {
                agreement.offer = offer;
            }
            Ok(answer)
        };
        let answer = with_binding(call, id, change)?.unwrap_or_else(Answer::Refused);
        reply.result(|writer| answer.write(writer))
    }

    fn proposal(
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        let proposed = |it: &Binding| it.agreement().proposed.clone();
        let proposed = with_binding(call, arguments.read_u64()?, proposed)?;
        reply.result(|writer| write_proposal(proposed.as_ref(), writer))
    }

    fn reserved(
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        let answer = with_binding(call, arguments.read_u64()?, Binding::reserved)?;
        reply.result(|writer| answer.write(writer))
    }

    fn unbind(
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        with_binding(call, arguments.read_u64()?, Binding::end)?;
        call.end_dedication();
        reply.result(|_| {})
    }

    fn present_terms(
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        let terms = with_binding(call, arguments.read_u64()?, Binding::present_terms)?;
        reply.result(|writer| terms.write(writer))
    }
}

fn not_reserved(why: &str) -> Reason {
    Reason::new(ReasonCode::Reservation, why)
}

fn reason_of(why: Undedicated) -> Reason {
    match why {
        Undedicated::Priority => {
            let text = "the server's host has no such priority";
            Reason::new(ReasonCode::Priority, text)
        }
        why => Reason::new(ReasonCode::Thread, why.text()),
    }
}

/// Runs a function with the binding of a call's connection, if it has this number.
fn with_binding<R>(
    call: &Call<'_>,
    id: u64,
    act: impl FnOnce(&Binding) -> R,
) -> Result<R, SystemException> {
    let gate = call.gate();
    let binding = gate
        .as_ref()
        .and_then(|it| it.as_any().downcast_ref::<Binding>());
    let binding = binding.filter(|it| it.id == id).ok_or_else(bad_param)?;
    Ok(act(binding))
}

impl Servant for Service {
    fn repository_id(&self) -> &'static str {
        REPOSITORY_ID
    }

    fn is_a(&self, repository_id: &str) -> bool {
        repository_id == REPOSITORY_ID
    }

    fn dispatch(
        &self,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        match call.operation() {
            b"negotiate" => self.negotiate(call, arguments, reply),
            b"renegotiate" => self.renegotiate(call, arguments, reply),
            b"proposal" => Self::proposal(call, arguments, reply),
            b"reserved" => Self::reserved(call, arguments, reply),
            b"unbind" => Self::unbind(call, arguments, reply),
            b"present_terms" => Self::present_terms(call, arguments, reply),
            _ => Err(unknown_operation()),
        }
    }
}
