// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report of a failed call, from its notes.

use std::time::Duration;

use orbium_giop::{Ior, SystemException};
use orbium_transport::Stamp;

use orbium_channel::OfferedProtocol;

use super::failure::{Failure, Phase, Step};
use super::notes::{Note, cut, remember, sentence, take_claimed};

/// Limit of the steps reported with a failure.
const MAX_STEPS: usize = 16;
/// Bytes of an object key that are shown.
const MAX_KEY_LENGTH: usize = 64;

/// A call that has failed.
#[derive(Debug)]
pub struct Failed<'s> {
    /// The reference of the call.
    pub object: &'s Ior,
    /// The name of the operation on the wire.
    pub operation: &'s str,
    /// The time of the call.
    pub begun: Stamp,
    /// The number of retries of the request.
    pub retries: u32,
    /// The number of forwards by the server.
    pub forwards: u32,
}

impl Failed<'_> {
    /// Stores the story of a call of this thread, from its notes; returns the phase of the failure.
    #[cold]
    pub fn tell(&self, exception: SystemException) -> Phase {
        let (notes, offered) = take_claimed(self.begun);
        let failure = self.failure(exception, &notes, offered);
        let phase = failure.phase();
        remember(failure);
        phase
    }

    /// The story of a call, from its notes.
    #[cold]
    pub fn failure(
        &self,
        exception: SystemException,
        notes: &[Note],
        offered: Vec<OfferedProtocol>,
    ) -> Failure {
        let mut steps = Vec::new();
        let mut before = self.begun;
        let skipped = notes.len().saturating_sub(MAX_STEPS);
        for (place, note) in notes.iter().enumerate() {
            let since = note.since.unwrap_or(before);
            before = note.at;
            if place >= skipped {
                steps.push(Step {
                    phase: note.phase,
                    address: note.channel.as_ref().map(|it| cut(it.to_string())),
                    elapsed: note.at.since(since),
                    result: note.result.clone(),
                });
            }
        }
        let elapsed = self.begun.elapsed();
        if steps.is_empty() {
            steps.push(Step {
                phase: Phase::Begin,
                address: None,
                elapsed,
                result: sentence(exception),
            });
        }
        let failure = Failure {
            exception,
            operation: cut(self.operation.to_owned()),
            interface: cut(self.object.type_id.clone()),
            object: key_of(self.object),
            steps,
            elapsed,
            retries: self.retries,
            forwards: self.forwards,
            offered,
        };
        log(&failure);
        failure
    }
}

/// One event for subscribers: the caller has the error, so its level is low.
fn log(failure: &Failure) {
    let elapsed: Duration = failure.elapsed;
    orbium_trace::log::debug!(
        target: "orbium::call",
        operation = %failure.operation,
        object = %failure.object,
        address = failure.address(),
        phase = failure.phase().name(),
        elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
        error = %failure.exception,
        cause = %failure.reasons(),
        "call failed",
    );
    let _ = elapsed;
}

/// The displayed key of an object.
fn key_of(object: &Ior) -> String {
    let mut profiles = object.profiles.iter();
    let key = profiles.find_map(orbium_giop::TaggedProfile::object_key);
    let key = key.unwrap_or_default();
    let mut shown = String::new();
    for octet in key.iter().take(MAX_KEY_LENGTH) {
        match octet {
            b'%' | b'`' | b'\\' => shown.push_str(&format!("%{octet:02x}")),
            0x21..=0x7E => shown.push(char::from(*octet)),
            _ => shown.push_str(&format!("%{octet:02x}")),
        }
    }
    if key.len() > MAX_KEY_LENGTH {
        shown.push('…');
    }
    shown
}
