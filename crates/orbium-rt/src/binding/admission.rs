// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deciding which bindings a server accepts.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use orbium_channel::dedication::Undedicated;
use orbium_core::{Peer, ThreadAsked};

use super::{Offer, Reason, Terms};

/// Decides which bindings a server takes on. Called by threads that serve, so it
/// must not block or call out.
pub trait Admission: Send + Sync + 'static {
    /// What is said to an offer, which makes sense and is for an object that is
    /// here. Nothing is held between a counter-offer and what the client says to
    /// it.
    fn consider(&self, asked: &Asked<'_>) -> Verdict;

    /// Whether a connection that asks for nothing but a thread of its own gets
    /// one, within [`Limits::dedicated_threads`](orbium_core::Limits). Default:
    /// yes.
    ///
    /// # Errors
    /// Why not; it is served as ever then.
    fn thread(&self, asked: &ThreadAsked<'_>) -> Result<(), Undedicated> {
        let _ = asked;
        Ok(())
    }
}

/// A client asks for a binding.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// What it asks for.
    pub offer: &'a Offer,
    /// The protocol of the connection, as the client says.
    pub protocol: &'a str,
    /// Id of the object that it means to call.
    pub object_id: &'a [u8],
    /// Name of the adapter that the object is active in.
    pub adapter: &'a str,
    /// Name of the lane of the connection.
    pub lane: &'a str,
    /// The client.
    pub peer: &'a Peer,
    /// What the binding holds, where one that lives is changed: it is given back when the new reservation
    /// takes its place, so the decision need not leave room for both.
    pub held: Option<&'a Reservation>,
}

/// Verdict on an offer.
#[derive(Debug)]
pub enum Verdict {
    /// It is accepted: these terms are within it, and the reservation is held
    /// until the binding ends.
    Accept(Terms, Reservation),
    /// Not so, but these would do, for that reason.
    Counter(Terms, Reason),
    /// Nothing would do.
    Refuse(Reason),
}

/// Reservation for a binding: dropped, it is free again.
pub struct Reservation {
    held: Box<dyn Any + Send + Sync>,
    rate: Option<AdjustableRate>,
}

impl Reservation {
    /// Holds that as long as the binding lives.
    #[must_use]
    pub fn new(held: impl Any + Send + Sync) -> Self {
        Self {
            held: Box::new(held),
            rate: None,
        }
    }

    /// As [`new`](Self::new), for a binding with a rate that the admission goes on to decide.
    #[must_use]
    pub fn adjustable(held: impl Any + Send + Sync, rate: AdjustableRate) -> Self {
        Self {
            held: Box::new(held),
            rate: Some(rate),
        }
    }

    /// What is held, if it is of that type: what an admission recognises its own by when a binding is
    /// [changed](Asked::held).
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

/// The requests in a period of a binding that lives. An admission changes them within what the client
/// has offered, which is agreed to beforehand: requests from then on are held to the new rate.
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
