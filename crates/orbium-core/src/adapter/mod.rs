// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object adapters: from an object key to a servant.

mod adapters;
mod collocated;
mod dispatch;
mod frames;
mod implicit;
mod ior_table;
mod manager_factory;
mod managing;
mod object;
mod poa;
mod policy;
mod traced;

pub(crate) use adapters::{Adapters, ReferenceFactory};
pub(crate) use collocated::{CollocatedServant, Dispatches, Upcalls};
pub(crate) use object::ActiveObject;
pub(crate) use orbium_client::Terms;
pub(crate) use orbium_interceptor::server::{Carried, Served, Unserved};

/// The active objects of an ORB.
pub(crate) type Registry = orbium_adapter::Registry<ActiveObject>;

pub use dispatch::forward::{ForwardRequest, ServantError};
pub use ior_table::{IorLocator, IorTable};
pub use manager_factory::PoaManagerFactory;
pub use orbium_adapter::{
    IdAssignment, IdUniqueness, IorTableError, Lifespan, ManagerAlreadyExists, ManagerState,
    PoaManager, RequestProcessing, ServantRetention, ThreadModel,
};
pub use poa::{
    AdapterActivator, NoContext, Poa, PoaCurrent, PoaError, ServantActivator, ServantLocator,
    servant_of,
};
pub use policy::Policies;
