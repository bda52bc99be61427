// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread that watches for the death of peers.
//!
//! A thread that sleeps on a word of shared memory does not notice the death of its peer. The
//! kernel closes the sockets of a process that dies; this thread waits for that on all connections
//! on which a thread has slept, and wakes their sleepers. It is started with the first of them and
//! ends after a period without any.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::fork::{Held, PerProcess};
use orbium_sys::{Interest, Poller, Ready};
use rustix::event::{EventfdFlags, eventfd};

use crate::link::{DEAD, Link};

/// Time for which the thread remains without a connection.
const LINGER: Duration = Duration::from_millis(500);

/// Interval at which a thread that was woken and still sleeps is woken again. Only a hostile peer,
/// or a thread that does not run, needs it twice.
const REWAKE_INTERVAL: Duration = Duration::from_millis(10);

/// The token of the notifier; those of connections follow.
const NOTIFIER: u64 = 0;

/// The descriptors on which the thread waits.
#[derive(Debug)]
struct Eyes {
    poller: Poller,
    _held: Held,
    /// Wakes the thread itself.
    notifier: OwnedFd,
}

#[derive(Debug)]
struct Watch {
    /// Present as long as the thread is.
    eyes: Option<Arc<Eyes>>,
    /// By ascending token.
    links: Vec<(u64, Arc<Link>)>,
    /// Connections to wake repeatedly until no thread sleeps on them.
    nagged: Vec<Arc<Link>>,
    last: u64,
}

/// A forked child watches its own: the thread does not exist there.
static WATCH: PerProcess<Mutex<Watch>> = PerProcess::new();

fn lock() -> MutexGuard<'static, Watch> {
    let watch = WATCH.get_or_init(|| {
        Mutex::new(Watch {
            eyes: None,
            links: Vec::new(),
            nagged: Vec::new(),
            last: NOTIFIER,
        })
    });
    watch.lock()
}

impl Watch {
    fn place(&self, token: u64) -> Option<usize> {
        self.links
            .binary_search_by_key(&token, |(known, _)| *known)
            .ok()
    }
}

impl Eyes {
    fn open() -> io::Result<Self> {
        let poller = Poller::new()?;
        let notifier = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        poller.add(&notifier, NOTIFIER, Interest::Read)?;
        Ok(Self {
            poller,
            _held: Held::new(&notifier),
            notifier,
        })
    }

    fn ring(&self) {
        // A full counter is readable anyway.
        let _ = rustix::io::write(&self.notifier, &1u64.to_ne_bytes());
    }

    fn answer(&self) {
        let _ = rustix::io::read(&self.notifier, &mut [0; 8]);
    }
}

/// Watches a connection from now on, unless it is already watched.
///
/// # Errors
/// No descriptor or thread is available.
pub(crate) fn watch(link: &Arc<Link>) -> io::Result<()> {
    // Acquire: synchronizes with the store below, which follows the registration.
    if link.token.load(Ordering::Acquire) != 0 {
        return Ok(());
    }
    let mut watch = lock();
    if link.token.load(Ordering::Acquire) != 0 {
        return Ok(());
    }
    let eyes = match &watch.eyes {
        Some(eyes) => Arc::clone(eyes),
        None => {
            let eyes = Arc::new(Eyes::open()?);
            let own = Arc::clone(&eyes);
            orbium_sys::spawn_detached("orbium-shm", None, Box::new(move || run(&own)))?;
            watch.eyes = Some(Arc::clone(&eyes));
            eyes
        }
    };
    let token = watch.last + 1;
    eyes.poller.add(link.socket(), token, Interest::None)?;
    watch.last = token;
    watch.links.push((token, Arc::clone(link)));
    link.token.store(token, Ordering::Release);
    Ok(())
}

/// Watches a connection no longer.
pub(crate) fn forget(link: &Link) {
    let token = link.token.load(Ordering::Acquire);
    if token == 0 || !link.is_here() {
        return;
    }
    let mut watch = lock();
    let place = watch.place(token);
    let forgotten = place.map(|place| watch.links.remove(place));
    if let Some(eyes) = &watch.eyes {
        // Fails if the peer has died and the entry was removed.
        let _ = eyes.poller.remove(link.socket(), token);
        if watch.links.is_empty() {
            eyes.ring();
        }
    }
    drop(watch);
    drop(forgotten);
}

/// Wakes the threads that sleep on a connection, or a direction, that has ended, repeatedly until
/// they are awake.
pub(crate) fn interrupt(link: &Arc<Link>) {
    if !link.disturb() {
        return;
    }
    let mut watch = lock();
    if let Some(eyes) = watch.eyes.clone() {
        watch.nagged.push(Arc::clone(link));
        eyes.ring();
    }
}

/// The thread.
fn run(eyes: &Eyes) {
    let mut ready = Vec::new();
    loop {
        let timeout = {
            let watch = lock();
            match (watch.nagged.is_empty(), watch.links.is_empty()) {
                (false, _) => Some(REWAKE_INTERVAL),
                (true, true) => Some(LINGER),
                (true, false) => None,
            }
        };
        if eyes.poller.wait(&mut ready, timeout).is_err() {
            // Should not happen, and cannot be handled.
            thread::sleep(REWAKE_INTERVAL);
        }
        let Some(mut disturbed) = look(eyes, &ready) else {
            return;
        };
        disturbed.retain(|link| link.disturb());
        lock().nagged.append(&mut disturbed);
    }
}

/// The connections to wake; `None` at the end.
fn look(eyes: &Eyes, ready: &[Ready]) -> Option<Vec<Arc<Link>>> {
    let mut watch = lock();
    if ready.is_empty() && watch.links.is_empty() && watch.nagged.is_empty() {
        watch.eyes = None;
        return None;
    }
    let mut disturbed = std::mem::take(&mut watch.nagged);
    for Ready { token } in ready {
        if *token == NOTIFIER {
            eyes.answer();
        } else if let Some(place) = watch.place(*token) {
            let link = Arc::clone(&watch.links[place].1);
            // It remains hung up: once is enough.
            let _ = eyes.poller.remove(link.socket(), *token);
            link.set(DEAD);
            disturbed.push(link);
        }
    }
    Some(disturbed)
}
