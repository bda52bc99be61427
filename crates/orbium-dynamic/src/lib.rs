// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of operations of types that are known at run time, and IDL values as JSON.
//!
//! * [`Request`]: the dynamic invocation interface (CORBA 3.3 Part 1, clause 8.12). Arguments and
//!   results are [`Any`](orbium_cdr::Any)s.
//! * [`dynamic_servant`]: the dynamic skeleton interface (clause 8.13), for servants that accept
//!   any operation; [`DynamicServant`]: one with a table of operations that is built at run time.
//! * [`to_json`] and [`from_json`]: one mapping between JSON and every IDL type, driven by a
//!   [`TypeCode`](orbium_cdr::TypeCode).
//! * [`DynAny`]: values of types that are determined at run time, part by part (the chapter on
//!   dynamic management of anys).
//! * [`TypeCodeFactory`]: validated creation of TypeCodes at run time (clause 8.11.3).
//! * [`Definitions`]: TypeCodes and [`Signature`]s of operations from compiled IDL.
//!
//! ```
//! use orbium_dynamic::{Definitions, JsonOptions, from_json, to_json};
//! use orbium_idl::{Options, compile_source};
//!
//! let idl = "struct Point { long x; double y; };";
//! let compiled = compile_source(&Options::new(), "point.idl", idl);
//! let definitions = Definitions::new(compiled.model.ok_or("bad IDL")?);
//! let point = definitions.type_named("Point")?;
//!
//! let any = from_json(&point, r#"{"y": 0.5, "x": 3}"#, &JsonOptions::default())?;
//! assert_eq!(to_json(&any, &JsonOptions::default())?, r#"{"x":3,"y":0.5}"#);
//!
//! let wrong = from_json(&point, r#"{"y": 0.5, "x": "three"}"#, &JsonOptions::default());
//! assert_eq!(wrong.unwrap_err().to_string(), "$.x: expected long, found \"three\"");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A call:
//!
//! ```no_run
//! use orbium_core::Orb;
//! use orbium_dynamic::{Definitions, JsonOptions, Request, from_json, to_json};
//! use orbium_idl::{Options, compile_source};
//!
//! let idl = "interface Meter { double scaled(in double by); };";
//! let definitions = Definitions::new(compile_source(&Options::new(), "meter.idl", idl).model.ok_or("bad IDL")?);
//! let meter = definitions.interface("Meter").ok_or("no such interface")?;
//! let scaled = definitions.signature(meter, "scaled", false)?;
//!
//! let orb = Orb::builder().build()?;
//! let object = orb.string_to_object("corbaloc::localhost:5000/Meter")?.ok_or("nil")?;
//! let mut request = Request::new(&object, &scaled.wire_name)?;
//! request.add_in("by", from_json(&scaled.parameters[0].code, "2.5", &JsonOptions::default())?)?;
//! request.set_return_type(scaled.returns)?;
//! request.invoke()?;
//! println!("{}", to_json(request.return_value(), &JsonOptions::default())?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod body;
mod body_struct;
mod definitions;
mod dyn_any;
mod idl_text;
mod invocation_facts;
mod json;
mod labels;
mod member_tables;
mod names;
mod operations;
mod owned_values;
mod request;
mod signature;
mod skeleton;
mod type_codes;
mod value_content;

pub use definitions::{Definitions, TypeError};
pub use dyn_any::{
    DynAny, DynAnyError, DynArray, DynEnum, DynFixed, DynSequence, DynStruct, DynUnion, DynValue,
    DynValueBox,
};
pub use idl_text::idl_identifier;
pub use json::{
    JsonError, JsonOptions, TypesById, base64, from_json, members, members_from_json, quoted,
    to_json,
};
pub use names::{is_identifier, is_repository_id};
pub use request::{Argument, Request, RequestError, Requests};
pub use signature::{Direction, Parameter, Signature};
pub use skeleton::{
    DeferredServerRequest, DynamicImplementation, DynamicServant, DynamicServantBuilder,
    ServerRequest, dynamic_servant,
};
pub use type_codes::TypeCodeFactory;
