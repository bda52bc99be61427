// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client for each priority, each with an object in a separate lane: C_i calls S_i at P_i.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use orbium::ObjectRef;
use serde_json::{Value, json};

use super::caller::cube_call;
use super::class::Class;
use super::load::died;
use super::pacing::{Found, LOW_PERIOD, periodic, urgent};
use orbium_cli::Failure;

/// Time between the moment when all clients are ready and their first call.
const LEAD: Duration = Duration::from_millis(20);

/// The most urgent clients, up to a number.
pub(crate) struct Ranks<'a> {
    /// The object of each priority from 1 on.
    pub(crate) objects: &'a [&'a ObjectRef],
    pub(crate) clients: usize,
    pub(crate) class: Class,
    pub(crate) time: Duration,
}

impl Ranks<'_> {
    /// Runs all clients, which begin their periods at the same moment: the most urgent one at 20
    /// Hz, the others at 10 Hz.
    pub(crate) fn run(&self) -> Result<Value, Failure> {
        let all = self.objects.len();
        let mut calls = Vec::new();
        for (index, object) in self.objects.iter().enumerate() {
            if index + self.clients >= all {
                calls.push((index + 1, cube_call(object)?));
            }
        }
        let barrier = Barrier::new(calls.len());
        let (begin, ends) = (OnceLock::new(), AtomicBool::new(false));
        let (class, barrier, begin, ends) = (self.class, &barrier, &begin, &ends);
        let first = move || *begin.get_or_init(|| Instant::now() + LEAD);
        let time = self.time;
        let client = |priority: usize, call| {
            move || {
                let native = i32::try_from(priority).unwrap_or(i32::MAX);
                let refused = class.apply(native).err();
                let found = if priority == all {
                    urgent(call, time, barrier, first, ends)
                } else {
                    let more = || !ends.load(Ordering::Relaxed);
                    periodic(call, LOW_PERIOD, barrier, first, more)
                };
                Ok((priority, Found { refused, ..found }))
            }
        };
        let found = thread::scope(|scope| {
            let clients: Vec<_> = calls
                .into_iter()
                .map(|(priority, call)| scope.spawn(client(priority, call)))
                .collect();
            let found = clients
                .into_iter()
                .map(|client| client.join().unwrap_or_else(died));
            found.collect::<Result<Vec<(usize, Found)>, Failure>>()
        })?;
        let to_json = |(priority, found): (usize, Found)| {
            json!({
                "priority": priority,
                "nanoseconds": found.nanoseconds,
                "since_due": found.since_due,
                "failed": found.failed,
                "refused": found.refused,
            })
        };
        Ok(found.into_iter().map(to_json).collect())
    }
}
