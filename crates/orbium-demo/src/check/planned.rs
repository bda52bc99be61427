// SPDX-License-Identifier: MIT OR Apache-2.0
//! Planned checks, and their execution.

use orbium::Orb;

use super::facts::Facts;
use super::verdict::{Check, Outcome, Verdict, outcome};
use crate::kitchen::Peer;

/// The environment of a peer's checks.
pub(super) struct World {
    pub(super) orb: Orb,
    pub(super) peer: Peer,
    pub(super) facts: Facts,
}

/// The requirements of a check on messages.
#[derive(Clone, Copy)]
pub(super) enum Needs {
    Nothing,
    /// `wchar` or `wstring`.
    Wide,
    /// Characters beyond ASCII in strings.
    CodeSet,
}

/// A planned check: its name, its requirements, its function.
pub(super) type Planned<W> = (&'static str, Needs, fn(&W) -> Verdict);

pub(super) fn run<W>(planned: &[Planned<W>], world: &W, facts: &Facts) -> Vec<Check> {
    let one = |(name, needs, check): &Planned<W>| Check {
        name,
        outcome: match missing(*needs, facts) {
            Some(why) => Outcome::Skipped(why.to_owned()),
            None => outcome(check(world)),
        },
    };
    planned.iter().map(one).collect()
}

pub(super) fn missing(needs: Needs, facts: &Facts) -> Option<&'static str> {
    match needs {
        Needs::Wide if !facts.wide => Some("wide characters cannot be sent to this peer"),
        Needs::CodeSet if !facts.code_sets => Some("no code sets are negotiated with this peer"),
        _ => None,
    }
}
