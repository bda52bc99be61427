// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waking a thread that waits for readiness.

use std::io;

use crate::fork::Held;

#[cfg(unix)]
use std::os::unix::net::UnixStream as Channel;

#[cfg(not(unix))]
use std::net::UdpSocket as Channel;

/// A source that becomes readable on demand, and remains so until it is cleared.
#[derive(Debug)]
pub struct Waker {
    #[cfg(unix)]
    _held: [Held; 2],
    receive: Channel,
    #[cfg(unix)]
    send: Channel,
}

impl Waker {
    /// A waker, not woken.
    ///
    /// # Errors
    /// Out of descriptors.
    #[cfg(unix)]
    pub fn new() -> io::Result<Self> {
        let (receive, send) = Channel::pair()?;
        receive.set_nonblocking(true)?;
        send.set_nonblocking(true)?;
        Ok(Self {
            _held: [Held::new(&receive), Held::new(&send)],
            receive,
            send,
        })
    }

    /// A waker, not woken.
    ///
    /// # Errors
    /// Out of descriptors, or no loopback interface.
    #[cfg(not(unix))]
    pub fn new() -> io::Result<Self> {
        let receive = Channel::bind(("127.0.0.1", 0))?;
        receive.connect(receive.local_addr()?)?;
        receive.set_nonblocking(true)?;
        Ok(Self { receive })
    }

    /// Makes [`Waker::source`] readable.
    pub fn wake(&self) {
        // A full channel is readable already, so an error can be ignored.
        #[cfg(unix)]
        let _ = io::Write::write(&mut &self.send, &[1]);
        #[cfg(not(unix))]
        let _ = self.receive.send(&[1]);
    }

    /// Resets [`Waker::source`] to its state before the wake-up. A concurrent wake-up may be
    /// cleared with it: check for work afterwards.
    pub fn clear(&self) {
        let mut buffer = [0; 64];
        #[cfg(unix)]
        while matches!(io::Read::read(&mut &self.receive, &mut buffer), Ok(64)) {}
        #[cfg(not(unix))]
        while self.receive.recv(&mut buffer).is_ok() {}
    }

    /// The source for the wait.
    #[must_use]
    pub fn source(&self) -> &Channel {
        &self.receive
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Interest, wait_for};

    fn is_awake(waker: &Waker) -> bool {
        let [ready] = wait_for([(waker.source(), Interest::Read)], Some(Duration::ZERO)).unwrap();
        ready
    }

    #[test]
    fn a_waker_stays_awake_until_it_is_cleared() {
        let waker = Waker::new().unwrap();
        assert!(!is_awake(&waker));
        for times in [1, 2, 64, 1000] {
            for _ in 0..times {
                waker.wake();
            }
            assert!(is_awake(&waker) && is_awake(&waker));
            waker.clear();
            assert!(!is_awake(&waker), "{times}");
        }
        waker.clear();
        assert!(!is_awake(&waker));
    }
}
