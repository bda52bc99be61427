// SPDX-License-Identifier: MIT OR Apache-2.0
//! A half that one connection of the calling side uses as its stream.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use orbium_sys::Waker;
use orbium_transport::{ByteStream, Deadline, Peer};

use crate::calls::HalfId;
use crate::inbound::Half;
use crate::outgoing::Collected;
use crate::serving::Timeouts;
use crate::wire::Wire;

#[derive(Debug)]
pub(crate) struct CallingHalf {
    wire: Arc<Wire>,
    id: HalfId,
    is_nonblocking: AtomicBool,
    timeouts: Mutex<Timeouts>,
    /// What was sent and is no whole message yet.
    collected: Mutex<Collected>,
    waker: OnceLock<Arc<Waker>>,
}

impl CallingHalf {
    /// A half of the connection; `None` if that has ended.
    pub(crate) fn new(wire: &Arc<Wire>) -> Option<Self> {
        let id = wire.inbound().add_half()?;
        Some(Self {
            wire: Arc::clone(wire),
            id,
            is_nonblocking: AtomicBool::new(false),
            timeouts: Mutex::default(),
            collected: Mutex::default(),
            waker: OnceLock::new(),
        })
    }

    fn deadline(&self, of: fn(&Timeouts) -> Option<Duration>) -> Deadline {
        let timeouts = self.timeouts.lock().unwrap_or_else(PoisonError::into_inner);
        match self.is_nonblocking.load(Ordering::Relaxed) {
            true => Deadline::after(Some(Duration::ZERO)),
            false => Deadline::after(of(&timeouts)),
        }
    }
}

impl ByteStream for CallingHalf {
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        let half = Half::Calling(self.id);
        self.wire.receive(half, room, self.deadline(|it| it.0))
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.send_vectored(&[IoSlice::new(octets)])
    }

    /// Takes everything: whole messages are sent, the beginning of one is kept.
    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let deadline = self.deadline(|it| it.1);
        let collected = &self.collected;
        let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
        collected.add(pieces);
        while let Some(message) = collected.take()? {
            self.wire.send_message(self.id, message, deadline)?;
        }
        Ok(pieces.iter().map(|piece| piece.len()).sum())
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        if receive == Some(Some(Duration::ZERO)) || send == Some(Some(Duration::ZERO)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut timeouts = self.timeouts.lock().unwrap_or_else(PoisonError::into_inner);
        timeouts.0 = receive.unwrap_or(timeouts.0);
        timeouts.1 = send.unwrap_or(timeouts.1);
        Ok(())
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.is_nonblocking.store(nonblocking, Ordering::Relaxed);
        Ok(())
    }

    /// Ends this half: the connection goes on.
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
                // Ready for others at times: its caller looks once too often.
                Err(_) => return self.wire.stream.source(),
            },
        };
        self.wire.inbound().show(self.id, waker);
        waker.source()
    }

    fn has_buffered(&self) -> bool {
        self.wire.inbound().has_some(Half::Calling(self.id))
    }
}

impl Drop for CallingHalf {
    fn drop(&mut self) {
        self.wire.inbound().remove_half(self.id);
    }
}
