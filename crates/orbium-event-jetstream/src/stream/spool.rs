// SPDX-License-Identifier: MIT OR Apache-2.0
//! The spool: events on disk that wait for the stream, in the order of their pushes.

mod appending;
mod group;

use std::fmt;
use std::ops::Range;

use orbium::lock::Mutex;
use redb::{Database, ReadableTable, Table, TableDefinition, WriteTransaction};
use tokio::sync::Notify;

use crate::config::SpoolConfig;
use crate::error::JetStreamError;
use crate::stream::message::{Message, kind_of, subject_prefix};
use crate::stream::spool::group::{Pending, Written};

/// Subject, id and kind of an event, and its payload.
type Entry<'a> = (&'a str, &'a str, &'a str, &'a [u8]);

/// Events by their number, which increases.
const WAITING: TableDefinition<'_, u64, Entry<'static>> = TableDefinition::new("waiting");
/// Events that the stream refuses, by their former number.
const REFUSED: TableDefinition<'_, u64, Entry<'static>> = TableDefinition::new("refused");
/// Bytes of an entry in addition to the texts and payload of its event.
const OVERHEAD: u64 = 64;
/// Bytes of the cache of the file's pages.
const CACHE: usize = 4 << 20;

/// Events that wait for the stream.
pub(crate) struct Spool {
    database: Database,
    max_bytes: u64,
    state: Mutex<State>,
    /// Notified when events have been added.
    filled: Notify,
    written: Written,
}

struct State {
    next: u64,
    events: u64,
    bytes: u64,
    /// Whether pushes go to the stream directly: no earlier event waits.
    is_direct: bool,
    /// Sets that are counted in the bytes, but have no numbers yet.
    pending: Pending,
}

/// Events at the front, with their numbers.
pub(crate) struct Front {
    pub(crate) entries: Vec<(u64, Message)>,
}

impl Front {
    /// The numbers of the first events.
    pub(crate) fn numbers(&self, events: usize) -> Range<u64> {
        let first = self.entries.first().map_or(0, |it| it.0);
        let last = self.entries[..events].last();
        first..last.map_or(first, |it| it.0 + 1)
    }
}

impl Spool {
    /// Opens the file, or creates it.
    ///
    /// # Errors
    /// [`JetStreamError::Spool`]: it cannot be read or written, another channel uses it, or it
    /// contains events of another stream.
    pub(crate) fn open(config: &SpoolConfig, stream: &str) -> Result<Self, JetStreamError> {
        let failed = |why: &dyn fmt::Display| {
            JetStreamError::Spool(format!("{}: {why}", config.path.display()))
        };
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        let database = builder.create(&config.path).map_err(|it| failed(&it))?;
        let state = State::read(&database, stream).map_err(|it| failed(&it.0))?;
        Ok(Self {
            database,
            max_bytes: config.max_bytes,
            state: Mutex::new(state),
            filled: Notify::new(),
            written: Written::default(),
        })
    }

    /// Whether a push may go to the stream directly.
    pub(crate) fn is_direct(&self) -> bool {
        self.state.lock().is_direct
    }

    /// The number of waiting events.
    pub(crate) fn events(&self) -> u64 {
        self.state.lock().events
    }

    /// Returns when events have been added since the last call.
    pub(crate) async fn filled(&self) {
        self.filled.notified().await;
    }

    /// The first events, within these maximum numbers of events and bytes, but one at least.
    ///
    /// # Errors
    /// [`JetStreamError::Spool`].
    pub(crate) fn front(&self, events: usize, bytes: u64) -> Result<Front, JetStreamError> {
        Ok(self.read_front(events, bytes)?)
    }

    fn read_front(&self, events: usize, max_bytes: u64) -> Result<Front, Failed> {
        let mut entries = Vec::new();
        let mut bytes = 0;
        let table = self.database.begin_read()?.open_table(WAITING)?;
        for entry in table.iter()?.take(events) {
            let (number, entry) = entry?;
            let message = message(entry.value())?;
            bytes += size(&message);
            if bytes > max_bytes && !entries.is_empty() {
                break;
            }
            entries.push((number.value(), message));
        }
        Ok(Front { entries })
    }

    /// Removes events that the stream has stored or refuses; the latter are moved to a separate
    /// table.
    ///
    /// # Errors
    /// [`JetStreamError::Spool`]: they are still in the spool.
    pub(crate) fn remove(
        &self,
        sent: Range<u64>,
        refused: Option<&(u64, Message)>,
    ) -> Result<(), JetStreamError> {
        let mut state = self.state.lock();
        let (events, bytes) = self.take(sent, refused)?;
        state.events = state.events.saturating_sub(events);
        state.bytes = state.bytes.saturating_sub(bytes);
        Ok(())
    }

    fn take(
        &self,
        sent: Range<u64>,
        refused: Option<&(u64, Message)>,
    ) -> Result<(u64, u64), Failed> {
        let (mut events, mut bytes) = (0, 0);
        let transaction = self.database.begin_write()?;
        let mut waiting = transaction.open_table(WAITING)?;
        for removed in waiting.extract_from_if(sent, |_, _| true)? {
            bytes += size_of_entry(removed?.1.value());
            events += 1;
        }
        drop(waiting);
        if let Some(refused) = refused {
            set_aside(&transaction, refused)?;
            // Its bytes remain.
            events += 1;
        }
        transaction.commit()?;
        Ok((events, bytes))
    }

    /// Switches to direct pushes, if no event waits; returns whether it did.
    pub(crate) fn end_if_empty(&self) -> bool {
        let mut state = self.state.lock();
        state.is_direct = state.events == 0 && state.pending.is_empty();
        state.is_direct
    }
}

impl State {
    /// The state of the file.
    fn read(database: &Database, stream: &str) -> Result<Self, Failed> {
        let transaction = database.begin_write()?;
        let (next, events, bytes) = sums(&transaction.open_table(WAITING)?, stream)?;
        let (after, _, aside) = sums(&transaction.open_table(REFUSED)?, stream)?;
        transaction.commit()?;
        Ok(Self {
            next: next.max(after),
            events,
            bytes: bytes + aside,
            is_direct: false,
            pending: Pending::default(),
        })
    }
}

/// The number behind the last event of a table, its events, and their bytes.
fn sums(table: &Table<'_, u64, Entry<'static>>, stream: &str) -> Result<(u64, u64, u64), Failed> {
    let (mut next, mut events, mut bytes) = (0, 0, 0);
    for entry in table.iter()? {
        let (number, entry) = entry?;
        if !entry.value().0.starts_with(&subject_prefix(stream)) {
            return Err(Failed("it holds events of another stream".to_owned()));
        }
        next = number.value() + 1;
        events += 1;
        bytes += size_of_entry(entry.value());
    }
    Ok((next, events, bytes))
}

fn set_aside(
    transaction: &WriteTransaction,
    (number, message): &(u64, Message),
) -> Result<(), Failed> {
    transaction.open_table(WAITING)?.remove(number)?;
    let mut aside = transaction.open_table(REFUSED)?;
    aside.insert(number, entry(message))?;
    Ok(())
}

fn entry(message: &Message) -> Entry<'_> {
    let Message { subject, id, .. } = message;
    (subject, id, message.kind, &message.payload)
}

fn message((subject, id, kind, payload): Entry<'_>) -> Result<Message, Failed> {
    let kind = kind_of(kind).ok_or_else(|| Failed("an event is of no kind".to_owned()))?;
    Ok(Message {
        subject: subject.to_owned(),
        id: id.to_owned(),
        kind,
        payload: payload.to_vec(),
    })
}

fn size(message: &Message) -> u64 {
    size_of_entry(entry(message))
}

fn size_of_entry((subject, id, kind, payload): Entry<'_>) -> u64 {
    (subject.len() + id.len() + kind.len() + payload.len()) as u64 + OVERHEAD
}

/// An error of the database.
struct Failed(String);

impl<E: Into<redb::Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.into().to_string())
    }
}

impl From<Failed> for JetStreamError {
    fn from(failed: Failed) -> Self {
        Self::Spool(failed.0)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::thread;

    use orbium_event::new_event;
    use orbium_testkit::spawn_blocked_in;

    use super::*;

    struct File(PathBuf);

    impl File {
        fn new(name: &str) -> Self {
            let name = format!("{name}-{}.spool", std::process::id());
            Self(std::env::temp_dir().join(name))
        }

        fn open(&self, max_bytes: u64) -> Result<Spool, JetStreamError> {
            let path = self.0.clone();
            Spool::open(&SpoolConfig { path, max_bytes }, "NAV")
        }
    }

    impl Drop for File {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    fn event(source: i32) -> Message {
        Message::of_event("NAV", &new_event(16, source), "entry").unwrap()
    }

    fn sources(front: &Front) -> Vec<&str> {
        let subjects = front.entries.iter();
        subjects
            .map(|(_, it)| &it.subject["orb.ev.NAV.t16.".len()..])
            .collect()
    }

    #[test]
    fn events_stay_in_order_over_a_restart() {
        let file = File::new("order");
        let spool = file.open(1 << 20).unwrap();
        assert!(spool.end_if_empty() && spool.is_direct());
        spool.append(&Arc::from([event(1), event(2)])).unwrap();
        assert!(!spool.is_direct() && !spool.end_if_empty());
        drop(spool);
        let spool = file.open(1 << 20).unwrap();
        assert!(!spool.is_direct());
        let third = event(3);
        spool.append(&Arc::from([third.clone()])).unwrap();
        let front = spool.front(10, 1 << 20).unwrap();
        assert_eq!(sources(&front), ["s1", "s2", "s3"]);
        assert_eq!(front.entries[2].1, third);
        assert_eq!(sources(&spool.front(2, 1 << 20).unwrap()), ["s1", "s2"]);
        assert_eq!(sources(&spool.front(3, 1).unwrap()), ["s1"]);
        spool.remove(0..2, None).unwrap();
        assert_eq!((spool.events(), spool.end_if_empty()), (1, false));
        spool.remove(2..3, None).unwrap();
        assert!(spool.end_if_empty());
    }

    /// The first set waits for the file, and those behind it for the first.
    #[test]
    fn sets_that_wait_for_the_disk_are_written_together() {
        let file = File::new("together");
        let each = size(&event(1));
        let spool = file.open(6 * each).unwrap();
        let writing = spool.database.begin_write().unwrap();
        thread::scope(|scope| {
            let append = |source| {
                let (spool, set) = (&spool, Arc::from([event(source)]));
                spawn_blocked_in(scope, move || spool.append(&set))
            };
            let first = append(1);
            let others = [2, 3, 4, 5, 6].map(append);
            assert_eq!(spool.state.lock().pending.sets.len(), 5);
            assert_eq!(append(7).join().unwrap(), Err(JetStreamError::SpoolFull));
            assert!(!spool.end_if_empty() && !spool.is_direct());
            drop(writing);
            for appended in [first].into_iter().chain(others) {
                assert_eq!(appended.join().unwrap(), Ok(()));
            }
        });
        assert_eq!(spool.events(), 6);
        let front = spool.front(10, 1 << 20).unwrap();
        assert_eq!(sources(&front), ["s1", "s2", "s3", "s4", "s5", "s6"]);
        assert_eq!(front.numbers(6), 0..6);
    }

    #[test]
    fn a_full_spool_takes_no_part_of_a_set() {
        let file = File::new("full");
        let each = size(&event(1));
        let spool = file.open(3 * each).unwrap();
        spool.append(&Arc::from([event(1), event(2)])).unwrap();
        let full = spool.append(&Arc::from([event(3), event(4)])).unwrap_err();
        assert_eq!(full, JetStreamError::SpoolFull);
        assert_eq!(spool.events(), 2);
        spool.remove(0..2, None).unwrap();
        spool.append(&Arc::from([event(3), event(4)])).unwrap();
    }

    #[test]
    fn an_event_that_the_stream_refuses_is_kept_aside() {
        let file = File::new("aside");
        let each = size(&event(1));
        let spool = file.open(3 * each).unwrap();
        spool
            .append(&Arc::from([event(1), event(2), event(3)]))
            .unwrap();
        let front = spool.front(10, 1 << 20).unwrap();
        spool.remove(0..1, Some(&front.entries[1])).unwrap();
        assert_eq!(sources(&spool.front(10, 1 << 20).unwrap()), ["s3"]);
        // It counts.
        spool.append(&Arc::from([event(4)])).unwrap();
        assert_eq!(
            spool.append(&Arc::from([event(5)])),
            Err(JetStreamError::SpoolFull)
        );
        drop(spool);
        let spool = file.open(3 * each).unwrap();
        assert_eq!(
            spool.append(&Arc::from([event(5)])),
            Err(JetStreamError::SpoolFull)
        );
    }

    #[test]
    fn a_file_is_of_one_channel_and_one_stream() {
        let file = File::new("one");
        let spool = file.open(1 << 20).unwrap();
        spool.append(&Arc::from([event(1)])).unwrap();
        assert!(matches!(file.open(1 << 20), Err(JetStreamError::Spool(_))));
        drop(spool);
        let config = SpoolConfig {
            path: file.0.clone(),
            max_bytes: 1 << 20,
        };
        let other = Spool::open(&config, "OTHER").map(|_| ()).unwrap_err();
        assert!(other.to_string().contains("another stream"), "{other}");
        fs::write(&file.0, b"no spool").unwrap();
        assert!(matches!(file.open(1 << 20), Err(JetStreamError::Spool(_))));
    }
}
