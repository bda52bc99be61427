// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sleeping until the peer has acted, or has ended.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use orbium_sys::Deadline;

use crate::link::{BROKEN, DEAD, Link, Wait};
use crate::ring::{Park, Parked, Slept, sleep};
use crate::shared_memory;
use crate::watcher;

/// Maximum sleep while no watcher runs (it lacked a descriptor or a thread): the time until the
/// peer's death is noticed.
const UNWATCHED: Duration = Duration::from_millis(50);

/// Sleeps until `ready`, which must also be true once the connection has ended.
///
/// # Errors
/// `WouldBlock` at the deadline.
pub(crate) fn wait(
    link: &Arc<Link>,
    what: Wait,
    deadline: Deadline,
    ready: impl FnMut() -> bool,
) -> io::Result<()> {
    let watched = watcher::watch(link).is_ok();
    let parking = Parking {
        link,
        deadline,
        watched,
    };
    let (side, sleepers) = link.waiting(what);
    sleepers.fetch_add(1, Ordering::AcqRel);
    let slept = sleep(side, &parking, ready);
    sleepers.fetch_sub(1, Ordering::AcqRel);
    match slept {
        Slept::Ready => Ok(()),
        // The watcher may not have run since.
        Slept::TimedOut if link.is_hung_up() => {
            link.set(DEAD);
            Ok(())
        }
        Slept::TimedOut => Err(io::ErrorKind::WouldBlock.into()),
        Slept::Nonsense => {
            link.set(BROKEN);
            Ok(())
        }
    }
}

struct Parking<'a> {
    link: &'a Link,
    deadline: Deadline,
    watched: bool,
}

impl Park for Parking<'_> {
    fn park(&self, word: &AtomicU32, value: u32) -> Parked {
        let Ok(mut left) = self.deadline.remaining() else {
            return Parked::TimedOut;
        };
        let mut last = true;
        if !self.watched {
            if self.link.is_hung_up() {
                self.link.set(DEAD);
                return Parked::Interrupted;
            }
            last = left.is_some_and(|left| left <= UNWATCHED);
            left = Some(left.map_or(UNWATCHED, |left| left.min(UNWATCHED)));
        }
        let Err(error) = shared_memory::sleep_on(word, value, left) else {
            return Parked::Woken;
        };
        match error.kind() {
            io::ErrorKind::WouldBlock => Parked::Woken,
            io::ErrorKind::Interrupted => Parked::Interrupted,
            io::ErrorKind::TimedOut if last => Parked::TimedOut,
            io::ErrorKind::TimedOut => Parked::Interrupted,
            _ => Parked::Failed,
        }
    }
}
