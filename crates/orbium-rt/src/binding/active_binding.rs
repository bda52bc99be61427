// SPDX-License-Identifier: MIT OR Apache-2.0
//! A binding as the server keeps it.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use orbium_core::lock::{Mutex, MutexGuard};
use orbium_core::{
    Admittance, Arrival, Completion, DedicatedThread, ExceptionKind, Gate, Peer, RealTimeError,
    Scheduling, SystemException,
};
use orbium_giop::minor;

use super::bucket::Bucket;
use super::wire::Answer;
use super::{BindingRequest, Excess, KEY, Offer, Rate, Reason, ReasonCode, Reservation, Terms};

/// Rate limit of a client's queries and offers about its binding, which are not requests of the
/// binding.
const CONTROL: Rate = Rate {
    requests: 10,
    period: Duration::from_secs(1),
    burst: 10,
};

/// An established binding.
#[derive(Clone, Debug)]
pub struct BindingInfo {
    /// The number of the binding, unique within the server.
    pub id: u64,
    /// The client that owns the binding.
    pub peer: String,
    /// The agreed terms, with the current rate.
    pub terms: Terms,
    /// Requests that were begun, or are delayed.
    pub taken: u64,
    /// Requests refused because of the agreed terms.
    pub refused: u64,
}

/// The bindings of a server.
#[derive(Debug, Default)]
pub(super) struct Book {
    last: AtomicU64,
    bound: Mutex<HashMap<u64, Weak<Binding>>>,
}

impl Book {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Weak<Binding>>> {
        self.bound.lock()
    }

    pub(super) fn active(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn list(&self) -> Vec<BindingInfo> {
        let bound: Vec<_> = self.lock().values().filter_map(Weak::upgrade).collect();
        bound.iter().map(|it| it.info()).collect()
    }

    pub(super) fn find(&self, id: u64) -> Option<Arc<Binding>> {
        self.lock().get(&id).and_then(Weak::upgrade)
    }

    /// Takes a binding into the books.
    pub(super) fn enter(
        self: &Arc<Self>,
        site: Site,
        offer: Offer,
        terms: Terms,
        reservation: Reservation,
    ) -> Arc<Binding> {
        let id = 1 + self.last.fetch_add(1, Ordering::Relaxed);
        let binding = Arc::new(Binding {
            id,
            site,
            began: Instant::now(),
            agreement: Mutex::new(Agreement {
                bucket: Bucket::new(terms.rate),
                requests: terms.rate.requests,
                control: Bucket::new(CONTROL),
                offer,
                terms,
                held: Some(reservation),
                proposed: None,
                thread: None,
            }),
            has_other_thread: AtomicBool::new(false),
            reserved: OnceLock::new(),
            taken: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            book: Arc::clone(self),
        });
        self.lock().insert(id, Arc::downgrade(&binding));
        binding
    }
}

/// The protocol, object, lane and peer of a binding.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) protocol: String,
    pub(super) object_id: Vec<u8>,
    pub(super) adapter: String,
    pub(super) lane: String,
    pub(super) peer: Peer,
}

impl Site {
    pub(super) fn asked<'a>(
        &'a self,
        offer: &'a Offer,
        held: Option<&'a Reservation>,
    ) -> BindingRequest<'a> {
        BindingRequest {
            offer,
            protocol: &self.protocol,
            object_id: &self.object_id,
            adapter: &self.adapter,
            lane: &self.lane,
            peer: &self.peer,
            held,
        }
    }
}

/// Enforces the terms of one binding.
pub(super) struct Binding {
    pub(super) id: u64,
    pub(super) site: Site,
    began: Instant,
    agreement: Mutex<Agreement>,
    has_other_thread: AtomicBool,
    /// Whether the first thread has the agreed reservation; otherwise the reason, and its actual
    /// scheduling.
    reserved: OnceLock<Result<(), Reason>>,
    taken: AtomicU64,
    refused: AtomicU64,
    book: Arc<Book>,
}

/// The current agreement and its enforcement.
pub(super) struct Agreement {
    pub(super) offer: Offer,
    terms: Terms,
    bucket: Bucket,
    /// The requests in a period that the bucket is for.
    requests: u32,
    control: Bucket,
    /// `None` after the end of the binding.
    pub(super) held: Option<Reservation>,
    /// The terms proposed by the server.
    pub(super) proposed: Option<Terms>,
    /// The pending changes of the thread.
    thread: Option<DedicatedThread>,
}

impl Agreement {
    /// The agreed terms, with the current rate.
    pub(super) fn present_terms(&self) -> Terms {
        let mut terms = self.terms.clone();
        if let Some(rate) = self.held.as_ref().and_then(Reservation::rate) {
            terms.rate.requests = rate.requests();
        }
        terms
    }

    /// Takes a request, by the rate of the moment.
    fn take(&mut self, now: Duration) -> Result<(), Duration> {
        let rate = self.held.as_ref().and_then(Reservation::rate);
        if let Some(rate) = rate
            && rate.requests() != self.requests
        {
            let rate = self.present_terms().rate;
            self.bucket.set(rate);
            self.requests = rate.requests;
        }
        self.bucket.take(now)
    }

    fn pass(&mut self, now: Duration, request: &Arrival<'_>) -> Admittance {
        let most = self.terms.buffer;
        let octets = request.octets;
        let fits = |all: usize| u32::try_from(all).is_ok_and(|it| it <= most.octets);
        if !fits(octets) {
            return refuse(minor::BINDING_BUFFER);
        }
        let excess = self.terms.excess;
        match excess {
            Excess::Refuse => match self.take(now) {
                Ok(()) => Admittance::Begin,
                Err(_) => refuse(minor::BINDING_RATE),
            },
            Excess::Delay if request.waiting == 0 && self.take(now).is_ok() => Admittance::Begin,
            Excess::Delay => {
                let room = request.waiting < most.requests as usize
                    && fits(request.waiting_octets.saturating_add(octets));
                if room {
                    Admittance::Wait
                } else {
                    refuse(minor::BINDING_BUFFER)
                }
            }
        }
    }
}

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Binding")
            .field("id", &self.id)
            .field("terms", &self.present_terms())
            .finish_non_exhaustive()
    }
}

/// The reason why the calling thread has no reservation, and its actual scheduling.
fn not_reserved(error: &RealTimeError) -> Reason {
    let text = match Scheduling::of_this_thread() {
        Ok(has) => format!("{error}; the thread has {has}"),
        Err(_) => error.to_string(),
    };
    Reason::new(ReasonCode::Reservation, text)
}

fn refuse(code: u32) -> Admittance {
    Admittance::Refuse(SystemException::orbium(
        ExceptionKind::NoResources,
        code,
        Completion::No,
    ))
}

impl Binding {
    /// While it is locked, no request is admitted and no other terms are agreed on.
    pub(super) fn agreement(&self) -> MutexGuard<'_, Agreement> {
        self.agreement.lock()
    }

    fn info(&self) -> BindingInfo {
        BindingInfo {
            id: self.id,
            peer: self.site.peer.to_string(),
            terms: self.present_terms(),
            taken: self.taken.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    /// The agreed terms, with the current rate.
    pub(super) fn present_terms(&self) -> Terms {
        self.agreement().present_terms()
    }

    /// Changes the terms, also for requests that are not yet admitted: queued ones keep their
    /// places. Returns the previous reservation.
    pub(super) fn agree(
        &self,
        agreement: &mut Agreement,
        terms: Terms,
        held: Reservation,
        thread: DedicatedThread,
    ) -> Option<Reservation> {
        agreement.bucket.agree(self.began.elapsed(), terms.rate);
        agreement.requests = terms.rate.requests;
        if terms.priority != agreement.terms.priority {
            agreement.thread = Some(thread);
            self.has_other_thread.store(true, Ordering::Release);
        }
        agreement.terms = terms;
        agreement.proposed = None;
        agreement.held.replace(held)
    }

    /// Whether the thread has the agreed reservation.
    pub(super) fn reserved(&self) -> Answer {
        match self.reserved.get() {
            Some(Err(reason)) => Answer::Refused(reason.clone()),
            None if self.agreement().offer.reservation.is_some() => {
                let text = "the binding has no thread yet";
                Answer::Refused(Reason::new(ReasonCode::Thread, text))
            }
            _ => Answer::Accepted(self.id, self.present_terms()),
        }
    }

    /// Releases the reservation; a second call has no effect.
    pub(super) fn end(&self) {
        let held = self.agreement().held.take();
        drop(held);
        self.book.lock().remove(&self.id);
    }

    /// The decision on a request to the object that negotiates bindings.
    fn control(&self, operation: &[u8]) -> Option<Admittance> {
        match operation {
            // Ending a binding is always permitted.
            b"unbind" => Some(Admittance::Begin),
            b"renegotiate" | b"proposal" | b"reserved" => {
                let now = self.began.elapsed();
                match self.agreement().control.take(now) {
                    Ok(()) => Some(Admittance::Overtake),
                    Err(_) => Some(refuse(minor::BINDING_RATE)),
                }
            }
            _ => None,
        }
    }
}

impl Gate for Binding {
    fn arrived(&self, request: &Arrival<'_>) -> Admittance {
        let is_control = request.object_key == KEY.as_bytes();
        let is_of_end = is_control && matches!(request.operation, b"unbind" | b"reserved");
        if matches!(self.reserved.get(), Some(Err(_))) && !is_of_end {
            return refuse(minor::NOT_RESERVED);
        }
        if is_control && let Some(pass) = self.control(request.operation) {
            return pass;
        }
        let pass = self.agreement().pass(self.began.elapsed(), request);
        let count = match pass {
            Admittance::Refuse(_) => &self.refused,
            _ => &self.taken,
        };
        count.fetch_add(1, Ordering::Relaxed);
        pass
    }

    fn begin(&self) -> Result<(), Duration> {
        self.agreement().take(self.began.elapsed())
    }

    fn begun(&self, refused: Option<&RealTimeError>) {
        if self.agreement().offer.reservation.is_some() {
            // A further thread, which reads while the first waits in a call, has no effect.
            self.reserved.get_or_init(|| match refused {
                None => Ok(()),
                Some(error) => Err(not_reserved(error)),
            });
        }
    }

    fn in_force(&self) -> Option<String> {
        let terms = self.present_terms();
        let Rate {
            requests, period, ..
        } = terms.rate;
        let number = terms.priority.number();
        let mut text = format!("priority {number}, {requests} requests in {period:?}");
        if let Some(deadline) = terms.deadline {
            text += &format!(", deadline {deadline:?}");
        }
        Some(text)
    }

    fn changed(&self) -> Option<DedicatedThread> {
        if !self.has_other_thread.load(Ordering::Acquire) {
            return None;
        }
        let mut agreement = self.agreement();
        self.has_other_thread.store(false, Ordering::Release);
        agreement.thread.take()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Binding {
    fn drop(&mut self) {
        self.end();
    }
}
