// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conformance suite of stream transports, including those of users.
//!
//! A test file of a few lines runs the whole suite, each behaviour as a separate test:
//!
//! ```ignore
//! use orbium_testkit::CountingAllocator;
//! use orbium_testkit::transport_suite::{Subject, loopback};
//!
//! #[global_allocator]
//! static HEAP: CountingAllocator = CountingAllocator;
//!
//! orbium_testkit::transport_suite! {
//!     iiop => Subject::new(orbium_transport::Tcp, |unique| {
//!         format!("iiop://{}:0", loopback(unique))
//!     }),
//! }
//! ```
//!
//! There are two levels: [`streams`] tests the transport alone, [`orbs`] tests calls over it, with
//! each server strategy. Messaging protocols other than GIOP do not affect streams;
//! `transport_suite! { @orbs … }` leaves those tests out. `@clients` also leaves out those of
//! invalid octets: their treatment by a server does not depend on client strategies.
//!
//! Some of them count allocations: the test binary sets
//! [`CountingAllocator`](crate::CountingAllocator) as its global allocator.

mod child;
mod ends;
mod listed;
pub mod orbs;
mod role;
pub mod streams;
mod subject;

pub use role::act as act_as_child;
pub use subject::{Subject, loopback};
