// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hash by which a table identifies the program that it was made for.

use std::collections::BTreeMap;

use crate::info::{DependencyKind, Handle, RtInfo};
use crate::repository::Repository;

/// The hash of no operations: the offset basis of FNV-1a.
pub(crate) const HASH_OF_NOTHING: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a over the registration of a program: names in the order of their handles, and all
/// requirements except execution times, which calibration measures again in each configuration run.
/// Dependencies that were recorded from calls are excluded: there is no recording at run time.
pub(crate) fn hash_of(repository: &Repository) -> u64 {
    let mut hash = Fnv(HASH_OF_NOTHING);
    for info in repository.infos() {
        hash.number(info.entry_point.len() as u64);
        hash.bytes(info.entry_point.as_bytes());
        hash.number(u64::from(info.state.is_disabled()));
        // The rest is not part of schedules.
        if !info.state.is_disabled() {
            timing(&mut hash, info);
            dependencies(&mut hash, repository, info);
        }
    }
    hash.0
}

fn timing(hash: &mut Fnv, info: &RtInfo) {
    let it = &info.timing;
    hash.number(it.period.ticks());
    hash.number(it.quantum.ticks());
    hash.number(it.criticality as u64);
    hash.number(it.importance as u64);
    hash.number(u64::from(it.threads));
    hash.number(it.kind as u64);
}

/// Independent of their order: several on the same operation add up, as they do in schedules.
fn dependencies(hash: &mut Fnv, repository: &Repository, info: &RtInfo) {
    let mut calls: BTreeMap<(Handle, DependencyKind), u64> = BTreeMap::new();
    for it in repository.followed(info) {
        *calls.entry((it.on, it.kind)).or_default() += u64::from(it.calls);
    }
    for ((on, kind), calls) in &mut calls {
        *calls = calls.saturating_sub(repository.recorded(info.handle, *on, *kind));
    }
    calls.retain(|_, calls| *calls > 0);
    hash.number(calls.len() as u64);
    for ((on, kind), calls) in calls {
        hash.number(u64::from(on.number()));
        hash.number(kind as u64);
        hash.number(calls);
    }
}

struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }
}
