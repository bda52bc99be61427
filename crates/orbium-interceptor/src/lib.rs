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

mod adapter;
mod chain;
pub mod client;
mod codec;
mod context_list;
mod errors;
mod identity;
mod initializer;
mod interrupt;
mod ior;
mod policy;
mod post_init;
mod processing_mode;
mod registry;
mod reply_contexts;
mod reply_message;
pub mod server;
mod slots;
mod status;
mod template;

pub use adapter::{AdapterState, EstablishedAdapter, IorInfo};
pub use client::{
    ClientInterceptor, ClientRequest, ReceiveException, ReceiveOther, ReceiveReply, SendPoll,
    SendRequest,
};
pub use codec::{Codec, CodecError, UnknownEncoding};
pub use context_list::{ContextList, OwnedContext, ReplyContexts};
pub use identity::OrbIdentity;
pub use initializer::{OrbInitInfo, OrbInitializer};
pub use interrupt::Interrupt;
pub use ior::{IorInterceptor, IorInterceptors};
pub use policy::{Policy, PolicyError, PolicyFactory};
pub use post_init::PostInitInfo;
pub use processing_mode::{Locality, ProcessingMode};
pub use registry::{DuplicateName, Interceptors};
pub use reply_message::{ReplyMessage, with_contexts};
pub use server::{
    ReceiveContexts, ReceiveRequest, SendException, SendOther, SendReply, ServerInterceptor,
    ServerRequest,
};
pub use slots::{InvalidSlot, PiCurrent, SlotId, SlotTable};
pub use status::RequestStatus;
pub use template::{CurrentFactory, ObjectReferenceFactory, ObjectReferenceTemplate};
