// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deciding which bindings a server accepts.

use std::any::Any;
use std::fmt;

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
}

/// What is said to an offer.
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

/// What is set aside for a binding: dropped, it is free again.
pub struct Reservation(#[expect(dead_code, reason = "held")] Box<dyn Any + Send + Sync>);

impl Reservation {
    /// Holds that as long as the binding lives.
    #[must_use]
    pub fn new(held: impl Any + Send + Sync) -> Self {
        Self(Box::new(held))
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reservation")
    }
}
