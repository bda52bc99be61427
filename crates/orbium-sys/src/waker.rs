// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waking a thread that waits for readiness.

use std::io;

#[cfg(unix)]
use std::os::unix::net::UnixStream as Channel;

#[cfg(not(unix))]
use std::net::UdpSocket as Channel;

/// Something that becomes readable when asked to, and stays so.
#[derive(Debug)]
pub struct Waker {
    receive: Channel,
    #[cfg(unix)]
    send: Channel,
}

impl Waker {
    /// A waker that nobody has woken.
    ///
    /// # Errors
    /// No descriptors left.
    #[cfg(unix)]
    pub fn new() -> io::Result<Self> {
        let (receive, send) = Channel::pair()?;
        send.set_nonblocking(true)?;
        Ok(Self { receive, send })
    }

    /// A waker that nobody has woken.
    ///
    /// # Errors
    /// No descriptors left, or no loopback interface.
    #[cfg(not(unix))]
    pub fn new() -> io::Result<Self> {
        let receive = Channel::bind(("127.0.0.1", 0))?;
        receive.connect(receive.local_addr()?)?;
        receive.set_nonblocking(true)?;
        Ok(Self { receive })
    }

    /// Makes [`Waker::source`] readable for good.
    pub fn wake(&self) {
        // A full channel is readable already, so an error changes nothing.
        #[cfg(unix)]
        let _ = io::Write::write(&mut &self.send, &[1]);
        #[cfg(not(unix))]
        let _ = self.receive.send(&[1]);
    }

    /// What to wait for.
    #[must_use]
    pub fn source(&self) -> &Channel {
        &self.receive
    }
}
