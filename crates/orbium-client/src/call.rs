// SPDX-License-Identifier: MIT OR Apache-2.0
//! Synchronous calls: from a reference and arguments to results.

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::SystemException;
use orbium_invocation::Operation;
use orbium_invocation::raises::{Raised, Raises};

use crate::attempt::{Attempt, Path, REPLACEMENTS};
use crate::errors::broken_invariant;
use crate::exchange::{Answer, Exchange};
use crate::intercepted::{Intercepted, Read};
use crate::outcome::Outcome;
use crate::reference::Reference;

/// Calls, and waits for the results.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method itself is of one lifetime only"
)]
#[inline]
pub fn call<'a, T, E: Raises>(
    object: &Reference,
    operation: &'static Operation,
    arguments: impl Fn(&mut CdrWriter<'a>),
    results: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Result<T, E> {
    call_and(
        object,
        operation,
        arguments,
        |exchange| exchange.perform(),
        |exchange| exchange.results(results),
    )
}

/// As `call`, with less code: for what is asked once.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method itself is of one lifetime only"
)]
#[inline(never)]
pub fn call_once<'a>(
    object: &Reference,
    operation: &'static Operation,
    arguments: &dyn Fn(&mut CdrWriter<'a>),
    results: &mut dyn FnMut(&mut CdrReader<'_>) -> Result<(), CdrError>,
) -> Result<(), SystemException> {
    call_and(
        object,
        operation,
        arguments,
        |exchange| exchange.perform_once(),
        |exchange| exchange.results_once(results),
    )
}

#[inline(always)]
fn call_and<'a, T, E: Raises>(
    object: &Reference,
    operation: &'static Operation,
    arguments: impl Fn(&mut CdrWriter<'a>),
    perform: impl Fn(&mut Exchange<'a, '_>) -> Answer,
    results: impl FnOnce(&mut Exchange<'a, '_>) -> Result<T, SystemException>,
) -> Result<T, E> {
    orbium_trace::probe!(ClientStart);
    let mut attempt = Attempt::new(object);
    let path = attempt.check_before_request(operation)?;
    if path != Path::Plain {
        return call_intercepted((&mut attempt, path), operation, &arguments, results);
    }
    orbium_trace::probe!(Initialisation);
    loop {
        let (outcome, unseen) = match attempt.link() {
            Ok(link) => {
                orbium_trace::probe!(ObjectReference);
                let mut exchange =
                    Exchange::new(object, attempt.timing(), operation.is_oneway(), link);
                exchange.begin(operation);
                orbium_trace::probe!(MessagingSend);
                arguments(exchange.writer());
                orbium_trace::probe!(Marshal);
                match perform(&mut exchange) {
                    Answer::Results => {
                        return results(&mut exchange)
                            .map_err(|it| attempt.unreadable(operation, &mut exchange, it).into());
                    }
                    Answer::UserException => {
                        let raised: E = match exchange.user_exception() {
                            Ok(raised) => attempt.note_user_exception(raised),
                            Err(exception) => attempt.failed(operation, exception).into(),
                        };
                        let shown =
                            attempt.show_exception(operation, &mut exchange, &raised.raised());
                        match shown? {
                            None => return Err(raised),
                            Some(forward) => (forward, None),
                        }
                    }
                    Answer::None => (exchange.outcome(), attempt.unseen(&mut exchange)),
                }
            }
            Err(exception) => {
                let failed = Outcome::Failed(attempt.reached_none(false, exception));
                (failed, attempt.unseen_unreached())
            }
        };
        attempt.again_unless_changed(operation, outcome, unseen)?;
    }
}

/// A call by way of interceptors, or under policies of Messaging: one code for all, around what reads the results.
#[inline(never)]
fn call_intercepted<'a, T, E: Raises>(
    (attempt, path): (&mut Attempt<'_>, Path),
    operation: &'static Operation,
    arguments: &dyn Fn(&mut CdrWriter<'a>),
    results: impl FnOnce(&mut Exchange<'a, '_>) -> Result<T, SystemException>,
) -> Result<T, E> {
    let mut results = Some(results);
    let mut ended = None;
    let mut read = |exchange: &mut Exchange<'a, '_>, answer: Answer| {
        if answer == Answer::UserException {
            let raised = exchange.user_exception::<E>()?;
            let read = match raised.raised() {
                Raised::User(id, _) => Read::UserException(id),
                Raised::System(exception) => return Err(exception),
            };
            ended = Some(Err(raised));
            return Ok(read);
        }
        let results = results.take().ok_or_else(broken_invariant)?;
        ended = Some(Ok(results(exchange)?));
        Ok(Read::Results)
    };
    let request = Intercepted {
        operation,
        arguments,
        is_oneway: false,
    };
    request.perform(attempt, path, &mut read)?;
    ended.unwrap_or_else(|| Err(broken_invariant().into()))
}

/// Sends, and waits for nothing.
pub fn send<'a>(
    object: &Reference,
    operation: &'static Operation,
    arguments: impl Fn(&mut CdrWriter<'a>),
) -> Result<(), SystemException> {
    let mut attempt = Attempt::new(object);
    let path = attempt.check_before_request(operation)?;
    if path != Path::Plain {
        let mut read = |_: &mut Exchange<'a, '_>, _| Ok(Read::Nothing);
        let request = Intercepted {
            operation,
            arguments: &arguments,
            is_oneway: true,
        };
        return request.perform(&mut attempt, path, &mut read);
    }
    loop {
        let outcome = match attempt.open_link_for_oneway() {
            Ok(link) => {
                let mut exchange =
                    Exchange::new(object, attempt.timing(), operation.is_oneway(), link);
                exchange.begin(operation);
                arguments(exchange.writer());
                match exchange.perform() {
                    Answer::Results | Answer::UserException => return Ok(()),
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
