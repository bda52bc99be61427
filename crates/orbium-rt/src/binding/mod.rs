// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explicit bindings, after GOPI (Coulson and Baichoo, section 5): what a client
//! and a server agree on before calls are made.
//!
//! Two styles in addition to the ordinary one:
//!
//! * **A thread for a connection** (capsule-to-iref): the first request of a
//!   connection has a marker, and a server that knows it serves the connection by
//!   a thread of its own, at the priority asked for:
//!   [`RtObject::with_dedicated_thread`](crate::RtObject::with_dedicated_thread).
//!   Nothing is promised. A server that does not know markers, or has no thread to
//!   spare, serves as ever.
//! * **A negotiated binding** (iref-to-iref): priority, rate, buffer, deadline and
//!   protocol are agreed on first, and then kept:
//!   [`RtObject::bind`](crate::RtObject::bind). The server's [`Admission`]
//!   accepts an [`Offer`], makes another, or refuses with a reason.
//!
//! Both are served where [`RtOrb::serve_bindings`](crate::RtOrb::serve_bindings)
//! was called. Both sides can change a binding while it lives: the client by
//! [`Bound::renegotiate`], the server by [`Bindings::change`]. A binding is one connection: what the server has set aside for it
//! is free again when it is given up or the connection ends, whatever ends it.
//!
//! ```
//! use std::time::Duration;
//! use orbium_core::{Orb, Priority};
//! use orbium_rt::{Budget, Offer, RtObject, RtOrb};
//!
//! // The server: half of a processor may be promised, at priorities up to 1000.
//! let server = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
//! let rt = RtOrb::builder().soft().install(&server)?;
//! let budget = Budget::new()
//!     .share(0.5)
//!     .cost(Duration::from_micros(200))
//!     .priorities(0..=1000);
//! let bindings = rt.serve_bindings(budget)?;
//! # let reference = server.root_poa().activate_servant(&rt_doc::servant())?;
//! # server.root_poa().manager().activate()?;
//! # let url = server.object_to_string(&reference);
//!
//! // The client: 100 calls in a second, bursts of 10, at priority 800.
//! let orb = Orb::builder().build()?;
//! # let object = orb.string_to_object(&url)?.ok_or("nil")?;
//! let urgent = Priority::new(800).ok_or("no priority")?;
//! let bound = object.bind(&Offer::new(urgent, 100).burst(10))?;
//! assert_eq!(bound.terms().rate.requests, 100);
//! assert_eq!(bindings.active(), 1);
//! bound.repository_id()?; // a call within the binding
//! bound.unbind()?;
//! assert_eq!(bindings.active(), 0);
//! # server.shutdown(true)?;
//! # mod rt_doc {
//! #     use orbium_core::{Call, DispatchError, Servant, UntypedReply};
//! #     struct Idle;
//! #     impl Servant for Idle {
//! #         fn repository_id(&self) -> &'static str { "IDL:Idle:1.0" }
//! #         fn is_a(&self, _: &str) -> bool { false }
//! #         fn dispatch(&self, _: &Call<'_>, _: &mut orbium_core::cdr::CdrReader<'_>, _: &mut UntypedReply<'_>) -> Result<(), DispatchError> {
//! #             Err(orbium_core::unknown_operation())
//! #         }
//! #     }
//! #     pub fn servant() -> std::sync::Arc<dyn Servant> { std::sync::Arc::new(Idle) }
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # On the wire
//!
//! The marker is a service context, see `orbium_channel::dedication`. Negotiation is
//! ordinary requests to an object with the key `OrbiumBindings`, over the very
//! connection that is to be bound:
//!
//! ```idl
//! interface Bindings {                      // IDL:orbium.org/Bindings:1.0
//!   enum Excess { REFUSE, DELAY };
//!   struct Rate   { unsigned long requests; unsigned long long microseconds; unsigned long burst; };
//!   struct Buffer { unsigned long requests; unsigned long octets; };
//!   struct Offer  { short lowest; short highest; Rate rate; unsigned long least_requests;
//!                   Excess excess; Buffer buffer; Buffer least_buffer;
//!                   unsigned long long deadline;          // microseconds, 0 for none
//!                   sequence<string<64>, 16> protocols; };
//!   struct Reservation { unsigned long long runtime; unsigned long long deadline;
//!                        unsigned long long period; };   // microseconds
//!   struct Terms  { short priority; Rate rate; Excess excess; Buffer buffer;
//!                   unsigned long long deadline; string<64> protocol; };
//!   struct Reason { unsigned long code; string<512> text; };
//!   enum Verdict  { ACCEPTED, COUNTERED, REFUSED };
//!   union Answer switch (Verdict) {
//!     case ACCEPTED:  struct Accepted  { unsigned long long id; Terms terms; } accepted;
//!     case COUNTERED: struct Countered { Terms terms; Reason reason; } countered;
//!     case REFUSED:   Reason refused;
//!   };
//!   Answer negotiate(in unsigned short version, in sequence<octet> object_key,
//!                    in string<64> protocol, in Offer offer);
//!   void unbind(in unsigned long long id);
//!   Terms present_terms(in unsigned long long id);         // with the rate of the moment
//!   Answer renegotiate(in unsigned long long id, in Offer offer); // the binding stays as it is unless ACCEPTED
//!   sequence<Terms, 1> proposal(in unsigned long long id); // what the server would like to have
//!   Answer reserved(in unsigned long long id);             // whether the thread has its reservation
//! };
//! ```
//!
//! `renegotiate`, `proposal` and `reserved` overtake the requests that wait because of the rate, and are no requests of the
//! binding: 10 in a second are answered, more are NO_RESOURCES.
//!
//! An offer with a reservation has it behind the protocols, and is negotiated in version 2. Answers have no place for it:
//! a reservation is accepted as it is, or refused. Whether the thread has got it says `reserved`, ACCEPTED or REFUSED
//! with the reason of the server's host; all other requests but `unbind` are NO_RESOURCES with the minor code NOT_RESERVED
//! if it has not.
//!
//! Strings are never converted. An ORB that does not know the key answers
//! OBJECT_NOT_EXIST, which is [`BindError::NotSpoken`] to the client.

mod active_binding;
mod admission;
mod bind_error;
mod bucket;
mod budget;
mod changing;
mod client;
mod fair_share;
mod qos;
mod reservation_wire;
mod reserving;
mod service;
mod wire;

pub use active_binding::BindingInfo;
pub use admission::{AdjustableRate, Admission, Asked, Reservation, Verdict};
pub use bind_error::BindError;
pub use budget::Budget;
pub use changing::{Change, ChangeError};
pub use client::{Bound, Negotiation, Next};
pub use fair_share::FairShare;
pub use orbium_channel::dedication::{DedicationReply, Undedicated};
pub use qos::{Buffer, Excess, Offer, Rate, Reason, ReasonCode, Terms};
pub use service::{Bindings, ServeError};

pub(crate) use client::{bind, bind_with};
pub(crate) use service::serve;

/// The key of the object that bindings are negotiated with.
pub(crate) const KEY: &str = "OrbiumBindings";

/// Its interface.
pub(crate) const REPOSITORY_ID: &str = "IDL:orbium.org/Bindings:1.0";

/// The version of the interface.
pub(crate) const VERSION: u16 = 1;

/// The version of negotiations that reserve time of a processor.
pub(crate) const RESERVING_VERSION: u16 = 2;
