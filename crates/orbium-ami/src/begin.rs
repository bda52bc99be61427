// SPDX-License-Identifier: MIT OR Apache-2.0
//! Beginning an asynchronous invocation.

use std::sync::Arc;

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_invocation::Operation;
use orbium_invocation::raises::Raises;

use super::call::Call;
use super::handle::Asynchronous;
use super::readers::ReplyReaders;
use super::request::Values;
use orbium_client::Reference;

/// Begins a call of an operation; one of `readers` receives its reply. Whatever fails, sending too, comes out of its result.
pub fn call_async<A: Send + 'static, T, E: Raises>(
    readers: &ReplyReaders,
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
    let object = object.under_wider_messaging().unwrap_or(object);
    let call = Call::begin(readers.here(), object, operation, Box::new(arguments));
    Asynchronous::new(call, results)
}
