// SPDX-License-Identifier: MIT OR Apache-2.0
//! orbium, a real-time CORBA Object Request Broker.
//!
//! This crate is the one dependency of a program that calls or serves CORBA objects. An IDL file is
//! compiled to Rust in `build.rs` (see the crate `orbium-build`), [`include_idl!`] includes it, and
//! an [`Orb`] makes the calls and serves requests:
//!
//! ```no_run
//! # mod hello {
//! #     use orbium::codegen as orb;
//! #     #[derive(Clone)]
//! #     pub struct Greeter(orb::ObjectRef);
//! #     orb::interface!(Greeter, "IDL:Hello/Greeter:1.0", []);
//! #     impl Greeter {
//! #         pub fn greet(&self, _: &str) -> Result<String, orb::SystemException> { todo!() }
//! #     }
//! # }
//! use orbium::Orb;
//!
//! let orb = Orb::builder().build()?;
//! let greeter: hello::Greeter = orb.resolve("corbaloc::localhost:5000/Greeter")?;
//! println!("{}", greeter.greet("Žofie")?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! Always included are the IDL mapping, any and TypeCode, GIOP 1.0
//! to 1.2 over TCP, Unix sockets, UDP, multicast groups and within a process, the
//! messaging protocols `giop-lite`, `native` and `fixed`, object adapters, lanes, every strategy of
//! servers and clients, deadlines, limits, and the registration
//! of custom transports and messaging protocols. Each feature adds
//! an optional crate or subsystem:
//!
//! | feature | adds |
//! |---|---|
//! | `ami` | asynchronous calls: the `_async` forms of stubs, `Asynchronous`; with `values`, reply handlers that are objects: `messaging` |
//! | `bidir` | bidirectional GIOP: `Config::bidirectional`, the key `bidirectional` |
//! | `bridge` | `Bridge`: relays between protocols |
//! | `libraries` | protocols loaded from shared libraries: `Protocols::load` |
//! | `media` | `media`: frames of sound and pictures |
//! | `metrics` | `metrics::exposition`: the counted figures as data, as Prometheus text and for the crate `metrics`; `Orb::watch`, for `orbium top` |
//! | `rt` | Real-time CORBA: `rt`; priority policies in references take effect |
//! | `settings` | configurations by name, from `-ORB` arguments and from files: `Configure`, with `Config::from_args`, `from_file`, `profile` and `set` |
//! | `shm` | the transport `shmiop`: memory that two processes share |
//! | `tls` | the transport `ssliop` (TLS 1.2 and 1.3): `Config::tls`, or the keys `tls.…` of a configuration |
//! | `values` | value types of IDL: `value`, `Orb::value_factories`, values within anys |
//! | `ziop` | the messaging protocol `ziop`: compressed messages |
//! | `full` | all of these |
//!
//! An endpoint or reference with a protocol that was left out is refused by an error
//! that names the feature, such as [`OrbError::Feature`]. `probes` and `counted` are
//! for measurements.
#![forbid(unsafe_code)]

#[cfg(all(feature = "ami", feature = "values"))]
pub mod messaging;
mod pollers;
mod sendc;

pub use orbium_cdr::{Any, Char, Fixed, LongDouble, TypeCode, WChar};
pub use orbium_core::{
    Call, CancellationToken, Completion, Config, Context, DeferredReply, ExceptionKind, Interface,
    ObjectRef, OrRaise, Orb, OrbBuilder, OrbError, Properties, Reply, Result, Sent, Servant,
    SystemException, UserException,
};

/// Imports of most programs: `use orbium::prelude::*;`. Its `Result` is the one of the
/// standard library, with [`SystemException`] for an error type that is not written.
pub mod prelude {
    pub use crate::{
        Call, DeferredReply, Interface, OrRaise, Orb, Reply, Result, Sent, SystemException,
    };
}

/// Relay between protocols, with the feature `bridge`.
#[cfg(feature = "bridge")]
pub use orbium_bridge::Bridge;

/// Types of the fields of a [`Config`]: strategies, limits, timeouts; and, with the feature
/// `settings`, configurations from files, from arguments and by name.
pub mod config {
    pub use orbium_core::{
        BidirectionalHosts, BidirectionalPolicy, ClientStrategy, Collocation, ConnectTimeout,
        ForwardBoundKeys, GiopMinor, Limits, NamingTimeout, ReplyBatching, ServerStrategy,
        UnknownClientStrategy, UnknownCollocation, UnknownStrategy,
    };
    #[cfg(feature = "settings")]
    pub use orbium_settings::{ConfigError, ConfigKey, Configure, LaneKey, Place};
}

/// Object adapters, their managers, policies and servant managers.
pub mod poa {
    pub use orbium_core::{
        AdapterActivator, ForwardRequest, IdAssignment, IdUniqueness, IncarnatedObject, IorLocator,
        IorTable, IorTableError, Lifespan, ManagerAlreadyExists, ManagerState, NoContext,
        OpenRequests, Poa, PoaCurrent, PoaError, PoaManager, PoaManagerFactory, Policies,
        RequestProcessing, ServantActivator, ServantError, ServantLocator, ServantRetention,
        ThreadModel, servant_of,
    };
}

/// Lanes and their threads: queues, priorities, scheduling by the kernel.
pub mod lane {
    pub use orbium_core::{
        Lane, LaneConfig, LaneSizes, Order, Priority, QueueBounds, RealTimeError, RequestTiming,
        Reservation, Scheduling, SchedulingClass, priority, set_thread_scheduling,
    };
}

/// Object references, and the errors of narrowing, resolving and remote queries.
pub mod reference {
    pub use orbium_core::{
        AnyReference, InvalidName, NarrowError, OBJECT_REPOSITORY_ID, ObjectError, ResolveError,
        nil_reference,
    };
}

/// Policies of clients: those of CORBA Messaging, timeouts, overrides by reference, thread and ORB.
pub mod policy {
    /// Policies for Messaging routers; orbium itself contains no router.
    pub use orbium_core::router_policies;
    pub use orbium_core::{
        BufferingConstraint, FlowControl, OverrideError, PolicyManager, RebindMode, SetOverride,
        SyncScope, TimePolicies, ValidationError, policy_type,
    };
}

/// The protocols of an ORB, including those loaded from shared libraries (feature `libraries`), and
/// its channels to peers.
pub mod protocol {
    #[cfg(feature = "libraries")]
    pub use orbium_channel::{
        export_protocols,
        protocol::library::{LibraryError, LoadError, TrustedLibrary},
    };
    pub use orbium_core::{
        Channel, ConnectionWatch, OfferedProtocol, PeerMemory, ProtocolPolicy, ProtocolPolicyError,
        Protocols, UnknownProtocol,
    };
}

/// Servants with `async fn` operations, and, with the feature `ami`, asynchronous invocations.
pub mod asynchronous {
    #[cfg(feature = "ami")]
    pub use orbium_core::asynchronous::{
        Asynchronous, Pollable, PollableError, PollableId, PollableSet, Poller,
    };
    pub use orbium_core::{AsyncCall, AsyncServant, ByUrgency, Spawn, Task, Urgency};
}

/// Hooks around the dispatching of requests.
pub mod hook {
    pub use orbium_core::{Dispatch, DispatchHook, Hook, RequestInfo};
}

/// Reasons of failed calls: the steps of the last attempt, and the explanation of a minor code.
pub mod diagnostics {
    pub use orbium_core::{Explanation, Failure, Phase, Step, explain, last_failure};
}

/// Time probes at every step of a call: [`probe::ENABLED`] with the feature `probes`.
pub use orbium_core::probe;

/// Counters and latency histograms; with the feature `metrics`, their exposition.
pub use orbium_core::metrics;

/// Processor time of threads and requests, and its bounds.
pub use orbium_core::budget;

/// Names of the Naming Service; its client is the crate `orbium-naming`.
pub use orbium_core::names;

/// Connections, lanes, adapters and objects as data.
pub use orbium_core::introspection;

/// Counters of lock operations: [`lock::ENABLED`] with the feature `counted`.
pub use orbium_core::lock;

/// Real-time CORBA: priorities, thread pools, banded and private connections,
/// mutexes. Without this feature, priority policies in references are preserved and
/// ignored.
#[cfg(feature = "rt")]
pub use orbium_rt as rt;

/// CDR encoding and decoding, with `Any`, `TypeCode` and their errors.
pub use orbium_cdr as cdr;

/// Values of IDL's value types: [`ValueBase`](value::ValueBase), and the traits of generated
/// handles.
#[cfg(feature = "values")]
pub mod value {
    pub use orbium_core::values::portable_interceptor;
    pub use orbium_value::{
        Abstract, Class, CustomMarshal, DataInput, DataOutput, EventBase, Factories, HasState,
        Kind, MAX_ANY_DEPTH, MAX_DEPTH, MAX_VALUES, Read, State, ValueBase, ValueType, Write,
    };
}

/// Portable interceptors of calls, requests and replies; service contexts; slots.
pub use orbium_interceptor as interceptor;

/// TLS: the transport `ssliop`, the types of `Config::tls`, and failures of TLS connections.
#[cfg(feature = "tls")]
pub use orbium_tls as tls;

/// Endpoints, and the interfaces of transports, for implementing one.
pub use orbium_transport as transport;

/// Frames of sound and pictures over datagrams.
#[cfg(feature = "media")]
pub use orbium_media as media;

/// GIOP messages, references and addressing.
pub use orbium_giop as giop;

/// Calls and servants without generated code: the types that stubs and skeletons pass to
/// [`ObjectRef::call`], and the types of [`Servant::dispatch`].
pub mod stub {
    pub use orbium_core::{
        DispatchError, Operation, OperationTable, Raised, Raises, ServedBy, UntypedReply,
        interface, not_implemented, unknown_operation,
    };
}

/// The places where Real-time CORBA is attached to an ORB: extensions of adapters,
/// priorities of calls, threads of connections.
pub mod extension {
    pub use orbium_core::{AdapterExtension, ConnectionSharing, Extension, NetworkMark, RealTime};
    pub use orbium_core::{Admittance, Arrival, DedicatedThread, Dedication, Gate, ThreadRequest};
}

/// Includes the code that `orbium-build` generated from an IDL file: `include_idl!("hello")`
/// for `hello.idl`.
#[macro_export]
macro_rules! include_idl {
    ($stem:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $stem, ".rs"));
    };
}

/// Narrows a reference, which may be nil, to interface `I`.
///
/// # Errors
///
/// [`NarrowError`](reference::NarrowError) distinguishes nil, another interface, and an object that
/// cannot be queried.
pub fn narrow<I: Interface>(object: Option<ObjectRef>) -> Result<I, reference::NarrowError> {
    object.ok_or(reference::NarrowError::Nil)?.narrow()
}

/// Names for generated code, in one place. Not for use by hand: it changes as the
/// compiler does.
#[doc(hidden)]
pub mod codegen {
    pub use std::future::Future;
    pub use std::sync::Arc;

    pub use orbium_core::{AsyncCall, AsyncServant, Spawn};

    pub use orbium_cdr::{
        Any, AnyError, ArrayOf, BoundedSequence, BoundedString, CdrError, CdrErrorKind, CdrReader,
        CdrWriter, Char, Codec, Decode, Encode, Field, Fixed, FixedIn, FixedOut, FixedSize, Layout,
        LongDouble, Member, SequenceOf, SequenceOfArrays, Type, TypeCode, Typed, WChar, WideString,
        encode_fixed, enumeration, fixed_struct, idl_enum, idl_fixed_struct, idl_struct,
        idl_typedef, idl_union, idl_view, typed,
    };
    #[cfg(feature = "values")]
    pub use {
        orbium_core::values::{operations, upcast},
        orbium_value::{
            Abstract, CustomMarshal, EventBase, Facet, ValueBase, ValueType, idl_abstract_value,
            idl_value, idl_value_box,
        },
    };

    pub use crate::idl_poller;
    pub use crate::idl_sendc;
    pub use orbium_core::{
        AnyReference, Call, Context, DeferredReply, DispatchError, Interface, ObjectRef, Operation,
        OperationTable, Raised, Raises, Reply, Sent, Servant, ServedBy, SystemException,
        UntypedReply, UserException, collocation, error_enum, exception, idl_async_type,
        idl_errors, idl_exception, idl_interface, idl_results, idl_stubs, idl_widens, interface,
        not_implemented, unknown_operation,
    };
}
