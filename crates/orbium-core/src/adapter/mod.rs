// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object adapters: from an object key to a servant.

mod adapters;
mod dispatch;
mod key;
mod lanes;
mod manager;
mod measured;
mod object;
mod poa;
mod policy;
mod registry;
mod route;
mod spans;

pub(crate) use adapters::{Adapters, ReferenceFactory};
pub(crate) use object::ActiveObject;
pub(crate) use registry::Registry;

pub use manager::{ManagerState, PoaManager};
pub use poa::{Poa, PoaError};
pub use policy::{IdAssignment, IdUniqueness, Lifespan, Policies};
