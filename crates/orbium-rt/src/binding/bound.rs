// SPDX-License-Identifier: MIT OR Apache-2.0
//! A binding as the server keeps it.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use orbium_core::{Arrival, Completion, ExceptionKind, Gate, Pass, SystemException};
use orbium_giop::minor;

use super::bucket::Bucket;
use super::{AdjustableRate, Excess, KEY, Reservation, Terms};

/// A binding that there is.
#[derive(Clone, Debug)]
pub struct BindingInfo {
    /// Its number: no two of a server have the same.
    pub id: u64,
    /// The client that owns the binding.
    pub peer: String,
    /// What was agreed on, with the rate that is kept at present.
    pub terms: Terms,
    /// Requests that were begun, or wait.
    pub taken: u64,
    /// Requests refused because of what was agreed on.
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
        self.bound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn active(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn list(&self) -> Vec<BindingInfo> {
        let bound: Vec<_> = self.lock().values().filter_map(Weak::upgrade).collect();
        bound.iter().map(|it| it.info()).collect()
    }

    /// Takes a binding into the books.
    pub(super) fn enter(
        self: &Arc<Self>,
        peer: String,
        terms: Terms,
        reservation: Reservation,
    ) -> Arc<Binding> {
        let id = 1 + self.last.fetch_add(1, Ordering::Relaxed);
        let binding = Arc::new(Binding {
            id,
            peer,
            began: Instant::now(),
            bucket: Mutex::new(Kept {
                bucket: Bucket::new(terms.rate),
                requests: terms.rate.requests,
            }),
            terms,
            rate: reservation.rate(),
            held: Mutex::new(Some(reservation)),
            taken: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            book: Arc::clone(self),
        });
        self.lock().insert(id, Arc::downgrade(&binding));
        binding
    }
}

/// What keeps to the terms of one binding.
pub(super) struct Binding {
    pub(super) id: u64,
    peer: String,
    pub(super) terms: Terms,
    began: Instant,
    bucket: Mutex<Kept>,
    /// If the admission goes on to decide it.
    rate: Option<AdjustableRate>,
    held: Mutex<Option<Reservation>>,
    taken: AtomicU64,
    refused: AtomicU64,
    book: Arc<Book>,
}

/// The rate that is kept, and the requests in a period that it is for.
struct Kept {
    bucket: Bucket,
    requests: u32,
}

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Binding")
            .field("id", &self.id)
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}

fn refuse(code: u32) -> Pass {
    Pass::Refuse(SystemException::orbium(
        ExceptionKind::NoResources,
        code,
        Completion::No,
    ))
}

impl Binding {
    fn info(&self) -> BindingInfo {
        BindingInfo {
            id: self.id,
            peer: self.peer.clone(),
            terms: self.present_terms(),
            taken: self.taken.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    /// What was agreed on, with the rate that is kept at present.
    pub(super) fn present_terms(&self) -> Terms {
        let mut terms = self.terms.clone();
        if let Some(rate) = &self.rate {
            terms.rate.requests = rate.requests();
        }
        terms
    }

    fn take(&self) -> Result<(), Duration> {
        let now = self.began.elapsed();
        let mut kept = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rate) = &self.rate
            && rate.requests() != kept.requests
        {
            let rate = self.present_terms().rate;
            kept.bucket.set(rate);
            kept.requests = rate.requests;
        }
        kept.bucket.take(now)
    }

    /// Gives back what was set aside; nothing the second time.
    pub(super) fn end(&self) {
        let held = self
            .held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(held);
        self.book.lock().remove(&self.id);
    }

    fn pass(&self, request: &Arrival<'_>) -> Pass {
        let most = self.terms.buffer;
        let octets = request.octets;
        let fits = |all: usize| u32::try_from(all).is_ok_and(|it| it <= most.octets);
        if !fits(octets) {
            return refuse(minor::BINDING_BUFFER);
        }
        match self.terms.excess {
            Excess::Refuse => match self.take() {
                Ok(()) => Pass::Begin,
                Err(_) => refuse(minor::BINDING_RATE),
            },
            Excess::Delay if request.waiting == 0 && self.take().is_ok() => Pass::Begin,
            Excess::Delay => {
                let room = request.waiting < most.requests as usize
                    && fits(request.waiting_octets.saturating_add(octets));
                match room {
                    true => Pass::Wait,
                    false => refuse(minor::BINDING_BUFFER),
                }
            }
        }
    }
}

impl Gate for Binding {
    fn arrived(&self, request: &Arrival<'_>) -> Pass {
        // The end of a binding is always welcome.
        if request.operation == b"unbind" && request.object_key == KEY.as_bytes() {
            return Pass::Begin;
        }
        let pass = self.pass(request);
        let count = match pass {
            Pass::Refuse(_) => &self.refused,
            Pass::Begin | Pass::Wait => &self.taken,
        };
        count.fetch_add(1, Ordering::Relaxed);
        pass
    }

    fn begin(&self) -> Result<(), Duration> {
        self.take()
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
