// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cost of a priority look-up in tables of any length: instructions by callgrind, as the
//! difference of two runs of this program.

use std::hint::black_box;
use std::path::Path;

use clap::Args;
use orbium_cli::Failure;
use orbium_cli::stage::scratch::Scratch;
use orbium_sched::{Dispatching, Entry, Queue, Table};
use xtask::shell;

use crate::peer::server::Under;
use crate::report::bound::Bound;
use crate::report::results::Results;
use crate::report::row::Row;
use crate::statistics::callgrind::Profile;

/// Lengths of the compared tables.
const INFOS: [usize; 2] = [10, 10_000];

/// Numbers of look-ups of the shorter run and of the longer one.
const LOOKUPS: [u64; 2] = [1_000, 101_000];

/// A prime number: the look-ups visit all entries of a table in an order without a pattern.
const STRIDE: usize = 7_919;

/// Number of queues of a table.
const QUEUES: usize = 5;

/// The arguments of the program that callgrind runs.
#[derive(Debug, Args)]
pub(crate) struct LookupArgs {
    /// RT_Infos of the table
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    infos: u32,
    /// Number of look-ups
    #[arg(long, value_name = "N")]
    lookups: u64,
}

/// Looks priorities up.
pub(crate) fn run(args: &LookupArgs) -> Result<(), Failure> {
    let table = table(args.infos as usize);
    let mut index = 0;
    let mut sum = 0_i64;
    for _ in 0..args.lookups {
        let entry = black_box(table).entry(black_box(index));
        let entry = entry.map_err(|error| Failure::because(error.to_string()))?;
        let queue = table.queue_of(entry).map_or(0, |(_, queue)| queue.priority);
        sum += i64::from(entry.assignment.priority) - i64::from(queue);
        index = (index + STRIDE) % table.entries.len();
    }
    match sum {
        0 => Ok(()),
        _ => Err(Failure::because(
            "an entry has not the priority of its queue",
        )),
    }
}

fn table(infos: usize) -> &'static Table {
    let entry = |number: usize| {
        let queue = (number % QUEUES) as u32;
        Entry::new("operation", (queue, 0, 99 - queue as i32), 500_000, 10_000)
    };
    let queue = |number: i32| Queue {
        priority: 99 - number,
        dispatching: Dispatching::Static,
    };
    let entries: Vec<_> = (0..infos).map(entry).collect();
    let queues: Vec<_> = (0..QUEUES as i32).map(queue).collect();
    Box::leak(Box::new(Table {
        entries: entries.leak(),
        queues: queues.leak(),
        ..Table::EMPTY
    }))
}

/// Counts the instructions of a look-up in each table.
pub(super) fn measure(all: &mut Results) -> Result<(), Failure> {
    if !shell::has("valgrind") {
        return Err(Failure::because("valgrind is not installed"));
    }
    let scratch = Scratch::new()?;
    let file = scratch.folder().join("callgrind.lookup");
    let mut counts = Vec::new();
    for infos in INFOS {
        let [shorter, longer] = LOOKUPS.map(|lookups| profile(&file, infos, lookups));
        let calls = LOOKUPS[1] - LOOKUPS[0];
        let count = longer?.per_call(shorter?, calls).instructions;
        let figure = format!("instructions of a look-up, {infos} RT_Infos");
        all.rows.push(Row::new(&figure, "orbium", Some(count)));
        counts.push(count);
    }
    let [few, many] = counts[..] else {
        return Ok(());
    };
    let figure = format!("instructions of a look-up, {} over {}", INFOS[1], INFOS[0]);
    // With 100,000 look-ups, the cost of parsing the program's arguments is less than a hundredth.
    let ratio = (many / few * 100.0).round() / 100.0;
    let row = Row::new(&figure, "orbium", Some(ratio));
    all.rows.push(row.bounded(Bound::AtMost(1.0)));
    Ok(())
}

fn profile(file: &Path, infos: usize, lookups: u64) -> Result<Profile, Failure> {
    let failed = |reason: String| Failure::because(format!("look-ups by callgrind: {reason}"));
    let own = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Under::Callgrind(file.to_owned()).command(&own);
    command.arg("lookup");
    command.args(["--infos", &infos.to_string()]);
    command.args(["--lookups", &lookups.to_string()]);
    let status = command
        .status()
        .map_err(|error| failed(error.to_string()))?;
    if status.success() {
        Profile::read(file).map_err(failed)
    } else {
        Err(failed(status.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_looked_up() {
        for infos in INFOS {
            let table = table(infos);
            // The stride shares no factor with the length.
            let visited: std::collections::HashSet<_> =
                (0..infos).map(|number| number * STRIDE % infos).collect();
            assert_eq!(visited.len(), table.entries.len());
            let lookups = 2 * infos as u64;
            let infos = u32::try_from(infos).unwrap();
            assert!(run(&LookupArgs { infos, lookups }).is_ok());
        }
    }
}
