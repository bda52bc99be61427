// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ORB: typed object references, object adapters, dispatch to servants and collocated
//! calls.
//!
//! This crate alone depends on both servants and connections: it joins `orbium-client` and
//! `orbium-server`, which are independent of each other. It does not parse IDL, and it marshals no
//! values: generated code does, through [`ObjectRef::call`] on one side and [`Servant::dispatch`]
//! on the other.
#![forbid(unsafe_code)]

mod adapter;
#[cfg(feature = "ami")]
pub mod asynchronous;
mod config;
mod dispatch_hook;
mod initial;
pub mod introspection;
mod local;
mod log;
mod mapping;
pub mod metrics;
mod orb;
mod real_time;
mod reference;
mod servant;
mod value_copier;
#[cfg(feature = "values")]
pub mod values;

pub use orbium_budget as budget;
pub use orbium_cdr as cdr;
pub use orbium_channel::{
    Channel, OfferedProtocol, PeerMemory, ProtocolPolicy, ProtocolPolicyError, Protocols,
    UnknownProtocol,
};
use orbium_client as client;
pub use orbium_client::{OverrideError, PolicyManager, SetOverride};
pub use orbium_config::{
    BidirectionalHosts, BidirectionalPolicy, ClientStrategy, Collocation, ConnectTimeout,
    ForwardBoundKeys, GiopMinor, Limits, NamingTimeout, ReplyBatching, ServerStrategy,
    UnknownClientStrategy, UnknownCollocation, UnknownStrategy,
};
pub use orbium_connection::FlowControl;
pub use orbium_giop::{Completion, ExceptionKind, SystemException};
pub use orbium_interceptor::policy_type;
pub use orbium_invocation::dedication::{
    Admittance, Arrival, DedicatedThread, Dedication, Gate, ThreadRequest,
};
use orbium_invocation::raises;
pub use orbium_invocation::story::{Explanation, Failure, Phase, Step, explain, last_failure};
pub use orbium_invocation::{
    BufferingConstraint, CancellationToken, ConnectionSharing, Context, DispatchError, InvalidName,
    NarrowError, NetworkMark, ObjectError, Operation, OperationTable, OrRaise, Priority,
    Properties, Raised, Raises, RealTime, RebindMode, ResolveError, Result, SyncScope,
    TimePolicies, UserException, names, not_implemented, priority, router_policies,
    set_thread_scheduling, unknown_operation,
};
// Macros for generated code.
#[doc(hidden)]
pub use orbium_invocation::{
    collocation, concat_names, count_names, error_enum, exception, idl_arm, idl_call,
    idl_call_async, idl_decode_out, idl_errors, idl_exception, idl_gives, idl_hold,
    idl_hold_for_slot, idl_interface_impls, idl_is_plain, idl_is_plain_argument, idl_is_view,
    idl_keep, idl_lend, idl_lend_with_slot, idl_lent, idl_method, idl_operation, idl_operations,
    idl_outputs, idl_pass, idl_passed, idl_put_back, idl_reference, idl_results, idl_send,
    idl_servant_type, idl_slot_type, idl_stub, idl_widens, read_properties, story::explain_refusal,
    write_properties,
};
pub use orbium_lane::{Lane, LaneConfig, LaneSizes, Order, QueueBounds, RequestTiming};
pub use orbium_request::{
    AsyncCall, AsyncServant, ByUrgency, ConnectionWatch, DeferredReply, OpenRequests, Reply, Sent,
    Spawn, Task, UntypedReply, Urgency,
};
pub use orbium_sync::lock;
pub use orbium_sys::{RealTimeError, Reservation, Scheduling, SchedulingClass};
pub use orbium_trace::probe;
pub use orbium_transport::{
    Endpoint, EndpointError, HostPort, Peer, ProtocolProperties, Transport,
};

pub use adapter::{
    AdapterActivator, ForwardRequest, IdAssignment, IdUniqueness, IorLocator, IorTable,
    IorTableError, Lifespan, ManagerAlreadyExists, ManagerState, NoContext, Poa, PoaCurrent,
    PoaError, PoaManager, PoaManagerFactory, Policies, RequestProcessing, ServantActivator,
    ServantError, ServantLocator, ServantRetention, ThreadModel, servant_of,
};
pub use config::Config;
pub use dispatch_hook::{Dispatch, DispatchHook, Hook, RequestInfo};
#[doc(hidden)]
pub use mapping::{Declares, DispatchesTo, Skeleton};
pub use orb::{Orb, OrbBuilder, OrbError};
#[doc(hidden)]
pub use orbium_request::ReceivedContext;
pub use real_time::{AdapterExtension, Extension};
pub use reference::{AnyReference, Interface, ObjectRef, ValidationError, nil_reference};
pub use servant::{Call, IncarnatedObject, Servant, ServedBy};

/// Repository id of `CORBA::Object`, the base of all objects.
pub const OBJECT_REPOSITORY_ID: &str = "IDL:omg.org/CORBA/Object:1.0";
