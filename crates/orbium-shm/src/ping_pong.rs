// SPDX-License-Identifier: MIT OR Apache-2.0
//! The least that two processes can do over shared memory: a flag, a copy, and a
//! futex unless they spin. What the transport is measured against; nobody
//! checks anything here, and both sides have to take turns.

use std::hint;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use orbium_sys::{Deadline, Interest, wait_for};
use rustix::thread::futex::{self, Timespec};

use crate::hello;
use crate::region::{Region, Way};

/// Octets that one message may have.
const RING: u32 = 512 * 1024;

const EMPTY: u32 = 0;
const FULL: u32 = 1;

/// Looks until a spinning side looks whether the peer is still there.
const PATIENCE: u32 = 1 << 20;

/// One side. A message is written whole, and read whole by a buffer of its size.
#[derive(Debug)]
pub struct PingPong {
    region: Region,
    inward: Way,
    /// Tells whether the peer is there.
    socket: OwnedFd,
    spins: bool,
}

impl PingPong {
    /// Waits for a client.
    ///
    /// # Errors
    /// The system's.
    pub fn accept(listener: &UnixListener, spins: bool) -> io::Result<Self> {
        let socket = OwnedFd::from(listener.accept()?.0);
        let (region, memory) = Region::create(RING)?;
        hello::greet(&socket, RING, &memory)?;
        Ok(Self {
            region,
            inward: Way::ToServer,
            socket,
            spins,
        })
    }

    /// Connects to the path of a server.
    ///
    /// # Errors
    /// The system's; who is there is no server.
    pub fn connect(path: &Path, spins: bool) -> io::Result<Self> {
        let socket = OwnedFd::from(UnixStream::connect(path)?);
        let (ring, memory) = hello::receive_greeting(&socket, Deadline::NEVER)?;
        Ok(Self {
            region: Region::open(&memory, ring)?,
            inward: Way::ToClient,
            socket,
            spins,
        })
    }

    fn flag(&self, way: Way) -> &AtomicU32 {
        &self.region.control(way).tail.0
    }

    /// Waits until the flag is that; `false` if the peer has gone.
    fn wait(&self, way: Way, wanted: u32) -> io::Result<bool> {
        let flag = self.flag(way);
        let mut looks = 0;
        while flag.load(Ordering::Acquire) != wanted {
            if self.spins {
                hint::spin_loop();
                looks += 1;
                if looks % PATIENCE == 0 && self.is_alone()? {
                    return Ok(false);
                }
                continue;
            }
            let second = Timespec {
                tv_sec: 1,
                tv_nsec: 0,
            };
            // It returns because the flag has changed, or to look who is there.
            let slept = futex::wait(flag, futex::Flags::empty(), wanted ^ FULL, Some(&second));
            if slept == Err(rustix::io::Errno::TIMEDOUT) && self.is_alone()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn raise(&self, way: Way, value: u32) {
        let flag = self.flag(way);
        flag.store(value, Ordering::Release);
        if !self.spins && value == FULL {
            let _ = futex::wake(flag, futex::Flags::empty(), 1);
        }
    }

    fn is_alone(&self) -> io::Result<bool> {
        let now = Some(std::time::Duration::ZERO);
        // Nothing is ever sent behind the greeting: readable is the end.
        let [ended] = wait_for([(&self.socket, Interest::Read)], now)?;
        Ok(ended)
    }
}

impl Read for PingPong {
    /// Receives a message of as many octets as the buffer has; none if the peer
    /// has gone.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = into.len().min(RING as usize);
        if !self.wait(self.inward, FULL)? {
            return Ok(0);
        }
        self.region.copy_out(self.inward, &mut into[..count]);
        self.raise(self.inward, EMPTY);
        Ok(count)
    }
}

impl Write for PingPong {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let count = from.len().min(RING as usize);
        let outward = self.inward.other();
        // Nobody is woken when a flag is lowered: whoever takes turns finds it
        // so, but for the first two messages of a client.
        while self.flag(outward).load(Ordering::Acquire) != EMPTY {
            if self.is_alone()? {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            std::thread::yield_now();
        }
        self.region.copy_in(outward, &from[..count]);
        self.raise(outward, FULL);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
