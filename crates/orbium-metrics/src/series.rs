// SPDX-License-Identifier: MIT OR Apache-2.0
//! Series of an operation in one lane, and the table of all series.
//!
//! A call finds its series without a lock: in a table of cells that are set once, by the address of
//! a `static` of generated code that identifies the operation. Threads add to shards, so that
//! threads serving the same operation do not share a cache line.

use std::cell::Cell;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use orbium_invocation::spans::OTHER;
use orbium_sync::lock::Mutex;

use crate::histogram::{Histogram, Recorder};

/// Maximum number of series of an ORB, of all roles and lanes together; further operations share one
/// in each role, with the name [`OTHER`].
const MAX_OPERATIONS: usize = 500;

/// Cells for them: a power of two, at least half of which stays empty.
const CELLS: usize = 1024;

/// Shards of a series on large machines.
const MAX_SHARDS: usize = 8;

/// Side of a call, or another kind of series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Calls that this ORB makes.
    Client,
    /// Requests that this ORB serves.
    Server,
    /// Requests that were queued for a thread of a lane.
    Queue,
}

/// The labels that identify a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) side: Side,
    pub(crate) lane: u32,
    /// The address of the static that identifies the operation, or its table, and the index in the
    /// table.
    pub(crate) at: usize,
    pub(crate) index: usize,
}

impl Key {
    #[inline]
    fn hash(self) -> usize {
        let word = (self.at as u64)
            .wrapping_add((self.index as u64) << 48)
            .wrapping_add(u64::from(self.lane) << 40)
            .wrapping_add(self.side as u64);
        (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize
    }
}

/// The labels of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// `Module::Interface/operation`.
    pub operation: String,
    /// Name of the lane; empty without one.
    pub lane: String,
}

/// Outcome of a call or request, for its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Results.
    Results,
    /// No result is awaited.
    Oneway,
    /// A user exception.
    UserException,
    /// A system exception.
    SystemException,
}

/// Counters of the threads that share a shard.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Shard {
    begun: AtomicU64,
    oneways: AtomicU64,
    user: AtomicU64,
    system: AtomicU64,
    /// Deadlines that passed before the upcall, and during it.
    late_before: AtomicU64,
    late_within: AtomicU64,
    durations: Recorder,
}

/// Series of counters under one label.
#[derive(Debug)]
pub struct Series {
    /// The kind of the series.
    pub side: Side,
    /// Its labels.
    pub label: Label,
    shards: Box<[Shard]>,
}

/// Sums of a series over all threads.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// The number of calls or requests that have begun.
    pub begun: u64,
    /// The number of oneways that have ended.
    pub oneways: u64,
    /// The number ended with a user exception.
    pub user: u64,
    /// The number ended with a system exception.
    pub system: u64,
    /// Deadlines that had passed before the upcall.
    pub late_before: u64,
    /// Deadlines that passed during the upcall.
    pub late_within: u64,
    /// The durations of those that have ended.
    pub durations: Histogram,
}

impl Sums {
    /// Adds the sums of another series with the same labels.
    pub fn merge(&mut self, other: &Self) {
        self.begun = self.begun.wrapping_add(other.begun);
        self.oneways += other.oneways;
        self.user += other.user;
        self.system += other.system;
        self.late_before += other.late_before;
        self.late_within += other.late_within;
        self.durations.merge(&other.durations);
    }
}

fn shards() -> usize {
    // 0 until computed, by several threads if they race. No `OnceLock`: a forked child would
    // deadlock on one that the parent was initialising.
    static SHARDS: AtomicUsize = AtomicUsize::new(0);
    match SHARDS.load(Relaxed) {
        0 => {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            let shards = processors.next_power_of_two().min(MAX_SHARDS);
            SHARDS.store(shards, Relaxed);
            shards
        }
        known => known,
    }
}

/// A number for the calling thread, assigned in order.
#[inline]
fn thread_number() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    NUMBER.with(|number| {
        if number.get() == usize::MAX {
            number.set(THREADS.fetch_add(1, Relaxed));
        }
        number.get()
    })
}

impl Series {
    pub(crate) fn new(side: Side, label: Label) -> Self {
        Self {
            side,
            label,
            shards: (0..shards()).map(|_| Shard::default()).collect(),
        }
    }

    #[inline]
    fn shard(&self) -> &Shard {
        // The number of shards is a power of two.
        &self.shards[thread_number() & (self.shards.len() - 1)]
    }

    /// Counts the beginning of a call or request.
    #[inline]
    pub fn begin(&self) {
        self.shard().begun.fetch_add(1, Relaxed);
    }

    /// Withdraws a beginning: the call or request continues elsewhere, and is counted there.
    pub fn take_back(&self) {
        self.shard().begun.fetch_sub(1, Relaxed);
    }

    /// Counts the end of a call or request.
    #[inline]
    pub fn end(&self, duration: Duration, end: End) {
        let shard = self.shard();
        shard.durations.record(duration);
        match end {
            End::Results => return,
            End::Oneway => &shard.oneways,
            End::UserException => &shard.user,
            End::SystemException => &shard.system,
        }
        .fetch_add(1, Relaxed);
    }

    /// Records a duration without a beginning.
    pub(crate) fn record(&self, duration: Duration) {
        self.shard().durations.record(duration);
    }

    /// Counts a missed deadline: before the upcall, or during it.
    #[cold]
    pub fn note_late(&self, within: bool) {
        let shard = self.shard();
        if within {
            &shard.late_within
        } else {
            &shard.late_before
        }
        .fetch_add(1, Relaxed);
    }

    /// The sums so far; never more ends than beginnings.
    #[must_use]
    pub fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for shard in &self.shards {
            sums.oneways += shard.oneways.load(Relaxed);
            sums.user += shard.user.load(Relaxed);
            sums.system += shard.system.load(Relaxed);
            sums.late_before += shard.late_before.load(Relaxed);
            sums.late_within += shard.late_within.load(Relaxed);
            shard.durations.add_to(&mut sums.durations);
        }
        // Last, so that there are no more ends than beginnings.
        for shard in &self.shards {
            sums.begun = sums.begun.wrapping_add(shard.begun.load(Relaxed));
        }
        sums
    }
}

struct Entry {
    key: Key,
    series: Series,
}

/// All series of an ORB.
pub(crate) struct Table {
    cells: Box<[OnceLock<Box<Entry>>]>,
    used: Mutex<usize>,
    is_full: AtomicBool,
    /// One for each side.
    others: [Series; 3],
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").finish_non_exhaustive()
    }
}

impl Default for Table {
    fn default() -> Self {
        let other = |side| {
            let label = Label {
                operation: OTHER.into(),
                lane: String::new(),
            };
            Series::new(side, label)
        };
        Self {
            cells: (0..CELLS).map(|_| OnceLock::new()).collect(),
            used: Mutex::new(0),
            is_full: AtomicBool::new(false),
            others: [Side::Client, Side::Server, Side::Queue].map(other),
        }
    }
}

impl Table {
    /// The series with that key; `label` names it if it is new.
    #[inline]
    pub(crate) fn get(&self, key: Key, label: impl FnOnce() -> Label) -> &Series {
        let mut place = key.hash() & (CELLS - 1);
        while let Some(cell) = self.cells[place].get() {
            if cell.key == key {
                return &cell.series;
            }
            place = (place + 1) & (CELLS - 1);
        }
        if self.is_full.load(Relaxed) {
            self.other(key.side)
        } else {
            self.add(key, label())
        }
    }

    /// The shared series of operations without a separate one.
    pub(crate) fn other(&self, side: Side) -> &Series {
        &self.others[side as usize]
    }

    #[cold]
    fn add(&self, key: Key, label: Label) -> &Series {
        let mut used = self.used.lock();
        let mut place = key.hash() & (CELLS - 1);
        // Another thread may have added it, or others in its place.
        while let Some(cell) = self.cells[place].get() {
            if cell.key == key {
                return &cell.series;
            }
            place = (place + 1) & (CELLS - 1);
        }
        if *used == MAX_OPERATIONS {
            return self.other(key.side);
        }
        *used += 1;
        if *used == MAX_OPERATIONS {
            self.is_full.store(true, Relaxed);
            orbium_trace::log::warn!(
                target: "orbium::metrics", most = MAX_OPERATIONS,
                "metrics: further operations are counted as one"
            );
        }
        let series = Series::new(key.side, label);
        &self.cells[place]
            .get_or_init(|| Box::new(Entry { key, series }))
            .series
    }

    /// All series, the shared ones last.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Series> {
        let own = self.cells.iter().filter_map(OnceLock::get);
        own.map(|cell| &cell.series).chain(&self.others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(at: usize) -> Key {
        Key {
            side: Side::Server,
            lane: 0,
            at,
            index: 0,
        }
    }

    fn label(at: usize) -> Label {
        Label {
            operation: at.to_string(),
            lane: String::new(),
        }
    }

    #[test]
    fn as_many_have_series_of_their_own_as_there_may_be_and_the_rest_share_one() {
        let table = Table::default();
        for at in 0..MAX_OPERATIONS + 10 {
            let series = table.get(key(at * 8), || label(at));
            series.begin();
            series.end(Duration::from_micros(1), End::Results);
        }
        for at in 0..MAX_OPERATIONS {
            let found = table.get(key(at * 8), || panic!("it is there"));
            assert_eq!(found.label, label(at));
            assert_eq!(found.sums().begun, 1);
        }
        assert_eq!(table.other(Side::Server).sums().durations.count(), 10);
        assert_eq!(table.all().count(), MAX_OPERATIONS + 3);
    }

    /// Regression: requests queued in a lane without a series were counted as ended requests.
    #[test]
    fn a_lane_without_a_series_adds_no_requests() {
        let table = Table::default();
        for at in 0..MAX_OPERATIONS {
            table.get(key(at * 8), || label(at));
        }
        let queue = Key {
            side: Side::Queue,
            ..key(0)
        };
        table
            .get(queue, || label(0))
            .record(Duration::from_micros(1));
        for side in [Side::Client, Side::Server] {
            assert_eq!(table.other(side).sums().durations.count(), 0);
        }
    }

    #[test]
    fn concurrent_counts_are_complete() {
        let table = Table::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..1000_usize {
                        let at = round % 7;
                        let series = table.get(key(at), || label(at));
                        series.begin();
                        series.end(Duration::from_nanos(round as u64), End::UserException);
                    }
                });
            }
        });
        let sums: Vec<Sums> = table.all().map(Series::sums).collect();
        assert_eq!(sums.iter().map(|it| it.begun).sum::<u64>(), 4000);
        assert_eq!(sums.iter().map(|it| it.user).sum::<u64>(), 4000);
        let counted = sums.iter().map(|it| it.durations.count());
        assert_eq!(counted.sum::<u64>(), 4000);
    }
}
