// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of object adapters below their servants (CORBA 3.3 Part 1, clause 15): [object
//! keys](object_key), the registry that finds objects by them, POA managers, policy values, the
//! entries of an IOR table, and the errors of adapters.
//!
//! It is independent of servants, requests, references and lanes: those are in `orbium-core`. A
//! manager sees the adapters that it controls as [`Controlled`], a [`Registry`] sees the adapters
//! on its paths as [`RegisteredAdapter`].
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
mod ior_table;
mod manager;
mod managers;
mod no_context;
pub mod object_key;
mod plain_keys;
mod poa_error;
mod policy_values;
mod registry;

pub use exceptions::{
    before_waiting, being_destroyed, gone, no_such_adapter, no_such_object, would_wait_for_itself,
};
pub use ior_table::{IorTableError, TableEntries};
pub use manager::{Controlled, ManagerState, PoaManager, Serving, WeakManager};
pub use managers::{ManagerAlreadyExists, Managers};
pub use no_context::NoContext;
pub use plain_keys::PlainKeys;
pub use poa_error::PoaError;
pub use policy_values::{
    IdAssignment, IdUniqueness, Lifespan, RequestProcessing, ServantRetention, ThreadModel,
};
pub use registry::{Found, RegisteredAdapter, RegisteredObject, Registry};
