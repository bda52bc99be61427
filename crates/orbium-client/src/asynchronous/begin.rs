// SPDX-License-Identifier: MIT OR Apache-2.0
//! Beginning an asynchronous invocation.

use std::sync::Arc;

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_invocation::Operation;
use orbium_invocation::raises::Raises;

use super::call::Call;
use super::handle::Asynchronous;
use super::request::Values;
use crate::reference::Reference;

/// Begins a call of an operation. Whatever fails, sending too, comes out of its result.
pub fn call_async<A: Send + 'static, T, E: Raises>(
    object: Arc<Reference>,
    operation: &'static Operation,
    arguments: A,
    write: for<'a> fn(&'a A, &mut CdrWriter<'a>),
    results: fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Asynchronous<T, E> {
    let arguments = Values {
        values: arguments,
        write,
    };
    Asynchronous::new(Call::begin(object, operation, Box::new(arguments)), results)
}
