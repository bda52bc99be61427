// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of object adapters below their servants (CORBA 3.3 Part 1, clause 15): [object
//! keys](object_key), POA managers, policy values, and the errors of adapters.
//!
//! It does not know servants, requests, references, lanes or the active object map: those
//! are `orbium-core`'s. A manager sees the adapters that it controls as [`Controlled`].
//!
//! ```
//! use orbium_adapter::object_key::{NO_HINT, ObjectKey};
//!
//! let path = ["devices".to_owned()];
//! let key = ObjectKey::long(7, NO_HINT, true, &path, b"motor");
//! let parsed = ObjectKey::parse(&key).and_then(|key| key.path);
//! assert_eq!(parsed.map(|path| path.object_id), Some(&b"motor"[..]));
//! ```
#![forbid(unsafe_code)]

mod exceptions;
mod manager;
pub mod object_key;
mod poa_error;
mod policy_values;

pub use exceptions::{being_destroyed, refuse_to_wait_for_oneself, waits_for_oneself};
pub use manager::{Controlled, ManagerState, PoaManager, Serving, WeakManager};
pub use poa_error::PoaError;
pub use policy_values::{
    IdAssignment, IdUniqueness, Lifespan, RequestProcessing, ServantRetention, ThreadModel,
};
