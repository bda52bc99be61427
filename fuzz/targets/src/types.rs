// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generated types that the target `cdr` reads: those of the shared IDL, and
//! `idl/shapes.idl` of this crate.

orbium::include_idl!("cubit");
