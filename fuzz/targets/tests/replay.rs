// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replay of the fuzzing corpora on stable Rust, and of every input that once broke a law.

use std::path::{Path, PathBuf};
use std::{fs, panic};

fn inputs(kind: &str, target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(kind)
        .join(target);
    let Ok(entries) = fs::read_dir(&folder) else {
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry of a folder").path())
        .collect();
    files.sort();
    files
}

fn replay(target: &str) {
    let run = orbium_fuzz_targets::target(target).expect("a target");
    let corpus = inputs("corpus", target);
    assert!(!corpus.is_empty(), "the corpus of {target} is missing");
    let mut broken = Vec::new();
    let regressions = inputs("regressions", target);
    for file in corpus.iter().chain(&regressions) {
        let input = fs::read(file).expect("a readable file");
        if panic::catch_unwind(|| run(&input)).is_err() {
            broken.push(file);
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Conformance: robustness - fuzz target `messages`, its corpus replayed
#[test]
fn messages_keep_their_laws() {
    replay("messages");
}

/// Conformance: RT - RIOP: the service context, written and read, hostile ones
#[test]
fn contexts_of_riop_keep_their_laws() {
    replay("riop");
}

/// Conformance: robustness - fuzz target `repository`: contents, IDL and remote repositories, its
/// corpus replayed
#[test]
fn repositories_keep_their_laws() {
    replay("repository");
}

/// Conformance: robustness - fuzz target `constraints`, its corpus replayed
#[test]
fn constraints_keep_their_laws() {
    replay("constraints");
}

/// Conformance: robustness - fuzz target `subscriptions`, its corpus replayed
#[test]
fn subscriptions_keep_their_laws() {
    replay("subscriptions");
}

#[test]
fn connections_keep_their_laws() {
    replay("connection");
}

#[test]
fn frames_and_datagrams_keep_their_laws() {
    replay("messaging");
}

/// Conformance: robustness - fuzz target `cdr`: generated types
#[test]
fn values_keep_their_laws() {
    replay("cdr");
}

/// Conformance: CDR - values: indirections that cannot be
#[test]
fn graphs_of_values_keep_their_laws() {
    replay("values");
}

/// Conformance: robustness - fuzz target `references`: IOR and corbaloc
#[test]
fn references_keep_their_laws() {
    replay("references");
}

/// Conformance: robustness - fuzz target `idl`
#[test]
fn idl_is_compiled_or_refused() {
    replay("idl");
}

#[cfg(target_os = "linux")]
#[test]
fn rings_keep_their_laws() {
    replay("rings");
}

/// Conformance: robustness - fuzz target `json`: JSON of any form as a value
#[test]
fn json_keeps_its_laws() {
    replay("json");
}
