// SPDX-License-Identifier: MIT OR Apache-2.0
//! orbium, a real-time CORBA Object Request Broker.
//!
//! One dependency for a user. An IDL file becomes Rust in `build.rs` (see the
//! `orbium-build` crate); [`include_idl!`] puts it into the program; [`Orb`]
//! does the rest:
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
//! let object = orb.string_to_object("corbaloc::localhost:5000/Greeter")?;
//! let greeter: hello::Greeter = orbium::narrow(object)?;
//! println!("{}", greeter.greet("world")?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub use orbium_cdr::{Any, AnyError, Char, Fixed, FixedError, LongDouble, TypeCode, Typed, WChar};
pub use orbium_core::{
    Bridge, Call, Channel, ClientStrategy, Completion, Config, ConfigError, ConfigKey,
    ConnectTimeout, Dispatch, DispatchHook, Endpoint, EndpointError, ExceptionKind, GiopMinor,
    Hook, HostPort, IdAssignment, IdUniqueness, Interface, InvalidName, Lane, LaneConfig,
    LibraryError, Lifespan, Limits, LoadError, ManagerState, NarrowError, ObjectError, ObjectRef,
    OfferedProtocol, Orb, OrbBuilder, OrbError, Peer, Place, Poa, PoaError, PoaManager, Policies,
    Priority, ProtocolPolicy, ProtocolPolicyError, ProtocolProperties, Protocols, RealTimeError,
    RequestInfo, Scheduling, SchedulingClass, Servant, ServerStrategy, SystemException,
    TimePolicies, Transport, UnknownProtocol, Unreachable, UserException, export_protocols,
    last_failure, nil_reference, priority,
};

/// Time probes at every step of a call, with the feature `probes`.
pub use orbium_core::probe;

/// How often locks were used, with the feature `counted`.
#[cfg(feature = "counted")]
pub use orbium_core::lock;

/// Real-time CORBA: priorities, thread pools, banded and private connections,
/// mutexes.
#[cfg(feature = "rt")]
pub use orbium_rt as rt;

/// What a transport is made of, for those who write one.
pub use orbium_transport as transport;

/// Frames of sound and pictures over datagrams.
pub use orbium_core::media;

/// GIOP, references and addressing, for those who look beneath.
pub use orbium_giop as giop;

/// Includes what `orbium-build` made of an IDL file: `include_idl!("hello")`
/// for `hello.idl`.
#[macro_export]
macro_rules! include_idl {
    ($stem:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $stem, ".rs"));
    };
}

/// Takes a reference, which may be nil, for one of interface `I`.
///
/// # Errors
/// Nil, another interface, or an object that cannot be asked: told apart by
/// [`NarrowError`].
pub fn narrow<I: Interface>(object: Option<ObjectRef>) -> Result<I, NarrowError> {
    object.ok_or(NarrowError::Nil)?.narrow()
}

/// What generated code needs, in one place. Not for use by hand: it changes as
/// the compiler does.
#[doc(hidden)]
pub mod codegen {
    pub use std::borrow::Cow;
    pub use std::sync::Arc;

    pub use orbium_cdr::{
        Any, AnyError, CdrError, CdrErrorKind, CdrReader, CdrWriter, Char, Decode, Encode, Field,
        Fixed, FixedIn, FixedOut, FixedSize, Layout, LongDouble, Member, Type, TypeCode, Typed,
        WChar, encode_fixed, fixed_struct,
    };
    pub use orbium_core::{
        Call, DispatchError, Interface, ObjectRef, Operation, OperationTable, Raised, Raises,
        Reply, Servant, ServedBy, SystemException, UserException, interface, unknown_operation,
    };
}
