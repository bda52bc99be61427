// SPDX-License-Identifier: MIT OR Apache-2.0
//! Macros by which generated code declares operations and exceptions.

mod mapped_arguments;
mod mapped_calls;
mod mapped_exceptions;
mod mapped_interfaces;
mod mapped_references;
mod mapped_skeletons;
mod mapped_stubs;
