// SPDX-License-Identifier: MIT OR Apache-2.0
//! Portable interceptors (CORBA 3.3 Part 1, clause 16): code that an ORB runs at fixed
//! points of calls, requests and replies, outside stubs and servants.
//!
//! ```
//! use orbium_core::Orb;
//! use orbium_interceptor::{ClientInterceptor, Interceptors, Interrupt, SendRequest};
//!
//! /// Adds a service context to each request.
//! struct Tagging;
//!
//! impl ClientInterceptor for Tagging {
//!     fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
//!         request.add_service_context(0x4F52_4240, b"hello".to_vec(), false)?;
//!         Ok(())
//!     }
//! }
//!
//! let mut interceptors = Interceptors::new();
//! interceptors.add_client(Tagging)?;
//! let orb = Orb::builder().interceptors(interceptors).build()?;
//! # drop(orb);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod chain;
pub mod client;
mod codec;
mod errors;
mod policy;
pub mod policy_type;
mod processing_mode;
mod reference;
mod registration;
mod request;
pub mod server;

pub use client::{
    ClientInterceptor, ClientRequest, ReceiveException, ReceiveOther, ReceiveReply, SendPoll,
    SendRequest,
};
pub use codec::{Codec, CodecError, UnknownEncoding};
pub use policy::{Policy, PolicyError, PolicyFactory};
pub use processing_mode::{Locality, ProcessingMode};
pub use reference::adapter::{AdapterState, EstablishedAdapter, IorInfo};
pub use reference::ior::{IorInterceptor, IorInterceptors};
pub use reference::template::{CurrentFactory, ObjectReferenceFactory, ObjectReferenceTemplate};
pub use registration::identity::OrbIdentity;
pub use registration::initializer::{OrbInitInfo, OrbInitializer};
pub use registration::post_init::PostInitInfo;
pub use registration::registry::{DuplicateName, Interceptors};
pub use request::context_list::{ContextList, OwnedContext, ReplyContexts};
pub use request::dynamic::{
    DynamicInvocation, LastReply, Parameter, ParameterMode, ReplyTypes, Returned,
};
pub use request::interrupt::Interrupt;
pub use request::reply_message::{ReplyMessage, with_contexts};
pub use request::slots::{InvalidSlot, OrbSlots, PiCurrent, SlotError, SlotId, SlotTable};
pub use request::status::RequestStatus;
pub use server::{
    ReceiveContexts, ReceiveRequest, SendException, SendOther, SendReply, ServerInterceptor,
    ServerRequest,
};
