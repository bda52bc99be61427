// SPDX-License-Identifier: MIT OR Apache-2.0
//! One end of a stream within a process.

use std::fs::File;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use orbium_sys::EventSource;
use orbium_sys::fork::{Origin, PerProcess};

use super::pipe::{Pipe, Wait};
use crate::{ByteStream, Peer};

/// A bound on waiting, in nanoseconds; the maximum means no limit.
#[derive(Debug)]
struct Bound(AtomicU64);

impl Bound {
    const fn none() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }

    fn get(&self) -> Option<Duration> {
        match self.0.load(Ordering::Relaxed) {
            u64::MAX => None,
            nanoseconds => Some(Duration::from_nanos(nanoseconds)),
        }
    }

    fn set(&self, bound: Option<Duration>) -> io::Result<()> {
        let nanoseconds = match bound {
            // As for sockets, for which zero means no time limit.
            Some(Duration::ZERO) => return Err(io::ErrorKind::InvalidInput.into()),
            Some(bound) => u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX),
            None => u64::MAX,
        };
        self.0.store(nanoseconds, Ordering::Relaxed);
        Ok(())
    }
}

/// A stream within the process. It uses no descriptor
/// until its source of readiness is requested.
#[derive(Debug)]
pub struct InProcessStream {
    incoming: Arc<Pipe>,
    outgoing: Arc<Pipe>,
    nonblocking: AtomicBool,
    receive_bound: Bound,
    send_bound: Bound,
    event_source: OnceLock<Arc<EventSource>>,
    origin: Origin,
    /// Used as the source when no descriptor is available.
    always_ready: &'static File,
}

/// A file that `poll` reports as ready and `epoll` refuses, so that a thread that has to wait
/// without a descriptor retries or reports an error.
fn always_ready() -> io::Result<&'static File> {
    // No `OnceLock`: a forked child would deadlock on one that the parent was initialising.
    static FILE: PerProcess<File> = PerProcess::new();
    if let Some(file) = FILE.get() {
        return Ok(file);
    }
    let file = File::open("/dev/null")?;
    Ok(FILE.get_or_init(|| file))
}

impl InProcessStream {
    /// A pair of connected ends.
    ///
    /// # Errors
    /// Out of descriptors; the first pair of a process needs one.
    pub fn pair() -> io::Result<(Self, Self)> {
        let always_ready = always_ready()?;
        let (there, back) = (Arc::new(Pipe::default()), Arc::new(Pipe::default()));
        let end = |incoming: &Arc<Pipe>, outgoing: &Arc<Pipe>| Self {
            incoming: Arc::clone(incoming),
            outgoing: Arc::clone(outgoing),
            nonblocking: AtomicBool::new(false),
            receive_bound: Bound::none(),
            send_bound: Bound::none(),
            event_source: OnceLock::new(),
            origin: Origin::here(),
            always_ready,
        };
        Ok((end(&back, &there), end(&there, &back)))
    }

    fn wait(&self, bound: &Bound) -> Wait {
        if self.nonblocking.load(Ordering::Relaxed) {
            Wait::Never
        } else {
            Wait::For(bound.get())
        }
    }

    fn show_at(&self, event_source: &Arc<EventSource>) {
        self.incoming.notify_readable(event_source);
        self.outgoing.notify_writable(event_source);
    }
}

impl ByteStream for InProcessStream {
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        if !self.origin.is_here() {
            // The peer is in the parent process.
            return Ok(0);
        }
        self.incoming.receive(room, self.wait(&self.receive_bound))
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.send_vectored(&[IoSlice::new(octets)])
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        if !self.origin.is_here() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.outgoing.send(pieces, self.wait(&self.send_bound))
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        if let Some(bound) = receive {
            self.receive_bound.set(bound)?;
        }
        if let Some(bound) = send {
            self.send_bound.set(bound)?;
        }
        Ok(())
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.nonblocking.store(nonblocking, Ordering::Relaxed);
        if nonblocking && let Some(event_source) = self.event_source.get() {
            // A thread that blocked in a receive or a send did not maintain it.
            self.show_at(event_source);
        }
        Ok(())
    }

    fn shutdown(&self, how: Shutdown) {
        if !self.origin.is_here() {
            return;
        }
        if how != Shutdown::Write {
            self.incoming.refuse();
        }
        if how != Shutdown::Read {
            self.outgoing.end();
        }
    }

    fn peer(&self) -> Peer {
        Peer::InProcess
    }

    /// From now on its readiness is correct as long as no thread blocks in a receive or a send,
    /// which omit the system calls that maintain it.
    fn source(&self) -> &dyn AsFd {
        let event_source = match self.event_source.get() {
            Some(event_source) => event_source,
            None => match EventSource::new() {
                Ok(event_source) => self.event_source.get_or_init(|| Arc::new(event_source)),
                Err(_) => return self.always_ready,
            },
        };
        self.show_at(event_source);
        event_source.source()
    }
}

impl Drop for InProcessStream {
    fn drop(&mut self) {
        self.shutdown(Shutdown::Both);
    }
}
