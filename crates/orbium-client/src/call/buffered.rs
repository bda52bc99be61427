// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oneway requests under SYNC_NONE: into the buffer of their connection (CORBA 3.3 Part 1,
//! clause 17.2).

use std::time::Duration;

use orbium_cdr::CdrWriter;
use orbium_giop::{
    Completion, ExceptionKind, ResponseFlags, ServiceContext, SystemException, finish_message,
    minor,
};
use orbium_invocation::Operation;
use orbium_transport::Deadline;

use crate::call::attempt::{Attempt, may_try_others};
use crate::errors::binding_lost;
use crate::reference::Reference;
use crate::reference::candidate::Candidate;
use crate::reference::request_path::{Choice, RequestPath};
use orbium_connection::outcome::Outcome;
use orbium_connection::pool::{Begun, Pool, Pushed};

/// Maximum number of rewrites of a message after its connection was replaced.
const OUTDATED: usize = 64;

/// A oneway request that is buffered.
pub(crate) struct Buffered<'r, 'a> {
    pub(crate) operation: &'static Operation,
    pub(crate) contexts: &'r [ServiceContext<'r>],
    pub(crate) arguments: &'r dyn Fn(&mut CdrWriter<'a>),
}

impl<'a> Buffered<'_, 'a> {
    /// Puts the request into the buffer of the first reachable candidate; `None` if it has no
    /// buffer: for collocated calls, datagrams, bands and dedicated connections.
    pub(crate) fn send(&self, attempt: &Attempt<'_>) -> Option<Result<(), Outcome>> {
        if attempt.prefers_datagrams() {
            return None;
        }
        let mut refused = None;
        let mut place = 0;
        loop {
            let choice = match place {
                0 => Choice::First,
                _ => Choice::Next,
            };
            let way = match attempt.way(choice) {
                Ok(way) => way,
                Err(exception) => return Some(Err(unreached(attempt, exception))),
            };
            let pool = way.pool.filter(|pool| buffers(&way, pool))?;
            match self.push(attempt, &way, pool) {
                Ok(sent) => {
                    if place > 0 {
                        attempt.prefer();
                    }
                    return Some(sent);
                }
                Err(exception) if !may_try_others(exception) => {
                    return Some(Err(unreached(attempt, exception)));
                }
                Err(exception) => {
                    refused.get_or_insert(exception);
                }
            }
            place += 1;
            if place >= attempt.ways() {
                return refused.map(|exception| Err(unreached(attempt, exception)));
            }
        }
    }

    /// Writes the request for the connection of the buffer, and appends it to the buffer.
    ///
    /// # Errors
    /// There is no connection.
    fn push(
        &self,
        attempt: &Attempt<'_>,
        way: &RequestPath<'_>,
        pool: &Pool,
    ) -> Result<Result<(), Outcome>, SystemException> {
        let deadline = attempt.timing().sending;
        let constraint = attempt.object().overrides().policies.messaging.buffering;
        let constraint = constraint.unwrap_or_default();
        for _ in 0..OUTDATED {
            let mut begun = pool.begin_oneway(way.said, deadline)?;
            let mut writer = match self.write(attempt, way.candidate, &mut begun) {
                Ok(writer) => writer,
                Err(outcome) => {
                    pool.abandon_oneway(begun);
                    return Ok(Err(outcome));
                }
            };
            match pool.push_oneway(begun, &mut writer, constraint, deadline) {
                Ok(Pushed::Buffered) => return Ok(Ok(())),
                Ok(Pushed::Outdated) => {}
                Err(outcome) => return Ok(Err(outcome)),
            }
        }
        Err(binding_lost())
    }

    fn write(
        &self,
        attempt: &Attempt<'_>,
        candidate: &Candidate,
        begun: &mut Begun<'_>,
    ) -> Result<CdrWriter<'a>, Outcome> {
        let storage = std::mem::take(&mut begun.storage);
        let mut writer = CdrWriter::reuse(storage, candidate.format());
        let (id, introduction) = (begun.request_id, begun.introduction);
        let (operation, timing) = (self.operation, attempt.timing());
        let start = if self.contexts.is_empty() {
            candidate.begin_request(&mut writer, id, operation, introduction, timing, || None)
        } else {
            candidate.begin_request_with(
                &mut writer,
                (id, ResponseFlags::None),
                operation,
                introduction,
                timing,
                self.contexts,
            )
        };
        (self.arguments)(&mut writer);
        finish_message(&mut writer, start);
        if let Some(error) = writer.error() {
            let exception = candidate.bad_argument(error);
            return Err(if candidate.lacks_code_sets(error.kind) {
                Outcome::Unwritable(exception)
            } else {
                Outcome::Failed(exception)
            });
        }
        if writer.len()
            > attempt
                .object()
                .client()
                .latest_config()
                .limits
                .message_size
        {
            let (kind, code) = (ExceptionKind::Marshal, minor::MESSAGE_TOO_LARGE);
            let exception = SystemException::orbium(kind, code, Completion::No);
            return Err(Outcome::Failed(exception));
        }
        Ok(writer)
    }
}

/// Buffers a oneway without observers; `None` if its path has no buffer.
pub(crate) fn send_buffered<'a>(
    attempt: &mut Attempt<'_>,
    operation: &'static Operation,
    arguments: &dyn Fn(&mut CdrWriter<'a>),
) -> Option<Result<(), SystemException>> {
    let request = Buffered {
        operation,
        contexts: &[],
        arguments,
    };
    loop {
        if attempt.may_be_collocated() {
            return None;
        }
        let outcome = match request.send(attempt)? {
            Ok(()) => return Some(Ok(())),
            Err(outcome) => outcome,
        };
        if let Err(exception) = attempt.again(operation, outcome) {
            return Some(Err(exception));
        }
    }
}

/// Whether oneways are buffered on that path: no band is bound, and no dedicated connection opened.
fn buffers(way: &RequestPath<'_>, pool: &Pool) -> bool {
    way.band.is_none() && way.own.is_none() && pool.buffers_oneways()
}

fn unreached(attempt: &Attempt<'_>, exception: SystemException) -> Outcome {
    Outcome::Failed(attempt.reached_none(true, exception))
}

/// Sends the buffered oneways on the path of the call. To be called before the call has a
/// connection, as sending may need one, which may be the last available.
pub(crate) fn flush_before_call(attempt: &Attempt<'_>) {
    let pool = attempt.way(Choice::First).ok().and_then(|way| way.pool);
    if let Some(pool) = pool {
        // Lost oneways are counted, and late ones stay in the buffer.
        let _ = pool.flush_oneways(attempt.timing().sending);
    }
}

/// Sends the oneways buffered through a reference, or through others that share its connections,
/// and waits for up to `within` if the server does not receive them.
///
/// # Errors
/// TIMEOUT: they are still in the buffer. COMM_FAILURE, or an exception of connecting: they are
/// lost.
pub fn flush_oneways(object: &Reference, within: Duration) -> Result<(), SystemException> {
    if let Some(derived) = object.under_wider_messaging() {
        return flush_oneways(&derived, within);
    }
    let mut attempt = Attempt::new(object);
    attempt.check_before_call()?;
    let way = attempt.way(Choice::First)?;
    let deadline = Deadline::after(Some(within));
    way.pool.map_or(Ok(()), |pool| pool.flush_oneways(deadline))
}
