// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions shared by both sides of an invocation: [`Operation`]s, the exceptions that they
//! raise ([`Raises`]), [`priority`] and [`scheduling`] of the thread that calls or serves, the
//! [`reactor`] that it runs or the [queue](served_queue) that it serves while it waits,
//! [`TimePolicies`], [`RebindMode`], [`SyncScope`], [`BufferingConstraint`] and
//! [`router_policies`], IDL [`Context`]s, the interfaces of [`dedication`] and of [`CallQueue`]s,
//! names and attributes of [`spans`], the [`names`] of `corbaname:` URLs, and the [`story`] of a
//! failed invocation.
//!
//! It depends on neither connections, references, servants nor adapters. It is used by the ORB's
//! own crates: programs use `orbium`.
#![forbid(unsafe_code)]

mod cancellation;
pub mod collocation;
mod exception;
mod identity;
mod mapped;
pub mod names;
mod operation;
mod outcome;
mod policy;
pub mod served_queue;
pub mod spans;
pub mod story;
mod thread;

// For the macros.
#[doc(hidden)]
pub use orbium_cdr as cdr;
#[doc(hidden)]
pub use orbium_giop::SystemException;

pub use cancellation::{CANCELLATION_PERIOD, CancellationToken, call_cancelled};
pub use collocation::call_queue::{CallQueue, QueueableCall, QueuedCall};
pub use collocation::late_answer::LateAnswer;
pub use exception::object_error::{InvalidName, ObjectError};
pub use exception::or_raise::OrRaise;
pub use exception::raises::{
    DispatchError, Raised, Raises, UserException, not_implemented, unknown_operation,
};
pub use exception::reference_error::{NarrowError, ResolveError};
pub use exception::{call_exceptions, exceptions, raises};
pub use operation::Operation;
pub use operation::decoding::Decoding;
pub use operation::idl_context::{Context, Properties};
#[doc(hidden)]
pub use operation::idl_context::{read_properties, write_properties};
pub use operation::locality::Locality;
pub use operation::operation_table::OperationTable;
#[doc(hidden)]
pub use operation::operation_table::{concat_names, count_names};
pub use operation::typed_reply;
pub use outcome::Result;
pub use policy::expiry::Expiry;
pub use policy::messaging::{BufferingConstraint, RebindMode, SyncScope};
pub use policy::time_policies::TimePolicies;
pub use policy::{router_policies, timing};
pub use thread::priority::Priority;
pub use thread::real_time::{ConnectionSharing, NetworkMark, RealTime};
pub use thread::scheduling::set_thread_scheduling;
pub use thread::{dedication, priority, reactor, scheduling};
