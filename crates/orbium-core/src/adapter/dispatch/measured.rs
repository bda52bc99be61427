// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that are measured while they are served.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use orbium_cdr::CdrReader;
use orbium_giop::{Completion, ExceptionKind, ResponseFlags, SystemException};

use crate::adapter::{ActiveObject, Adapters};
use crate::client::ObservedCall;
use crate::metrics::{End, Label, Measurements, Refusal, Series, scoped};
use crate::{OBJECT_REPOSITORY_ID, OperationTable};
use orbium_lane::{OWN, SETTLED};
use orbium_request::conclusion::conclude;
use orbium_request::{IncomingRequest, ObservedRequest, UntypedReply};

/// The operations that the ORB answers for every object.
static IMPLICIT: [&str; 7] = [
    "_is_a",
    "_non_existent",
    "_not_existent",
    "_repository_id",
    "_interface",
    "_component",
    "_domain_managers",
];

/// The name of the ORB's own lane.
const OWN_LANE: &str = "orb";

/// The name of a lane in metrics.
fn lane_name(adapters: &Adapters, number: u32) -> String {
    match number {
        OWN => OWN_LANE.into(),
        SETTLED => "dedicated".into(),
        _ => adapters
            .lane_numbered(number)
            .map_or_else(String::new, |lane| lane.name().to_owned()),
    }
}

impl ActiveObject {
    /// The table that has an operation, as a number, its index there, and the names in it unless it
    /// is an implicit operation; `None` if the skeleton does not know it.
    fn operation_place(
        &self,
        operation: &[u8],
    ) -> Option<(usize, usize, Option<&'static [&'static str]>)> {
        match self.servant.operations() {
            Some(table) if !operation.starts_with(b"_") || table.find(operation).is_some() => {
                let at = std::ptr::from_ref::<OperationTable>(table) as usize;
                Some((at, table.find(operation)?, Some(table.names())))
            }
            _ => {
                let at = std::ptr::from_ref(&IMPLICIT) as usize;
                let place = IMPLICIT.iter().position(|it| it.as_bytes() == operation)?;
                Some((at, place, None))
            }
        }
    }

    /// The name of an operation of the servant's skeleton, or of an implicit operation.
    pub(crate) fn known_operation(&self, operation: &[u8]) -> Option<&'static str> {
        let (_, place, names) = self.operation_place(operation)?;
        Some(names.unwrap_or(&IMPLICIT)[place])
    }
}

/// The series of a request to that object.
fn series_of<'m>(
    all: &'m Measurements,
    adapters: &Adapters,
    request: &IncomingRequest<'_>,
    object: &ActiveObject,
) -> &'m Series {
    series_in_lane(all, request, object, &|| lane_name(adapters, request.lane))
}

/// The series of a collocated request to that object.
fn series_in_process<'m>(
    all: &'m Measurements,
    request: &IncomingRequest<'_>,
    object: &ActiveObject,
) -> &'m Series {
    series_in_lane(all, request, object, &|| OWN_LANE.to_owned())
}

/// Begins the metrics and the span of the call, then those of its request.
#[cold]
pub(crate) fn observe<'r>(
    call: &ObservedCall<'_>,
    request: &'r IncomingRequest<'r>,
    object: &ActiveObject,
) -> ObservedRequest<'r> {
    call.begin();
    let all = request.context.measurements();
    let measured = all.map(|all| (&**all, series_in_process(all, request, object)));
    ObservedRequest::begin(request, object, measured)
}

fn series_in_lane<'m>(
    all: &'m Measurements,
    request: &IncomingRequest<'_>,
    object: &ActiveObject,
    lane: &dyn Fn() -> String,
) -> &'m Series {
    let Some((at, index, names)) = object.operation_place(request.operation) else {
        return all.served_unknown();
    };
    all.served(request.lane, (at, index), || Label {
        operation: match names {
            Some(names) => scoped(object.servant.repository_id(), names[index]),
            None => scoped(OBJECT_REPOSITORY_ID, IMPLICIT[index]),
        },
        lane: lane(),
    })
}

impl Adapters {
    /// As `serve`, measured; returns the system exception of the request.
    #[cold]
    pub(crate) fn serve_measured(
        &self,
        all: &Measurements,
        request: &IncomingRequest<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Option<SystemException> {
        let begun = Instant::now();
        let arrived = reply.arrived().unwrap_or(begun);
        let found = self.registry.find(request.key);
        let series = match &found {
            Ok(object) => series_of(all, self, request, object),
            Err(_) => all.served_unknown(),
        };
        let is_active = found.as_ref().is_ok_and(|object| object.is_active());
        let is_known = found.is_ok();
        // The request finds it again: a servant must not be held any longer.
        drop(found);
        series.begin();
        if let Some(peer) = request.peer {
            peer.count_request();
        }
        let served = catch_unwind(AssertUnwindSafe(|| {
            self.try_serve::<true>(request, arguments, reply)
        }));
        if reply.is_moved() {
            series.take_back();
            return None;
        }
        let panicked = served.is_err();
        let failed = conclude(request, served, reply);
        let ended = Instant::now();
        let end = match failed {
            Some(exception) => {
                all.count_raised(exception);
                if panicked {
                    all.count_panic();
                }
                if exception.completed == Completion::No {
                    match (is_known, exception.kind) {
                        (false, _) => all.count_refused(Refusal::UnknownObject),
                        (true, ExceptionKind::Timeout) => series.note_late(false),
                        (true, _) if !is_active => all.count_refused(Refusal::NotActive),
                        _ => {}
                    }
                }
                End::SystemException
            }
            None if reply.is_raised() => End::UserException,
            None if request.response == ResponseFlags::Full => End::Results,
            None => End::Oneway,
        };
        let deadline = request.expiry.deadline().instant();
        if deadline.is_some_and(|deadline| (begun..ended).contains(&deadline)) {
            series.note_late(true);
        }
        series.end(ended.saturating_duration_since(arrived), end);
        failed
    }
}
