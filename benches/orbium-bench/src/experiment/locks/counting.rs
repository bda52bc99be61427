// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts for every architecture.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::args::LocksArgs;
use super::results::{Findings, Reading, Side};
use super::{figures, kernel, results};
use crate::peer::architecture::{Architecture, Kind, architectures};
use crate::peer::programs::Peers;
use crate::report::file::write;
use crate::report::results::Results;
use crate::stage::lock_counts::LockCounts;
use crate::stage::real_time::{HIGH, can_be_real_time};
use crate::stage::test_bed::{How, TestBed};
use orbium_cli::Failure;
use orbium_cli::output;
use orbium_cli::stage::progress::Progress;
use orbium_cli::stage::scratch::Scratch;

/// Numbers of client threads: one, without contention, and the ten of the paper.
const THREADS: [usize; 2] = [1, 10];

/// Number of calls of each thread in a quick run.
const QUICK: u64 = 400;
const WHOLE: u64 = 2_000;

/// Time-out of the calls of a run, under strace too.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn run(args: &LocksArgs) -> Result<(), Failure> {
    let peers = Peers::find(&args.peers);
    let mut notes = peers.absent();
    let has_strace = kernel::can_trace();
    if !has_strace {
        notes.push(
            "Operations in the kernel are not counted: there is no strace that may trace here."
                .to_owned(),
        );
    }
    if peers.jacorb().is_some() {
        notes.push("JacORB: what Java does with its own locks cannot be counted.".to_owned());
    }
    if let Err(reason) = can_be_real_time(HIGH) {
        notes.push(format!("Lanes run at no real-time priority: {reason}"));
    }
    let scratch = Scratch::new()?;
    let all = architectures(&peers);
    let calls = args
        .calls
        .unwrap_or(if args.results.quick { QUICK } else { WHOLE });
    let mut progress = Progress::new(all.len());
    let mut found = Vec::new();
    for (number, architecture) in all.iter().enumerate() {
        progress.step(&architecture.name);
        let files = ["server", "client"].map(|side| scratch.path(&format!("{number}-{side}")));
        let files = files.map(PathBuf::from);
        let counter = Counter {
            peers: &peers,
            files: has_strace.then_some(&files),
        };
        match counter.count(architecture, calls) {
            Ok(counted) => found.extend(counted),
            Err(failure) => notes.push(format!(
                "{} is left out: {}",
                architecture.name,
                failure.sentence()
            )),
        }
        write(&args.svg, &figures::draw(&found)?)?;
        as_results(&found, &notes, calls).keep(&args.results)?;
    }
    progress.clear();
    for threads in THREADS {
        output::print(&results::to_text(&found, threads))?;
    }
    as_results(&found, &notes, calls).finish(&args.results, Some(&args.svg))
}

fn as_results(found: &[Findings], notes: &[String], calls: u64) -> Results {
    Results {
        rows: results::rows(found),
        notes: notes.to_vec(),
        own: json!({
            "calls_of_each_thread": calls,
            "architectures": found.iter().map(Findings::to_json).collect::<Value>(),
        }),
    }
}

struct Counter<'a> {
    peers: &'a Peers,
    /// The output files of strace for server and client.
    files: Option<&'a [PathBuf; 2]>,
}

impl Counter<'_> {
    fn count(&self, architecture: &Architecture, calls: u64) -> Result<Vec<Findings>, Failure> {
        let how = How {
            counted: true,
            strace: self
                .files
                .map(|[server, client]| (server.as_path(), client.as_path())),
            ..How::default()
        };
        let mut test_bed = TestBed::start(architecture, self.peers, how)?;
        let mut found = Vec::new();
        for threads in THREADS {
            // Connections are opened in the first run.
            self.run(&mut test_bed, threads, 1)?;
            let (client, server) = self.run(&mut test_bed, threads, calls / 4 + 1)?;
            let (more_client, more_server) =
                self.run(&mut test_bed, threads, calls + calls / 4 + 1)?;
            found.push(Findings {
                architecture: architecture.clone(),
                threads,
                client: Side::between(client, more_client),
                server: Side::between(server, more_server),
            });
        }
        // strace reports nothing further for it.
        if architecture.kind == Kind::Jacorb {
            return Ok(found);
        }
        test_bed.end().map(|()| found)
    }

    /// Makes so many calls in every thread; returns the counts of that time.
    fn run(
        &self,
        test_bed: &mut TestBed,
        threads: usize,
        calls: u64,
    ) -> Result<(Reading, Reading), Failure> {
        let server_before = LockCounts::from_json(&test_bed.ask_server("locks")?);
        let futexes = || {
            self.files
                .map(|files| files.each_ref().map(|file| kernel::futex_calls(file)))
        };
        let before = futexes();
        let found = test_bed.ask(&format!("calls {threads} {calls}"), PATIENCE)?;
        let after = futexes();
        let server_after = LockCounts::from_json(&test_bed.ask_server("locks")?);
        let calls = found["calls"].as_u64().unwrap_or(0);
        let [server, client] = match after.zip(before) {
            Some((after, before)) => {
                [0, 1].map(|side| Some(after[side].saturating_sub(before[side])))
            }
            None => [None; 2],
        };
        let locks = server_after.zip(server_before);
        let reading = |locks, futexes| Reading {
            calls,
            locks,
            futexes,
        };
        Ok((
            reading(LockCounts::from_json(&found["locks"]), client),
            reading(locks.map(|(after, before)| after.since(before)), server),
        ))
    }
}
