// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory cost of a high limit of open files. A container may allow a billion of them; tables
//! of that size cost other ORBs 20 MB in every process.
#![cfg(target_os = "linux")]

use std::cell::Cell;

use orbium_testkit::{Served, each_strategy, held_octets, in_own_process};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Heap that a server and a client of each strategy take, together.
fn heap_of_orbs() -> usize {
    let most = Cell::new(0);
    each_strategy(|strategy| {
        let before = held_octets();
        let served = Served::new(strategy);
        let (client, target) = served.client();
        assert_eq!(target.echo_long(7), Ok(7));
        most.set(most.get().max(held_octets() - before));
        client.shutdown(true).unwrap();
        served.end();
    });
    most.get()
}

/// The hard limit too, where this process may raise it; otherwise up to that.
fn limit_open_files(files: u64) {
    let wanted = Rlimit {
        current: Some(files),
        maximum: Some(files.max(1_000_000)),
    };
    if setrlimit(Resource::Nofile, wanted).is_err() {
        let maximum = getrlimit(Resource::Nofile).maximum;
        let current = maximum.map_or(files, |most| most.min(files));
        let allowed = Rlimit {
            current: Some(current),
            maximum,
        };
        setrlimit(Resource::Nofile, allowed).unwrap();
    }
}

/// Conformance: complaint 6 - tables as large as the limit of open files: 20 MB more in each
/// container
#[test]
fn a_high_limit_of_open_files_costs_no_memory() {
    in_own_process!(|| {
        limit_open_files(256);
        // What is made once is there after the first round.
        heap_of_orbs();
        let few = heap_of_orbs();
        limit_open_files(1_000_000);
        let many = heap_of_orbs();
        let (few, many) = (few as f64, many as f64);
        assert!(many < few * 1.5 + 65536.0, "{few} octets became {many}");
    });
}
