// SPDX-License-Identifier: MIT OR Apache-2.0
//! Synchronous calls: from a reference and arguments to results.

use std::mem::forget;

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::SystemException;
use orbium_interceptor::ContextList;
use orbium_interceptor::client::CallOutcome;
use orbium_invocation::Operation;
use orbium_invocation::raises::{ExceptionId, Raises};

use crate::call::attempt::{Attempt, Path, REPLACEMENTS};
use crate::call::buffered::send_buffered;
use crate::call::exchange::{Answer, Exchange};
use crate::call::intercepted::{InPlace, Intercepted};
use crate::call::link::Link;
use crate::reference::Reference;
use orbium_connection::outcome::Outcome;
use orbium_invocation::typed_reply::{Acknowledgement, ReadsResults, ReplyReader, TypedOutcome};

/// Makes a call and waits for the results.
///
/// The path of nearly all calls, compiled for each operation: one exchange with results. All other
/// cases are handled by the shared path.
#[inline]
pub fn call<'a, T, E: Raises>(
    object: &Reference,
    operation: &'static Operation,
    arguments: impl Fn(&mut CdrWriter<'a>),
    mut results: impl FnMut(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Result<T, E> {
    orbium_trace::probe!(ClientStart);
    let mut attempt = Attempt::new(object);
    let mut outcome = None;
    let end = 'ended: {
        match attempt.check_before_request(operation) {
            Ok(Path::Plain) => {}
            Ok(path) => break 'ended Ok(End::Unsent(path)),
            Err(exception) => break 'ended Err(exception),
        }
        orbium_trace::probe!(Initialisation);
        let link = match attempt.link() {
            Ok(link) => link,
            Err(exception) => break 'ended Ok(unreached(&attempt, exception)),
        };
        orbium_trace::probe!(ObjectReference);
        let mut exchange = Exchange::new(object, attempt.timing(), operation.is_oneway(), link);
        exchange.begin(operation);
        orbium_trace::probe!(MessagingSend);
        arguments(exchange.writer());
        orbium_trace::probe!(Marshal);
        let answer = exchange.perform();
        if answer != Answer::Results {
            let mut reply = outcome.insert(TypedOutcome::new()).read_by(&mut results);
            break 'ended answered(&attempt, operation, answer, exchange, &mut reply);
        }
        match exchange.results(&mut results) {
            Ok(value) => {
                // The exchange is over: interceptors may use its connection.
                exchange.finish();
                forget(exchange);
                match attempt.show_results(operation) {
                    Ok(()) => return Ok(value),
                    Err(changed) => Ok(End::Changed(changed)),
                }
            }
            Err(exception) => unreadable(&attempt, operation, exchange, exception),
        }
    };
    let call = Calling {
        operation,
        arguments: &arguments,
        in_place: &|_, _, _| None,
    };
    call_on(&mut attempt, &call, end, outcome, &mut results)
}

/// The end of a call after a first exchange without plain results.
#[cold]
// Out of the plain exchange, which it takes registers from.
#[inline(never)]
fn call_on<T, E: Raises>(
    attempt: &mut Attempt<'_>,
    call: &Calling<'_, '_>,
    end: Result<End, SystemException>,
    outcome: Option<TypedOutcome<T, E>>,
    results: &mut ReadsResults<'_, T>,
) -> Result<T, E> {
    let outcome = outcome.unwrap_or_default();
    let ended = end.map_err(ExceptionId::System);
    let ended = ended.and_then(|end| call.go_on(attempt, end, &mut outcome.read_by(results)));
    outcome.ended(ended)
}

/// As `call`, without the types of the operation; if interceptors see the call, `serve` calls a
/// servant of the caller's own ORB with the service contexts of the request, or returns `None` if
/// the call needs a message.
///
/// # Errors
/// The exception of the call. Results and the members of exceptions are stored by `reply` and
/// `serve`.
pub fn call_or_serve<'a>(
    object: &Reference,
    operation: &'static Operation,
    arguments: &dyn Fn(&mut CdrWriter<'a>),
    reply: &mut dyn ReplyReader,
    serve: &InPlace<'_>,
) -> Result<(), ExceptionId> {
    orbium_trace::probe!(ClientStart);
    let mut attempt = Attempt::new(object);
    let call = Calling {
        operation,
        arguments,
        in_place: serve,
    };
    let end = match attempt.check_before_request(operation)? {
        Path::Plain => call.exchange(&attempt, reply)?,
        path => End::Unsent(path),
    };
    call.go_on(&mut attempt, end, reply)
}

/// A call, without the types of its operation.
struct Calling<'c, 'a> {
    operation: &'static Operation,
    arguments: &'c dyn Fn(&mut CdrWriter<'a>),
    /// Calls a servant of the caller's own ORB if interceptors see the request.
    in_place: &'c InPlace<'c>,
}

impl Calling<'_, '_> {
    /// Makes further attempts until the call has ended.
    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    fn go_on(
        &self,
        attempt: &mut Attempt<'_>,
        mut end: End,
        reply: &mut dyn ReplyReader,
    ) -> Result<(), ExceptionId> {
        let operation = self.operation;
        loop {
            let (outcome, unseen) = match end {
                End::Ended => return Ok(()),
                End::Unsent(path) => return self.intercepted(attempt, path, reply),
                End::Seen(contexts) => match attempt.show_seen(operation, &contexts)? {
                    None => return Ok(()),
                    Some(forward) => (forward, None),
                },
                End::Changed(changed) => (attempt.changed(operation, *changed)?, None),
                End::Otherwise(outcome, unseen) => (outcome, unseen),
            };
            if attempt.again_unless_changed(operation, outcome, unseen)? {
                return self.intercepted(attempt, Path::Intercepted, reply);
            }
            end = self.exchange(attempt, reply)?;
        }
    }

    /// Sends the request through interceptors, or under Messaging policies.
    fn intercepted(
        &self,
        attempt: &mut Attempt<'_>,
        path: Path,
        reply: &mut dyn ReplyReader,
    ) -> Result<(), ExceptionId> {
        let request = Intercepted {
            operation: self.operation,
            arguments: self.arguments,
            in_place: self.in_place,
            is_oneway: false,
        };
        Ok(request.perform(attempt, path, reply)?)
    }

    /// One exchange on the plain path.
    ///
    /// # Errors
    /// The exception of the call.
    // Out of the loop over attempts, and once: the code that ends an exchange is not shared with
    // its caller.
    #[inline(never)]
    fn exchange(
        &self,
        attempt: &Attempt<'_>,
        reply: &mut dyn ReplyReader,
    ) -> Result<End, SystemException> {
        orbium_trace::probe!(Initialisation);
        let operation = self.operation;
        let link = match attempt.link() {
            Ok(link) => link,
            Err(exception) => return Ok(unreached(attempt, exception)),
        };
        orbium_trace::probe!(ObjectReference);
        let object = attempt.object();
        let mut exchange = Exchange::new(object, attempt.timing(), operation.is_oneway(), link);
        exchange.begin(operation);
        orbium_trace::probe!(MessagingSend);
        (self.arguments)(exchange.writer());
        orbium_trace::probe!(Marshal);
        let answer = exchange.perform();
        if answer != Answer::Results {
            return answered(attempt, operation, answer, exchange, reply);
        }
        if let Err(exception) = exchange.results(|reader| reply.read_results(reader)) {
            return unreadable(attempt, operation, exchange, exception);
        }
        exchange.finish();
        forget(exchange);
        Ok(match attempt.show_results(operation) {
            Ok(()) => End::Ended,
            Err(changed) => End::Changed(changed),
        })
    }
}

/// The end of an exchange on the plain path.
enum End {
    /// The call has ended: results or a user exception are stored by the reply's reader. An
    /// exception may be of a type without a static id, and its [`ExceptionId`] is incomplete then.
    Ended,
    /// Results that interceptors see before the caller, with the service contexts of the reply.
    Seen(ContextList),
    /// Results that an interceptor has replaced.
    Changed(Box<CallOutcome>),
    /// The outcome of the attempt, with the service contexts of the reply if interceptors have not
    /// seen it yet.
    Otherwise(Outcome, Option<ContextList>),
    /// No exchange: the request takes another path.
    Unsent(Path),
}

/// The end of an exchange without a link.
#[cold]
// Out of the plain exchange, which it takes registers from.
#[inline(never)]
fn unreached(attempt: &Attempt<'_>, exception: SystemException) -> End {
    let failed = Outcome::Failed(attempt.reached_none(false, exception));
    End::Otherwise(failed, attempt.unseen_unreached())
}

/// The end of an exchange with undecodable results.
///
/// # Errors
/// The exception of the call.
#[cold]
// Out of the plain exchange, which it takes registers from.
#[inline(never)]
fn unreadable(
    attempt: &Attempt<'_>,
    operation: &'static Operation,
    mut exchange: Exchange<'_, '_>,
    exception: SystemException,
) -> Result<End, SystemException> {
    let forward = attempt.show_unreadable(operation, &mut exchange, exception)?;
    Ok(End::Otherwise(forward, None))
}

/// The end of an exchange without plain results.
///
/// # Errors
/// The exception of the call.
#[cold]
// Out of the plain exchange, which it takes registers from.
#[inline(never)]
fn answered(
    attempt: &Attempt<'_>,
    operation: &'static Operation,
    answer: Answer,
    mut exchange: Exchange<'_, '_>,
    reply: &mut dyn ReplyReader,
) -> Result<End, SystemException> {
    match answer {
        Answer::None => {
            let unseen = attempt.unseen(&mut exchange);
            return Ok(End::Otherwise(exchange.outcome(), unseen));
        }
        Answer::UserException => {
            return Ok(match raised(attempt, operation, &mut exchange, reply)? {
                Ok(forward) => End::Otherwise(forward, None),
                Err(_) => End::Ended,
            });
        }
        Answer::Results | Answer::Extended => {}
    }
    if let Err(exception) = exchange.results(|reader| reply.read_results(reader)) {
        return unreadable(attempt, operation, exchange, exception);
    }
    Ok(match attempt.unseen_results(&mut exchange) {
        Some(contexts) => End::Seen(contexts),
        None => End::Ended,
    })
}

/// Reads an exception. The call ends with it, stored in `reply`, unless an interceptor that sees it
/// forwards the request.
///
/// # Errors
/// A system exception of the call: the reply has no declared exception, or an interceptor raises
/// it.
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

/// Sends a request without waiting for a reply.
pub fn send<'a>(
    object: &Reference,
    operation: &'static Operation,
    arguments: impl Fn(&mut CdrWriter<'a>),
) -> Result<(), SystemException> {
    send_or_serve(object, operation, &arguments, &|_, _, _| None)
}

/// As `send`; if interceptors see the call, `serve` calls a servant of the caller's own ORB with
/// the service contexts of the request, or returns `None` if it needs a message.
///
/// # Errors
/// As for `send`.
pub fn send_or_serve<'a>(
    object: &Reference,
    operation: &'static Operation,
    arguments: &dyn Fn(&mut CdrWriter<'a>),
    serve: &InPlace<'_>,
) -> Result<(), SystemException> {
    let mut attempt = Attempt::new(object);
    let call = Calling {
        operation,
        arguments,
        in_place: serve,
    };
    let path = attempt.check_before_request(operation)?;
    if path != Path::Plain {
        return call.send_otherwise(&mut attempt, path);
    }
    match call.send(&attempt) {
        None => Ok(()),
        Some(outcome) => call.send_again(&mut attempt, outcome),
    }
}

/// Requests without results.
impl Calling<'_, '_> {
    /// One exchange on the plain path; returns its outcome, unless the request was sent.
    // In the frame of its caller: an outcome is large.
    #[inline(always)]
    fn send(&self, attempt: &Attempt<'_>) -> Option<Outcome> {
        let link = match attempt.open_link_for_oneway() {
            Ok(link) => link,
            Err(exception) => {
                return Some(Outcome::Failed(attempt.reached_none(true, exception)));
            }
        };
        let (object, oneway) = (attempt.object(), self.operation.is_oneway());
        let mut exchange = Exchange::new(object, attempt.timing(), oneway, link);
        exchange.begin(self.operation);
        (self.arguments)(exchange.writer());
        if exchange.perform() == Answer::None {
            return Some(exchange.outcome());
        }
        exchange.finish();
        forget(exchange);
        None
    }

    /// Makes further attempts until the request is sent.
    #[cold]
    fn send_again(
        &self,
        attempt: &mut Attempt<'_>,
        outcome: Outcome,
    ) -> Result<(), SystemException> {
        let mut unsent = Some(outcome);
        while let Some(outcome) = unsent {
            attempt.again(self.operation, outcome)?;
            unsent = self.send(attempt);
        }
        Ok(())
    }

    /// Sends the request into a buffer, through interceptors, or under Messaging policies.
    #[cold]
    fn send_otherwise(&self, attempt: &mut Attempt<'_>, path: Path) -> Result<(), SystemException> {
        if path == Path::Buffered
            && let Some(sent) = send_buffered(attempt, self.operation, self.arguments)
        {
            return sent;
        }
        let request = Intercepted {
            operation: self.operation,
            arguments: self.arguments,
            in_place: self.in_place,
            is_oneway: true,
        };
        request.perform(attempt, path, &mut Acknowledgement)
    }
}

/// Names in stories of actions that are not operations.
static CONNECT: Operation = Operation::new("connect");
static LOCATE: Operation = Operation::new("locate");

/// Opens that number of connections for calls of this thread, or as many as the limits permit.
#[inline]
pub fn connect(object: &Reference, count: usize) -> Result<(), SystemException> {
    if let Some(derived) = object.under_wider_messaging() {
        return connect(&derived, count);
    }
    let mut attempt = Attempt::new(object);
    let connected = connect_all(&mut attempt, count);
    connected.map_err(|exception| attempt.failed(&CONNECT, exception))
}

fn connect_all(attempt: &mut Attempt<'_>, count: usize) -> Result<(), SystemException> {
    attempt.check_before_call()?;
    let mut held: Vec<Link<'_>> = Vec::new();
    // A further one would wait for the release of these.
    while held.len() < count && !held.last().is_some_and(Link::is_last) {
        held.push(usable_link(attempt)?);
    }
    Ok(())
}

/// A link over a connection that is not known to have ended.
fn usable_link<'s>(attempt: &'s Attempt<'_>) -> Result<Link<'s>, SystemException> {
    let linked = || {
        let link = attempt.link();
        link.map_err(|it| attempt.reached_none(false, it))
    };
    let mut link = linked()?;
    for _ in 0..REPLACEMENTS {
        if !link.has_unexpected_input() {
            break;
        }
        link.abandon();
        drop(link);
        link = linked()?;
    }
    Ok(link)
}

/// Locates the object.
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
