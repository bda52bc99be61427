// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium-bench inversion --profile`: figures 26 to 29. Processor time of ten clients, one of high
//! priority and nine of low priority, on both sides.

mod drawing;
mod shares;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::args::InversionArgs;
use crate::peer::architecture::{Architecture, Kind};
use crate::peer::programs::Peers;
use crate::report::file::write;
use crate::report::results::Results;
use crate::stage::clock::{Span, now, stolen, stolen_since};
use crate::stage::test_bed::{How, TestBed};
use crate::statistics::recorder;
use crate::statistics::samples::{Frame, samples};
use orbium_cli::stage::progress::Progress;
use orbium_cli::stage::scratch::Scratch;
use orbium_cli::{Failure, output};
use shares::{Profile, Side};

/// Number of client threads, one of them of high priority.
const CLIENTS: usize = 10;
/// Time before samples count: connections are opened, and Java compiles.
const WARM_UP: Duration = Duration::from_millis(500);

const WHOLE: Duration = Duration::from_secs(4);
const QUICK: Duration = Duration::from_millis(300);

const METHOD: &str = "perf samples both processes by the clock of the processor; a sample counts for the innermost \
     function, or in the kernel for what that was entered for (futex: synchronisation). A function that the compiler \
     put into another one, such as taking a free lock, counts as that one.";
const JAVA: &str =
    "JacORB: functions that Java interprets, and what the virtual machine does itself, are rest.";

pub(super) fn run(args: &InversionArgs) -> Result<(), Failure> {
    let peers = Peers::find(&args.peers);
    let all = args.chosen(&peers)?;
    let scratch = Scratch::new()?;
    recorder::try_out(scratch.folder())?;
    let usual = if args.results.quick { QUICK } else { WHOLE };
    let time = args.seconds.unwrap_or(usual);
    let mut results = Results {
        notes: std::iter::once(METHOD.to_owned())
            .chain(peers.absent())
            .collect(),
        own: json!({}),
        ..Results::default()
    };
    let has_java = all.iter().any(|own| own.kind == Kind::Jacorb);
    results.notes.extend(has_java.then(|| JAVA.to_owned()));
    let begin = stolen();
    let mut progress = Progress::new(all.len());
    let mut found = Vec::new();
    for architecture in &all {
        progress.step(&format!("profile: {}", architecture.name));
        match measure(architecture, &peers, &scratch, time) {
            Ok(profile) => found.push(profile),
            Err(failure) => results.notes.push(format!(
                "{} is left out: {}",
                architecture.name,
                failure.sentence()
            )),
        }
        write(&args.svg, &drawing::draw(&found)?)?;
        results.own["profile"] = found.iter().map(Profile::to_json).collect::<Value>();
        results.keep(&args.results)?;
    }
    progress.clear();
    results.rows = found.iter().flat_map(Profile::rows).collect();
    results.notes.extend(stolen_since(begin));
    output::print(&format!("{}\n", shares::to_text(&found)))?;
    results.finish(&args.results, Some(&args.svg))?;
    results.publish(&args.docs, "profile", args.results.quick)
}

fn measure(
    architecture: &Architecture,
    peers: &Peers,
    scratch: &Scratch,
    time: Duration,
) -> Result<Profile, Failure> {
    let files = ["server", "client"].map(|side| scratch.folder().join(side));
    let [server, client] = &files;
    let how = How {
        samples: Some((server.as_path(), client.as_path())),
        ..How::default()
    };
    let mut test_bed = TestBed::start(architecture, peers, how)?;
    let command = match architecture.kind {
        Kind::Orbium => "both",
        // One lane serves both priorities.
        _ => "load",
    };
    let mut call =
        |time: Duration| test_bed.ask(&format!("{command} {CLIENTS} {}", time.as_millis()), time);
    call(WARM_UP)?;
    let begin = now();
    let answer = call(time)?;
    let end = now();
    let calls = answer["calls"].as_u64().unwrap_or(0);
    test_bed.end()?;
    let side = |file: &Path| -> Result<Side, Failure> {
        let text = recorder::text(file, Span { begin, end })?;
        if architecture.kind == Kind::Jacorb {
            remove_symbols(&text);
        }
        Ok(Side::of(&text, calls))
    };
    Ok(Profile {
        architecture: architecture.clone(),
        calls,
        client: side(client)?,
        server: side(server)?,
    })
}

/// Removes the files in which Java has written its compiled symbols.
fn remove_symbols(text: &str) {
    let all = samples(text).into_iter().flatten();
    let files: BTreeSet<&str> = all
        .filter(Frame::is_compiled_by_java)
        .map(|frame| frame.object)
        .collect();
    for file in files {
        // Some files were never written.
        let _ = std::fs::remove_file(file);
    }
}
