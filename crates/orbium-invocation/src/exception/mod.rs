// SPDX-License-Identifier: MIT OR Apache-2.0
//! System exceptions, user exceptions, and errors raised as exceptions.

pub mod call_exceptions;
pub mod exceptions;
pub(crate) mod object_error;
pub(crate) mod or_raise;
pub mod raises;
pub(crate) mod reference_error;
