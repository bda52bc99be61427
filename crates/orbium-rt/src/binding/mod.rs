// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explicit bindings, after GOPI (Coulson and Baichoo, section 5): terms on which a client and a
//! server agree before calls are made.
//!
//! Two styles in addition to the ordinary one:
//!
//! * **A thread for a connection** (capsule-to-iref): the first request of a connection has a
//!   marker, and a server that supports it serves the connection by a dedicated thread, at the
//!   requested priority:
//!   [`RtObject::with_dedicated_thread`](crate::RtObject::with_dedicated_thread). There is no
//!   guarantee: a server that does not support markers, or has no spare thread, serves the
//!   connection by its ordinary threads.
//! * **A negotiated binding** (iref-to-iref): priority, rate, buffer, deadline and protocol are
//!   agreed on first, and then enforced: [`RtObject::bind`](crate::RtObject::bind). The server's
//!   [`Admission`] accepts an [`Offer`], makes a counter-offer, or refuses with a reason.
//!
//! Both are served by an ORB after [`RtOrb::serve_bindings`](crate::RtOrb::serve_bindings). Both
//! sides can change an established binding: the client by [`Bound::renegotiate`], the server by
//! [`Bindings::change`]. A binding is one connection: the server releases its reservation when the
//! binding or the connection ends, for any reason.
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
//! The marker is a service context, see `orbium_channel::dedication`. Negotiation consists of
//! ordinary requests to an object with the key `OrbiumBindings`, over the connection that is to be
//! bound:
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
//! `renegotiate`, `proposal` and `reserved` overtake requests delayed by the rate, and are not
//! requests of the binding: at most 10 per second are accepted, more raise NO_RESOURCES.
//!
//! An offer with a reservation has it after the protocols, and is negotiated in version 2. Replies
//! do not contain it: a reservation is accepted unchanged, or refused. `reserved` returns whether
//! the thread has it: ACCEPTED, or REFUSED with the reason of the server's host, in which case all
//! other requests but `unbind` raise NO_RESOURCES with the minor code NOT_RESERVED.
//!
//! Strings are never converted. An ORB that does not support the key replies OBJECT_NOT_EXIST,
//! which the client returns as [`BindError::NotSpoken`].

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
pub use admission::{AdjustableRate, Admission, BindingRequest, Reservation, Verdict};
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
