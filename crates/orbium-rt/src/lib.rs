// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real-time CORBA 1.2 on top of the ORB: the module RTCORBA as Rust has it.
//!
//! * [`RtOrb`]: one for each ORB; maps CORBA priorities to native ones, and creates thread pools,
//!   adapters and mutexes.
//! * [`RtCurrent`]: the priority of the calling thread.
//! * [`PriorityMapping`], [`PriorityTransform`], [`NetworkPriorityMapping`]: the meaning of
//!   priorities for the system, for servants and for the network.
//! * [`RtPolicies`], [`RtPoa`]: policies of adapters, validated when an adapter is created;
//!   objects with individual priorities.
//! * [`RtObject`]: bands, private connections and protocols of references.
//! * [`dispatch`]: chains of dispatch hooks, a thread for each request or servant.
//! * [`binding`]: threads for connections, and bindings that are negotiated.
//!
//! If the host does not permit native priorities, an ORB can be *soft*: it applies all rules (the
//! priority of a request, the thread pool that serves it, refusals) and leaves scheduling
//! unchanged.
//!
//! ```
//! use orbium_core::Orb;
//! use orbium_rt::{LinearMapping, RtOrb};
//!
//! let orb = Orb::builder().build()?;
//! let rt = RtOrb::builder().mapping(LinearMapping::default()).soft().install(&orb)?;
//! rt.current().set_the_priority(1000)?;
//! assert_eq!(rt.current().the_priority()?.number(), 1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod binding;
mod builder;
pub mod dispatch;
mod error;
mod memory_lock;
mod mutex;
mod poa;
mod policy;
mod pool;
mod priority;
mod protocol;
mod rt_orb;
mod rt_state;
mod upcall;

pub use memory_lock::LockedMemory;
pub use orbium_core::{NetworkMark, Priority};
pub use orbium_giop::real_time::{PriorityBand, PriorityModel};
pub use orbium_sys::{RealTimeError, Scheduling, SchedulingClass};

pub use binding::{
    Admission, BindError, Bindings, Bound, Budget, DedicationReply, Excess, FairShare, Negotiation,
    Offer, Terms, Undedicated,
};
pub use builder::RtOrbBuilder;
pub use error::{InvalidPolicy, PolicyType, RtError, RtPoaError, Why};
pub use mutex::{MutexError, MutexNotFound, PriorityMutex, RtMutex};
pub use orbium_core::ValidationError;
pub use poa::RtPoa;
pub use policy::reference_policies::RtObject;
pub use policy::{PriorityModelPolicy, RtPolicies};
pub use pool::{InvalidThreadpool, ThreadpoolConfig, ThreadpoolId, ThreadpoolLane};
pub use priority::current::RtCurrent;
pub use priority::mapping::{
    ContinuousMapping, DirectMapping, LinearMapping, NativePriority, PriorityMapping,
};
pub use priority::network::{DscpMapping, NetworkPriorityMapping};
pub use priority::transform::{IdentityTransform, PriorityTransform};
pub use protocol::{
    Protocol, ProtocolList, TcpProtocolProperties, TransportProperties,
    UnixDomainProtocolProperties, UserDatagramProtocolProperties,
};
pub use rt_orb::RtOrb;
