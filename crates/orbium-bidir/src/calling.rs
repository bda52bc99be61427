// SPDX-License-Identifier: MIT OR Apache-2.0
//! A half that one connection of the calling side uses as its stream.

use std::any::Any;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use orbium_channel::connection::Delivery;
use orbium_channel::{BidirectionalHalf, Deliveries};
use orbium_sync::lock::Mutex;
use orbium_sys::Waker;
use orbium_transport::{ByteStream, Deadline, Peer};

use crate::inbound::Half;
use crate::outgoing::Collected;
use crate::pending_requests::HalfId;
use crate::serving::Timeouts;
use crate::wire::Wire;

#[derive(Debug)]
pub(crate) struct CallingHalf {
    wire: Arc<Wire>,
    id: HalfId,
    extension: BidirectionalHalf,
    is_nonblocking: AtomicBool,
    timeouts: Mutex<Timeouts>,
    outgoing: Mutex<Outgoing>,
    waker: OnceLock<Arc<Waker>>,
}

/// The outgoing bytes of a half.
#[derive(Debug, Default)]
struct Outgoing {
    /// The beginning of a message.
    collected: Collected,
    /// Bytes at the end of a message that the connection has, though its caller passes them again,
    /// as there was no room for them yet.
    covered: usize,
}

impl CallingHalf {
    /// A half of the connection; `None` if that has ended.
    pub(crate) fn new(wire: &Arc<Wire>) -> Option<Self> {
        let id = wire.inbound().add_half()?;
        let replies = Replies {
            wire: Arc::clone(wire),
            id,
        };
        Some(Self {
            wire: Arc::clone(wire),
            id,
            extension: BidirectionalHalf::Calling(Arc::new(replies)),
            is_nonblocking: AtomicBool::new(false),
            timeouts: Mutex::default(),
            outgoing: Mutex::default(),
            waker: OnceLock::new(),
        })
    }

    fn deadline(&self, of: fn(&Timeouts) -> Option<Duration>) -> Deadline {
        let timeouts = self.timeouts.lock();
        if self.is_nonblocking.load(Ordering::Relaxed) {
            Deadline::after(Some(Duration::ZERO))
        } else {
            Deadline::after(of(&timeouts))
        }
    }

    /// Sends the rest of the message that was offered before.
    fn send_covered(&self, outgoing: &mut Outgoing, deadline: Deadline) -> io::Result<usize> {
        let before = outgoing.covered;
        outgoing.covered = self.wire.send_rest(self.id, deadline)?.min(before);
        progress(before - outgoing.covered)
    }

    /// Sends the messages that end within the bytes; returns the number of bytes processed, which
    /// are all unless there is no room for them.
    fn send_whole(
        &self,
        outgoing: &mut Outgoing,
        bytes: &[u8],
        deadline: Deadline,
    ) -> io::Result<usize> {
        let mut done = 0;
        while done < bytes.len() {
            let before = outgoing.collected.len();
            let taken = outgoing.collected.add(&bytes[done..])?;
            let Some(mut message) = outgoing.collected.take() else {
                done += taken;
                continue;
            };
            let left = match self.wire.send_message(self.id, &mut message, deadline) {
                Ok(left) => left,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    message.truncate(before);
                    outgoing.collected.restore(message);
                    return progress(done);
                }
                Err(error) => return Err(error),
            };
            done += taken;
            outgoing.collected.recycle(message);
            if left > 0 && self.is_nonblocking.load(Ordering::Relaxed) {
                outgoing.covered = left.min(taken);
                return progress(done - outgoing.covered);
            }
        }
        Ok(done)
    }
}

/// The number of bytes sent; `WouldBlock` for none.
fn progress(sent: usize) -> io::Result<usize> {
    match sent {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        sent => Ok(sent),
    }
}

impl ByteStream for CallingHalf {
    /// Waits for the delivery of a reply.
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        debug_assert!(room.is_empty());
        let half = Half::Calling(self.id);
        self.wire.receive(half, self.deadline(|it| it.0))
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.send_vectored(&[IoSlice::new(octets)])
    }

    /// Sends whole messages, and stores the beginning of an incomplete one.
    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let deadline = self.deadline(|it| it.1);
        let mut outgoing = self.outgoing.lock();
        if outgoing.covered > 0 {
            return self.send_covered(&mut outgoing, deadline);
        }
        let mut done = 0;
        for piece in pieces {
            match self.send_whole(&mut outgoing, piece, deadline) {
                Ok(sent) => {
                    done += sent;
                    if sent < piece.len() {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && done > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        if receive == Some(Some(Duration::ZERO)) || send == Some(Some(Duration::ZERO)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut timeouts = self.timeouts.lock();
        timeouts.0 = receive.unwrap_or(timeouts.0);
        timeouts.1 = send.unwrap_or(timeouts.1);
        Ok(())
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.is_nonblocking.store(nonblocking, Ordering::Relaxed);
        Ok(())
    }

    /// Ends this half; the connection continues.
    fn shutdown(&self, _how: Shutdown) {
        self.wire.end_half(self.id);
    }

    fn peer(&self) -> Peer {
        self.wire.stream.peer()
    }

    fn source(&self) -> &dyn AsFd {
        let waker = match self.waker.get() {
            Some(waker) => waker,
            None => match Waker::new() {
                Ok(waker) => self.waker.get_or_init(|| Arc::new(waker)),
                // May be ready for other halves: the caller checks once too often.
                Err(_) => return self.wire.stream.source(),
            },
        };
        self.wire.inbound().show(self.id, waker);
        waker.source()
    }

    fn sending_source(&self) -> Option<Arc<OwnedFd>> {
        self.wire.sending_source()
    }

    fn has_buffered(&self) -> bool {
        self.wire.inbound().has_some(Half::Calling(self.id))
    }

    fn begun(&self) -> usize {
        self.outgoing.lock().covered
    }

    fn extension(&self) -> Option<&dyn Any> {
        Some(&self.extension)
    }
}

/// The replies to the calls of a half.
#[derive(Debug)]
struct Replies {
    wire: Arc<Wire>,
    id: HalfId,
}

impl Deliveries for Replies {
    fn take(&self, room: Vec<u8>) -> Option<Delivery> {
        self.wire.take(Half::Calling(self.id), room)
    }
}

impl Drop for CallingHalf {
    fn drop(&mut self) {
        self.wire.inbound().remove_half(self.id);
    }
}
