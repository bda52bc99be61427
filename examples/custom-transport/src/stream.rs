// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection: two pipes.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use orbium::transport::ProtocolProperties;
use orbium::transport::{ByteStream, Deadline, Peer};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;

/// Both pipes of a connection. Neither blocks: who has to wait does so beside
/// what wakes it.
#[derive(Debug)]
pub(crate) struct PipeStream {
    incoming: OwnedFd,
    /// Closed when nothing more is sent, which is how the peer sees the end.
    outgoing: Mutex<Option<Arc<OwnedFd>>>,
    ways: Ways,
    nonblocking: AtomicBool,
}

/// What is known of both directions.
#[derive(Debug)]
pub(crate) struct Ways {
    receiving: Way,
    sending: Way,
}

impl Ways {
    /// Both open.
    ///
    /// # Errors
    /// No descriptors left.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            receiving: Way::new()?,
            sending: Way::new()?,
        })
    }
}

/// One direction.
#[derive(Debug)]
struct Way {
    ended: AtomicBool,
    /// Readable once the direction has ended.
    end: OwnedFd,
    timeout: Mutex<Option<Duration>>,
}

impl Way {
    fn new() -> io::Result<Self> {
        Ok(Self {
            ended: AtomicBool::new(false),
            end: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            timeout: Mutex::default(),
        })
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Release);
        // There is room for one after the other.
        let _ = rustix::io::write(&self.end, &1_u64.to_ne_bytes());
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    fn set_timeout(&self, timeout: Option<Duration>) {
        *self.timeout.lock().unwrap_or_else(PoisonError::into_inner) = timeout;
    }

    /// Until when an operation that begins now may wait.
    fn deadline(&self) -> Deadline {
        Deadline::after(*self.timeout.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until a pipe is ready or the direction ends.
    fn wait(&self, pipe: &OwnedFd, flags: PollFlags, deadline: Deadline) -> io::Result<()> {
        let Ok(left) = deadline.remaining() else {
            return Err(io::ErrorKind::WouldBlock.into());
        };
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut sources = [
            PollFd::new(pipe, flags),
            PollFd::new(&self.end, PollFlags::IN),
        ];
        match poll(&mut sources, left.as_ref()) {
            // The deadline is looked at before the next wait.
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl PipeStream {
    /// A stream of two pipes that do not block, which hold so many octets as the
    /// properties say, if the system allows.
    pub(crate) fn new(
        incoming: OwnedFd,
        outgoing: OwnedFd,
        ways: Ways,
        properties: &ProtocolProperties,
    ) -> Self {
        for (pipe, octets) in [
            (&incoming, properties.receive_buffer),
            (&outgoing, properties.send_buffer),
        ] {
            if let Some(octets) = octets {
                let _ = rustix::pipe::fcntl_setpipe_size(pipe, octets);
            }
        }
        Self {
            incoming,
            outgoing: Mutex::new(Some(Arc::new(outgoing))),
            ways,
            nonblocking: AtomicBool::new(false),
        }
    }

    /// The pipe that is received from.
    pub(crate) fn incoming(&self) -> &OwnedFd {
        &self.incoming
    }

    /// The pipe to send into.
    fn outgoing(&self) -> Option<Arc<OwnedFd>> {
        let outgoing = self.outgoing.lock();
        outgoing.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Repeats an operation on a pipe until it is no longer told to wait.
    fn persist(
        &self,
        way: &Way,
        (pipe, flags): (&OwnedFd, PollFlags),
        mut operation: impl FnMut() -> Result<usize, Errno>,
    ) -> io::Result<usize> {
        let mut deadline = None;
        loop {
            match operation() {
                Ok(count) => return Ok(count),
                Err(Errno::AGAIN) if !self.nonblocking.load(Ordering::Relaxed) => {
                    let deadline = *deadline.get_or_insert_with(|| way.deadline());
                    way.wait(pipe, flags, deadline)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl ByteStream for PipeStream {
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        let way = &self.ways.receiving;
        self.persist(way, (&self.incoming, PollFlags::IN), || {
            if way.has_ended() {
                return Ok(0);
            }
            rustix::io::read(&self.incoming, &mut *room)
        })
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.send_vectored(&[IoSlice::new(octets)])
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let way = &self.ways.sending;
        let outgoing = self.outgoing().ok_or(io::ErrorKind::BrokenPipe)?;
        self.persist(way, (&outgoing, PollFlags::OUT), || {
            if way.has_ended() {
                return Err(Errno::PIPE);
            }
            // Programs in Rust are not sent a signal if nobody reads any more.
            rustix::io::writev(&outgoing, pieces)
        })
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        for (way, timeout) in [(&self.ways.receiving, receive), (&self.ways.sending, send)] {
            match timeout {
                Some(Some(Duration::ZERO)) => return Err(io::ErrorKind::InvalidInput.into()),
                Some(timeout) => way.set_timeout(timeout),
                None => {}
            }
        }
        Ok(())
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.nonblocking.store(nonblocking, Ordering::Relaxed);
        Ok(())
    }

    fn shutdown(&self, how: Shutdown) {
        if how != Shutdown::Write {
            self.ways.receiving.end();
        }
        if how != Shutdown::Read {
            self.ways.sending.end();
            let mut outgoing = self.outgoing.lock().unwrap_or_else(PoisonError::into_inner);
            // Whoever is sending holds it a moment longer.
            *outgoing = None;
        }
    }

    /// Pipes do not say who has their other end.
    fn peer(&self) -> Peer {
        Peer::Unknown
    }

    fn source(&self) -> &dyn AsFd {
        &self.incoming
    }

    fn sending_source(&self) -> Option<Arc<OwnedFd>> {
        self.outgoing()
    }
}
