// SPDX-License-Identifier: MIT OR Apache-2.0
//! The project's tasks: `cargo xtask test`, `bench`, `soak`, `structure`, `tidy`, `conformance`,
//! `book-links` and `minor-codes`.
//!
//! Independent of CORBA: it starts programs, reads their output, and sums up.
#![forbid(unsafe_code)]

mod bench;
mod book;
mod ceiling;
mod conformance;
mod minor_codes;
mod soak;
mod sources;
mod structure;
mod test;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask test [--no-install] [--no-peers] [-- ARGUMENTS OF cargo test]
       cargo xtask bench [FIGURE]… [--quick] [--check] [--docs] [--json FILE]
       cargo xtask soak [FAULT] [--cycles N]
       cargo xtask soak events [--seconds N] [--seed S] [--rate N] [--pause N]
                                [--partition N]
       cargo xtask structure [--check | --lower | --drawing]
       cargo xtask tidy [--check | --lower] [--list]
       cargo xtask conformance [--check | --write]
       cargo xtask book-links < BOOK
       cargo xtask minor-codes

test   installs the other ORBs that the tests need, where it may (root, apt-get),
       builds the peers in interop/, and runs every test of the workspace.
       --no-install  leaves this machine as it is
       --no-peers    builds no peers: the tests that need one are skipped
bench  measures orbium beside a raw socket and omniORB, and prints the table.
       FIGURE        latency, flood, pipelined, instructions, outside, syscalls, scale,
                     collocated, protocols, experiments or all (the default)
       --quick       fewer and shorter runs: a first look, not a result
       --check       fails if a figure misses its bound or could not be measured
       --docs        puts the tables and drawings of the experiments into docs/
       --json FILE   writes every figure to FILE too
soak   makes every fault happen again and again, and fails if another caller was
       touched, or threads, descriptors or memory are left: a line for each.
       FAULT         only those whose names contain it
       --cycles N    instead of 100,000
       events        kills an event channel, the server that stores its events and
                     their consumer at random, and fails if an event is lost, stored
                     twice or out of the order of its source
       --seconds N   instead of 600
       --seed S      the seed that a run has printed: the same kills again
       --rate N      events of each of the three sources in a second, instead of 1,000
       --pause N     milliseconds between two kills at most, instead of 800
       --partition N in the middle of the run nothing passes between channel and server
                     for N more seconds
structure  cycles of files, lengths, branches and switches of the crates, beside
       their bounds
       --check       fails if a figure is above its ceiling in xtask/structure.toml, or
                     docs/crates.svg is out of date
       --lower       writes the figures that fell into that file
       --drawing     writes docs/crates.svg
tidy   counts words in comments and names for which the field has better ones
       --check, --lower  as above, with xtask/tidy.toml
       --list        prints every place
conformance
       prints docs/conformance.md as the marks on the tests make it
       --check       fails if a mark is malformed or the page is out of date
       --write       writes the page
book-links
       what `mdbook build docs` calls: links out of docs/ lead to the repository
minor-codes
       writes docs/minor-codes.md from the table in orbium-giop and the answers in
       xtask/minor-codes.toml; fails if the sources raise other codes than those say
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let chore = arguments.next().unwrap_or_default();
    let outcome = match chore.as_str() {
        _ if asks_for_help() => {
            print!("{USAGE}");
            Ok(())
        }
        "" => Err(format!("which chore?\n{USAGE}")),
        "test" => test::run(arguments),
        "bench" => bench::run(arguments),
        "soak" => soak::run(arguments),
        "structure" => structure::run(arguments),
        "tidy" => tidy::run(arguments),
        "conformance" => conformance::run(arguments),
        "book-links" => book::run(arguments),
        "minor-codes" => minor_codes::run(arguments),
        other => Err(format!("there is no chore {other:?}\n{USAGE}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            // An empty reason: the task has already shown it.
            if !reason.is_empty() {
                eprintln!("xtask: {reason}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Whether help is requested, for a task or for all. Arguments behind `--` are for `cargo test`.
fn asks_for_help() -> bool {
    let mut own = std::env::args().skip(1).take_while(|it| it != "--");
    let first = own.next().unwrap_or_default();
    let help = |argument: &str| matches!(argument, "--help" | "-h");
    first == "help" || help(&first) || own.any(|it| help(&it))
}
