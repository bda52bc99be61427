// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deciding which bindings a server accepts.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use orbium_channel::dedication::Undedicated;
use orbium_core::{Peer, ThreadRequest};

use super::{Offer, Reason, Terms};

/// Decides which bindings a server accepts. Called by serving threads, so it must not block or make
/// calls.
pub trait Admission: Send + Sync + 'static {
    /// Decides on an offer, which is valid and for an active object. Nothing is reserved between a
    /// counter-offer and the client's reply to it.
    fn consider(&self, asked: &BindingRequest<'_>) -> Verdict;

    /// Whether a connection that requests only a dedicated thread gets one, within
    /// [`Limits::dedicated_threads`](orbium_core::Limits). Default: yes.
    ///
    /// # Errors
    /// The reason for the refusal; the connection is then served by the ordinary threads.
    fn thread(&self, asked: &ThreadRequest<'_>) -> Result<(), Undedicated> {
        let _ = asked;
        Ok(())
    }
}

/// A client's request for a binding.
#[derive(Clone, Copy, Debug)]
pub struct BindingRequest<'a> {
    /// The offer.
    pub offer: &'a Offer,
    /// The protocol of the connection, as given by the client.
    pub protocol: &'a str,
    /// Id of the object to be called.
    pub object_id: &'a [u8],
    /// Name of the adapter that the object is active in.
    pub adapter: &'a str,
    /// Name of the lane of the connection.
    pub lane: &'a str,
    /// The client.
    pub peer: &'a Peer,
    /// The reservation of an established binding that is to be changed: it is released when the new
    /// reservation replaces it, so the decision need not leave room for both.
    pub held: Option<&'a Reservation>,
}

/// Verdict on an offer.
#[derive(Debug)]
pub enum Verdict {
    /// It is accepted: these terms are within the offer, and the reservation is kept until the
    /// binding ends.
    Accept(Terms, Reservation),
    /// Not so, but these would do, for that reason.
    Counter(Terms, Reason),
    /// No terms are acceptable.
    Refuse(Reason),
}

/// Reservation for a binding, released when dropped.
pub struct Reservation {
    held: Box<dyn Any + Send + Sync>,
    rate: Option<AdjustableRate>,
}

impl Reservation {
    /// Keeps that value until the binding ends.
    #[must_use]
    pub fn new(held: impl Any + Send + Sync) -> Self {
        Self {
            held: Box::new(held),
            rate: None,
        }
    }

    /// As [`new`](Self::new), for a binding with a rate that the admission continues to adjust.
    #[must_use]
    pub fn adjustable(held: impl Any + Send + Sync, rate: AdjustableRate) -> Self {
        Self {
            held: Box::new(held),
            rate: Some(rate),
        }
    }

    /// The kept value, if it has that type: by this an admission recognizes its own reservation
    /// when a binding is [changed](BindingRequest::held).
    #[must_use]
    pub fn downcast_ref<T: Any>(&self) -> Option<&T> {
        self.held.downcast_ref()
    }

    pub(super) fn rate(&self) -> Option<AdjustableRate> {
        self.rate.clone()
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reservation")
    }
}

/// The number of requests per period of an established binding. An admission changes it within the
/// client's offer, which implies agreement: the new rate applies to subsequent requests.
///
/// ```
/// use orbium_rt::binding::AdjustableRate;
///
/// let rate = AdjustableRate::new(100);
/// rate.set(50);
/// assert_eq!(rate.requests(), 50);
/// ```
#[derive(Clone, Debug)]
pub struct AdjustableRate(Arc<AtomicU32>);

impl AdjustableRate {
    /// So many requests in a period.
    #[must_use]
    pub fn new(requests: u32) -> Self {
        Self(Arc::new(AtomicU32::new(requests)))
    }

    /// So many from now on.
    pub fn set(&self, requests: u32) {
        self.0.store(requests, Ordering::Relaxed);
    }

    /// The number of requests at present.
    #[must_use]
    pub fn requests(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
