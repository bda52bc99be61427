// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants and clients of the interfaces of `idl/`.
//!
//! [`serve`] makes an ORB a server of `cubit.idl`, `ttcp.idl` and `kitchen.idl`, [`serve_values`]
//! of `values.idl`, with an echo of each value; [`check`] calls every operation and verifies every
//! reply, [`load`] repeats one operation in a minimal loop, and [`raw`] moves the same numbers of
//! octets over plain sockets. Semantics that the IDL does not define, such as the meaning of a
//! checksum, are specified in `interop/README.md` and are the same in every peer.
//!
//! This crate does not measure and does not print.
#![forbid(unsafe_code)]

// All three interfaces: their files are compiled together.
orbium::include_idl!("cubit");
// Values, and types derived from them in other files.
orbium::include_idl!("values");
orbium::include_idl!("further");
orbium::include_idl!("alarms");
// Reply handlers.
orbium::include_idl!("handlers");
// Contexts.
orbium::include_idl!("contexts");

pub mod check;
pub mod load;
pub mod raw;
mod servant;
pub mod specimen;

pub use servant::{
    CubeServant, EchoServant, PeerServant, ReceiverServant, Served, note, parcel, register_values,
    serve, serve_values,
};
