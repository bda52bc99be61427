// SPDX-License-Identifier: MIT OR Apache-2.0
//! GIOP messages, interoperable object references and addressing.
//!
//! This crate does no I/O, reads no clock and starts no thread: it converts octets to values and
//! back. It has no notion of connections, servants or the contents of object keys. All input is
//! validated: every length is checked before it is used, every count bounded before memory is
//! reserved.
//!
//! * [`MessageHeader`], [`RequestHeader`], [`RequestTemplate`], [`ReplyHeader`]
//!   and their siblings: one file per message (CORBA 3.3 Part 2, clause 9.4).
//! * [`Reassembly`] and [`FragmentPlan`]: reassembly and fragmentation of messages.
//! * [`Ior`], [`IiopProfile`], [`Component`]: references (clause 7.6).
//! * [`ObjectUrl`], [`Corbaloc`], [`Corbaname`]: object URLs (clause 7.6.10).
//! * [`codeset`]: code-set negotiation (clause 7.10).
//! * [`miop`]: messages in datagrams.
//! * [`messaging`]: other representations of GIOP messages on the wire.
//! * [`real_time`]: priorities of requests, policies of references.
//! * [`riop`]: the quality of service of a request.
//! * [`SystemException`] and the one table of [`minor`] codes.
//!
//! ```
//! use orbium_cdr::{CdrWriter, Format};
//! use orbium_giop::{finish_message, MessageHeader, RequestTemplate, ResponseFlags, Version};
//!
//! let template = RequestTemplate::new(Version::V1_2, b"Cube");
//! let mut writer = CdrWriter::new(Format::native());
//! let start = template.begin(&mut writer, 7, ResponseFlags::Full, "noop", &[]);
//! finish_message(&mut writer, start);
//! let message = writer.finish().unwrap();
//! let header = MessageHeader::parse(message.first_chunk().unwrap()).unwrap();
//! assert_eq!(header.size as usize + 12, message.len());
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod context;
mod encapsulation;
mod exceptions;
mod message;
pub mod messaging;
pub mod minor;
pub mod miop;
pub mod numbers;
mod reference;
mod short;
mod url;

pub use context::service_context::{EncodedContexts, ServiceContext, ServiceContexts};
pub use context::{codeset, real_time, riop, service_context, time};
pub use encapsulation::{decode_encapsulation, encode_encapsulation};
#[doc(hidden)]
pub use exceptions::set_story_writer;
pub use exceptions::{Completion, ExceptionKind, SystemException};
pub use message::body::{BodyStart, finish_message};
pub use message::cancel::CancelRequest;
pub use message::close::{close_connection, message_error};
pub use message::fragment::{FragmentPart, FragmentPlan, MIN_FRAGMENT_LEN, slices_within};
pub use message::header::{
    HEADER_LEN, HeaderError, MessageHeader, MessageKind, Version, split_header,
};
pub use message::locate::{
    LocateReplyHeader, LocateRequest, LocateStatus, begin_locate_reply, write_locate_request,
};
pub use message::reassembly::{Assembled, FragmentError, Reassembly, ReassemblyLimits};
pub use message::reply::{
    PlainReply, ReplyHeader, ReplyStatus, SystemExceptionBody, add_reply_context, begin_reply,
};
pub use message::request::{
    AddressingDisposition, PlainRequest, RequestHeader, ResponseFlags, Target,
};
pub use message::request_parts::{
    GiopRequests, NumberedRequests, RequestForm, RequestParts, ShortRequests, UsualForm,
};
pub use message::request_positions::{PositionedRequest, RequestPositions};
pub use message::template::{OperationTail, RequestTemplate};
pub use miop::reorder_buffer;
pub use reference::component::{Component, TaggedComponent};
pub use reference::ior::{Ior, IorStringError, MAX_PROFILES};
pub use reference::profile::{
    IiopProfile, ObjectGroup, OrbiumProfile, Profile, TaggedProfile, UiopProfile, UipmcProfile,
};
pub use reference::{component, profile};
pub use short::{Headers, UsualHeaders};
pub use url::address::ObjectAddress;
pub use url::corbaloc::Corbaloc;
pub use url::corbaname::Corbaname;
pub use url::group_address::GroupAddress;
pub use url::iiop_address::{DEFAULT_PORT, IiopAddress};
pub use url::object_url::ObjectUrl;
pub use url::url_error::{UrlError, UrlErrorKind};
