// SPDX-License-Identifier: MIT OR Apache-2.0
//! Synchronous calls: from a reference and arguments to results.

use std::cell::RefCell;

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::SystemException;
use orbium_interceptor::ContextList;
use orbium_invocation::Operation;
use orbium_invocation::raises::{ExceptionId, Raises};

use crate::call::attempt::{Attempt, Path, REPLACEMENTS};
use crate::call::buffered::send_buffered;
use crate::call::exchange::{Answer, Exchange};
use crate::call::intercepted::{InPlace, Intercepted};
use crate::errors::broken_invariant;
use crate::reference::Reference;
use orbium_connection::outcome::Outcome;
use orbium_invocation::typed_reply::{Acknowledgement, ReplyReader, TypedOutcome};

/// Calls, and waits for the results.
#[inline]
pub fn call<'a, T, E: Raises>(
    object: &Reference,
    operation: &'static Operation,
    arguments: impl Fn(&mut CdrWriter<'a>),
    results: impl FnMut(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Result<T, E> {
    call_and(
        object,
        operation,
        &arguments,
        results,
        |attempt, exchange| user_exception(attempt, operation, exchange),
        |attempt, results| call_intercepted(attempt, operation, &arguments, results),
    )
}

/// As `call`, without the types of the operation; where interceptors see it, `serve` calls a servant of the caller's
/// own ORB with the service contexts of the request: `None` if it takes a message.
///
/// # Errors
/// The exception that the call ends with. Results and the members of exceptions are where `reply` and `serve` have put
/// them.
pub fn call_or_serve<'a>(
    object: &Reference,
    operation: &'static Operation,
    arguments: &dyn Fn(&mut CdrWriter<'a>),
    reply: &mut dyn ReplyReader,
    serve: &InPlace<'_>,
) -> Result<(), ExceptionId> {
    let reply = RefCell::new(reply);
    call_and(
        object,
        operation,
        arguments,
        |reader| reply.borrow_mut().read_results(reader),
        |attempt, exchange| raised(attempt, operation, exchange, *reply.borrow_mut())?,
        |(attempt, path), _| {
            let request = Intercepted {
                operation,
                arguments,
                in_place: serve,
                is_oneway: false,
            };
            Ok(request.perform(attempt, path, *reply.borrow_mut())?)
        },
    )
}

/// The path of nearly all calls, compiled for each operation. `raised` reads an exception, and says what to do if an
/// interceptor forwards the request; `intercepted` makes calls by way of interceptors.
#[inline(always)]
fn call_and<'a, T, E: Raises, R>(
    object: &Reference,
    operation: &'static Operation,
    arguments: &(impl Fn(&mut CdrWriter<'a>) + ?Sized),
    mut results: R,
    raised: impl Fn(&Attempt<'_>, &mut Exchange<'a, '_>) -> Result<Outcome, E>,
    intercepted: impl FnOnce((&mut Attempt<'_>, Path), R) -> Result<T, E>,
) -> Result<T, E>
where
    R: FnMut(&mut CdrReader<'_>) -> Result<T, CdrError>,
{
    orbium_trace::probe!(ClientStart);
    let mut attempt = Attempt::new(object);
    let path = attempt.check_before_request(operation)?;
    if path != Path::Plain {
        return intercepted((&mut attempt, path), results);
    }
    orbium_trace::probe!(Initialisation);
    'attempt: loop {
        let value = 'results: {
            let end = match attempt.link() {
                Ok(link) => {
                    orbium_trace::probe!(ObjectReference);
                    let mut exchange =
                        Exchange::new(object, attempt.timing(), operation.is_oneway(), link);
                    exchange.begin(operation);
                    orbium_trace::probe!(MessagingSend);
                    arguments(exchange.writer());
                    orbium_trace::probe!(Marshal);
                    match exchange.perform() {
                        Answer::Results => match exchange.results(&mut results) {
                            Ok(value) => break 'results value,
                            Err(it) => unreadable(&attempt, operation, &mut exchange, it)?,
                        },
                        Answer::UserException => {
                            End::Otherwise(raised(&attempt, &mut exchange)?, None)
                        }
                        other => {
                            otherwise(&attempt, operation, other, &mut exchange, &mut results)?
                        }
                    }
                }
                Err(exception) => unreached(&attempt, exception),
            };
            // The exchange is over: interceptors may use its connection.
            let (outcome, unseen) = match end {
                End::Results(value) => return Ok(value),
                End::Seen(value, contexts) => match attempt.show_seen(operation, &contexts)? {
                    None => return Ok(value),
                    Some(forward) => (forward, None),
                },
                End::Otherwise(outcome, unseen) => (outcome, unseen),
            };
            if attempt.again_unless_changed(operation, outcome, unseen)? {
                return intercepted((&mut attempt, Path::Intercepted), results);
            }
            continue 'attempt;
        };
        let Err(changed) = attempt.show_results(operation) else {
            return Ok(value);
        };
        let forward = attempt.changed(operation, *changed)?;
        if attempt.again_unless_changed(operation, forward, None)? {
            return intercepted((&mut attempt, Path::Intercepted), results);
        }
    }
}

/// End of an exchange on the plain path that has no plain results.
enum End<T> {
    /// Results that no interceptor sees, in a reply with service contexts.
    Results(T),
    /// Results that interceptors see before the caller has them, with the service contexts of the reply.
    Seen(T, ContextList),
    /// What to do about the attempt, with the service contexts of the reply if interceptors are yet to see it.
    Otherwise(Outcome, Option<ContextList>),
}

/// How an exchange ends for which there is no link.
#[cold]
#[inline(never)]
fn unreached<T>(attempt: &Attempt<'_>, exception: SystemException) -> End<T> {
    let failed = Outcome::Failed(attempt.reached_none(false, exception));
    End::Otherwise(failed, attempt.unseen_unreached())
}

/// How an exchange ends of which the results cannot be read.
///
/// # Errors
/// The exception that the call ends with.
#[cold]
#[inline(never)]
fn unreadable<T>(
    attempt: &Attempt<'_>,
    operation: &'static Operation,
    exchange: &mut Exchange<'_, '_>,
    exception: SystemException,
) -> Result<End<T>, SystemException> {
    let forward = attempt.show_unreadable(operation, exchange, exception)?;
    Ok(End::Otherwise(forward, None))
}

/// How an exchange ends that has neither plain results nor a user exception.
///
/// # Errors
/// The exception that the call ends with.
#[cold]
#[inline(never)]
fn otherwise<T>(
    attempt: &Attempt<'_>,
    operation: &'static Operation,
    answer: Answer,
    exchange: &mut Exchange<'_, '_>,
    results: &mut impl FnMut(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Result<End<T>, SystemException> {
    if answer == Answer::None {
        let unseen = attempt.unseen(exchange);
        return Ok(End::Otherwise(exchange.outcome(), unseen));
    }
    let value = match exchange.results(results) {
        Ok(value) => value,
        Err(exception) => return unreadable(attempt, operation, exchange, exception),
    };
    Ok(match attempt.unseen_results(exchange) {
        Some(contexts) => End::Seen(value, contexts),
        None => End::Results(value),
    })
}

/// A call by way of interceptors, or under policies of Messaging.
#[cold]
#[inline(never)]
fn call_intercepted<'a, T, E: Raises>(
    (attempt, path): (&mut Attempt<'_>, Path),
    operation: &'static Operation,
    arguments: &dyn Fn(&mut CdrWriter<'a>),
    results: impl FnMut(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Result<T, E> {
    let outcome = TypedOutcome::new();
    let request = Intercepted {
        operation,
        arguments,
        in_place: &|_, _, _| None,
        is_oneway: false,
    };
    let performed = request.perform(attempt, path, &mut outcome.read_by(results));
    outcome.ended(performed)
}

/// The exception that a call ends with, unless an interceptor that sees it forwards the request.
///
/// # Errors
/// That exception.
#[cold]
fn user_exception<E: Raises>(
    attempt: &Attempt<'_>,
    operation: &'static Operation,
    exchange: &mut Exchange<'_, '_>,
) -> Result<Outcome, E> {
    let outcome = TypedOutcome::<(), E>::new();
    let mut reply = outcome.read_exception_by();
    match raised(attempt, operation, exchange, &mut reply)? {
        Ok(forward) => Ok(forward),
        Err(_) => Err(match outcome.ended(Ok(())) {
            Err(error) => error,
            Ok(()) => broken_invariant().into(),
        }),
    }
}

/// Reads an exception. The call ends with it, which `reply` has then, unless an interceptor that sees it forwards the
/// request.
///
/// # Errors
/// A system exception that the call ends with: the reply has none that is declared, or an interceptor raises it.
#[cold]
fn raised(
    attempt: &Attempt<'_>,
    operation: &'static Operation,
    exchange: &mut Exchange<'_, '_>,
    reply: &mut dyn ReplyReader,
) -> Result<Result<Outcome, ExceptionId>, SystemException> {
    let read = exchange.user_exception(reply);
    if let Ok(ExceptionId::User(id)) = read {
        attempt.note_user_exception_id(id);
    }
    let read = read.map_err(|exception| attempt.failed(operation, exception));
    let shown = read.unwrap_or_else(ExceptionId::System);
    match attempt.show_exception(operation, exchange, &shown.raised())? {
        Some(forward) => Ok(Ok(forward)),
        None => read.map(Err),
    }
}

/// Sends, and waits for nothing.
pub fn send<'a>(
    object: &Reference,
    operation: &'static Operation,
    arguments: impl Fn(&mut CdrWriter<'a>),
) -> Result<(), SystemException> {
    send_or_serve(object, operation, &arguments, &|_, _, _| None)
}

/// As `send`; where interceptors see it, `serve` calls a servant of the caller's own ORB with the
/// service contexts of the request: `None` if it takes a message.
///
/// # Errors
/// As of `send`.
pub fn send_or_serve<'a>(
    object: &Reference,
    operation: &'static Operation,
    arguments: &dyn Fn(&mut CdrWriter<'a>),
    serve: &InPlace<'_>,
) -> Result<(), SystemException> {
    let mut attempt = Attempt::new(object);
    let path = attempt.check_before_request(operation)?;
    if path == Path::Buffered
        && let Some(sent) = send_buffered(&mut attempt, operation, arguments)
    {
        return sent;
    }
    if path != Path::Plain {
        let request = Intercepted {
            operation,
            arguments,
            in_place: serve,
            is_oneway: true,
        };
        return request.perform(&mut attempt, path, &mut Acknowledgement);
    }
    loop {
        let outcome = match attempt.open_link_for_oneway() {
            Ok(link) => {
                let mut exchange =
                    Exchange::new(object, attempt.timing(), operation.is_oneway(), link);
                exchange.begin(operation);
                arguments(exchange.writer());
                match exchange.perform() {
                    Answer::Results | Answer::Extended | Answer::UserException => return Ok(()),
                    Answer::None => exchange.outcome(),
                }
            }
            Err(exception) => Outcome::Failed(attempt.reached_none(true, exception)),
        };
        attempt.again(operation, outcome)?;
    }
}

/// What stories call that which is no operation.
static CONNECT: Operation = Operation::new("connect");
static LOCATE: Operation = Operation::new("locate");

/// Has so many connections ready that calls of this thread can use.
#[inline]
pub fn connect(object: &Reference, count: usize) -> Result<(), SystemException> {
    if let Some(derived) = object.under_wider_messaging() {
        return connect(&derived, count);
    }
    let mut attempt = Attempt::new(object);
    let connected = connect_all(&mut attempt, count);
    connected.map_err(|exception| attempt.failed(&CONNECT, exception))
}

#[inline]
fn connect_all(attempt: &mut Attempt<'_>, count: usize) -> Result<(), SystemException> {
    attempt.check_before_call()?;
    let mut held = Vec::new();
    for _ in 0..count {
        let mut link = attempt
            .link()
            .map_err(|it| attempt.reached_none(false, it))?;
        for _ in 0..REPLACEMENTS {
            if !link.is_spoilt() {
                break;
            }
            link.abandon();
            drop(link);
            link = attempt.link()?;
        }
        held.push(link);
    }
    Ok(())
}

/// Asks where the object is.
#[inline]
pub fn locate(object: &Reference) -> Result<bool, SystemException> {
    if let Some(derived) = object.under_wider_messaging() {
        return locate(&derived);
    }
    let mut attempt = Attempt::new(object);
    attempt.check_before_call()?;
    loop {
        match attempt.locate() {
            Ok(here) => return Ok(here),
            Err(outcome) => attempt.again(&LOCATE, outcome)?,
        }
    }
}
