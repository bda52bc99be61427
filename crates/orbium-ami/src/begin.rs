// SPDX-License-Identifier: MIT OR Apache-2.0
//! Beginning an asynchronous invocation.

use std::sync::Arc;

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::SystemException;
use orbium_invocation::raises::Raises;
use orbium_invocation::{Operation, Properties};

use super::answer::{Results, take_returned, takes_none};
use super::call::Call;
use super::handle::Asynchronous;
use super::readers::ReplyReaders;
use super::request::{Answerable, Answered, Arguments, InContext, LateAnswers, Servable, Values};
use orbium_client::{Detour, Reference, ServedCall};

/// Begins a call of an operation; one of `readers` receives its reply. All failures, also of
/// sending, are returned by its result.
pub fn call_async<A: Send + 'static, T, E: Raises>(
    readers: &ReplyReaders,
    object: Arc<Reference>,
    operation: &'static Operation,
    arguments: A,
    write: for<'a> fn(&'a A, &mut CdrWriter<'a>),
    read: fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Asynchronous<T, E> {
    let arguments = Values {
        values: arguments,
        write,
    };
    read_from_message(begin(readers, object, operation, Box::new(arguments)), read)
}

/// As [`call_async`], with the properties of a context after the arguments, or the exception that
/// refuses the call.
pub fn call_async_in_context<A: Send + 'static, T, E: Raises>(
    readers: &ReplyReaders,
    object: Arc<Reference>,
    operation: &'static Operation,
    (arguments, write): (A, for<'a> fn(&'a A, &mut CdrWriter<'a>)),
    properties: Result<Properties, SystemException>,
    read: fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Asynchronous<T, E> {
    let values = Values {
        values: arguments,
        write,
    };
    let arguments = Box::new(InContext { values, properties });
    read_from_message(begin(readers, object, operation, arguments), read)
}

/// As [`call_async`]; if the object belongs to the caller's own ORB, a thread of the ORB calls its
/// servant by `serve`, which receives the arguments by reference and returns `None` if the servant
/// needs a message.
pub fn call_async_or_serve<A, T, E>(
    readers: &ReplyReaders,
    object: Arc<Reference>,
    operation: &'static Operation,
    (arguments, write): (A, for<'a> fn(&'a A, &mut CdrWriter<'a>)),
    read: fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
    serve: impl Fn(&A, &Reference, &Detour) -> Option<ServedCall<T, E>> + Send + 'static,
) -> Asynchronous<T, E>
where
    A: Send + 'static,
    T: Send + 'static,
    E: Raises + Send + 'static,
{
    let values = Values {
        values: arguments,
        write,
    };
    let call = begin(
        readers,
        object,
        operation,
        Box::new(Servable { values, serve }),
    );
    let take = take_returned;
    Asynchronous::new(call, Results { read, take })
}

/// As [`call_async_or_serve`], for a servant that has a reply slot or replies later, and is called
/// by `answer`.
pub fn call_async_or_answer<A: Send + 'static, T, E: Raises>(
    readers: &ReplyReaders,
    object: Arc<Reference>,
    operation: &'static Operation,
    (arguments, write): (A, for<'a> fn(&'a A, &mut CdrWriter<'a>)),
    read: fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
    answer: impl Fn(&A, &Reference, &Detour, LateAnswers<'_>) -> Option<Answered> + Send + 'static,
) -> Asynchronous<T, E> {
    let values = Values {
        values: arguments,
        write,
    };
    let arguments = Box::new(Answerable { values, answer });
    read_from_message(begin(readers, object, operation, arguments), read)
}

/// A call with the results in its reply, which no servant returns in place.
fn read_from_message<T, E: Raises>(
    call: Arc<Call>,
    read: fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Asynchronous<T, E> {
    let take = takes_none;
    Asynchronous::new(call, Results { read, take })
}

fn begin(
    readers: &ReplyReaders,
    object: Arc<Reference>,
    operation: &'static Operation,
    arguments: Box<dyn Arguments>,
) -> Arc<Call> {
    let object = object.under_wider_messaging().unwrap_or(object);
    Call::begin(readers.here(), object, operation, arguments)
}
