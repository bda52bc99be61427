// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common ground of both sides of an invocation: [`Operation`]s, the exceptions that they raise
//! ([`Raises`]), [`priority`] and [`scheduling`] of the thread that calls or serves, the
//! [`reactor`] that it runs or the [queue](served_queue) that it serves while it waits,
//! [`TimePolicies`], [`RebindMode`], [`SyncScope`], [`BufferingConstraint`] and
//! [`router_policies`], the interfaces of [`dedication`] and of [`CallQueue`]s, the words of
//! [`spans`], the [`names`] that `corbaname:` has, and the [`story`] of an invocation that failed.
//!
//! It knows neither connections nor references, neither servants nor adapters. Its users
//! are the ORB's own crates: `orbium` has what programs need.
#![forbid(unsafe_code)]

pub mod call_exceptions;
mod call_queue;
mod cancellation;
pub mod collocation;
mod decoding;
pub mod dedication;
pub mod exceptions;
mod expiry;
mod late_answer;
mod locality;
mod mapped_arguments;
mod mapped_calls;
mod mapped_exceptions;
mod mapped_skeletons;
mod mapped_stubs;
mod messaging;
pub mod names;
mod object_error;
mod operation;
mod operation_table;
mod or_raise;
pub mod priority;
pub mod raises;
pub mod reactor;
mod real_time;
mod reference_error;
pub mod router_policies;
pub mod scheduling;
pub mod served_queue;
pub mod spans;
pub mod story;
mod time_policies;
pub mod timing;
pub mod typed_reply;

// For the macros.
#[doc(hidden)]
pub use orbium_cdr as cdr;
#[doc(hidden)]
pub use orbium_giop::SystemException;

pub use call_queue::{CallQueue, QueueableCall, QueuedCall};
pub use cancellation::{CANCELLATION_PERIOD, CancellationToken, call_cancelled};
pub use decoding::Decoding;
pub use expiry::Expiry;
pub use late_answer::LateAnswer;
pub use locality::Locality;
pub use messaging::{BufferingConstraint, RebindMode, SyncScope};
pub use object_error::{InvalidName, ObjectError};
pub use operation::Operation;
pub use operation_table::OperationTable;
#[doc(hidden)]
pub use operation_table::{concat_names, count_names};
pub use or_raise::OrRaise;
pub use priority::Priority;
pub use raises::{DispatchError, Raised, Raises, UserException};
pub use real_time::{ConnectionSharing, NetworkMark, RealTime};
pub use reference_error::{NarrowError, ResolveError};
pub use time_policies::TimePolicies;
