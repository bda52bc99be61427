// SPDX-License-Identifier: MIT OR Apache-2.0
//! The OMG IDL front end: preprocessor, parser, resolver, checked model, diagnostics.
//!
//! This crate does not know the ORB, the mapping to Rust or how bytes travel: it turns IDL text
//! into a [`model::Model`] that is known to be right, or into diagnostics that say what is not.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod model;
