// SPDX-License-Identifier: MIT OR Apache-2.0
//! Baseline of the transport's figures: a minimal exchange of messages over shared memory, with a
//! flag, a copy, and a futex for a side that has finished spinning. There are no checks, and both
//! sides have to alternate.

use std::hint;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use orbium_sys::{Deadline, Interest, wait_for};

use crate::hello;
use crate::region::{Region, Way};
use crate::ring::Octets;
use crate::shared_memory;

/// Bytes of the largest message.
const RING: u32 = 512 * 1024;

const EMPTY: u32 = 0;
const FULL: u32 = 1;
/// Empty, and the reader sleeps until it is full.
const AWAITED: u32 = 2;

/// Loads of the flag between two readings of the clock.
const LOADS_PER_CLOCK_READ: u32 = 64;

/// One side of the exchange. A message is written whole, and read whole into a buffer of its size.
#[derive(Debug)]
pub struct PingPong {
    region: Region,
    inward: Way,
    /// Closed when the peer ends.
    socket: OwnedFd,
    /// Time for which the reader spins before it sleeps.
    spin: Duration,
}

impl PingPong {
    /// Waits for a client.
    ///
    /// # Errors
    /// The system's.
    pub fn accept(listener: &UnixListener, spin: Duration) -> io::Result<Self> {
        let socket = OwnedFd::from(listener.accept()?.0);
        let (region, shared) = Region::create(RING)?;
        hello::greet(&socket, RING, &shared)?;
        Ok(Self {
            region,
            inward: Way::ToServer,
            socket,
            spin,
        })
    }

    /// Connects to the path of a server.
    ///
    /// # Errors
    /// The system's; `InvalidData` if another server listens there.
    pub fn connect(path: &Path, spin: Duration) -> io::Result<Self> {
        let socket = OwnedFd::from(UnixStream::connect(path)?);
        let (ring, shared) = hello::receive_greeting(&socket, Deadline::NEVER)?;
        if ring != RING {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(Self {
            region: Region::open(&shared, ring)?,
            inward: Way::ToClient,
            socket,
            spin,
        })
    }

    fn flag(&self, way: Way) -> &AtomicU32 {
        &self.region.control(way).tail.0
    }

    /// Waits until there is a message; `false` if the peer has ended.
    fn wait(&self) -> io::Result<bool> {
        let flag = self.flag(self.inward);
        if !self.spin.is_zero() && self.spin_until_full(flag) {
            return Ok(true);
        }
        loop {
            let seen = flag.compare_exchange(EMPTY, AWAITED, Ordering::AcqRel, Ordering::Acquire);
            if seen == Err(FULL) {
                return Ok(true);
            }
            // The futex returns when the flag has changed, and once a second to check the socket.
            match shared_memory::sleep_on(flag, AWAITED, Some(Duration::from_secs(1))) {
                Err(error) if error.kind() == io::ErrorKind::TimedOut && self.is_alone()? => {
                    return Ok(false);
                }
                _ => {}
            }
        }
    }

    /// Spins until the flag indicates a message; `false` at the time limit.
    fn spin_until_full(&self, flag: &AtomicU32) -> bool {
        let start = Instant::now();
        loop {
            for _ in 0..LOADS_PER_CLOCK_READ {
                if flag.load(Ordering::Acquire) == FULL {
                    return true;
                }
                hint::spin_loop();
            }
            if start.elapsed() >= self.spin {
                return false;
            }
        }
    }

    /// Whether the peer has ended.
    fn is_alone(&self) -> io::Result<bool> {
        let now = Some(Duration::ZERO);
        // The peer sends nothing after the greeting, so a readable socket is a closed one.
        let [ended] = wait_for([(&self.socket, Interest::Read)], now)?;
        Ok(ended)
    }
}

impl Read for PingPong {
    /// Receives a message of the size of the buffer; 0 if the peer has ended.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = into.len().min(RING as usize);
        if !self.wait()? {
            return Ok(0);
        }
        self.region.octets(self.inward).take(0, &mut into[..count]);
        // Release: the octets are copied out before the writer (Acquire) overwrites them.
        self.flag(self.inward).store(EMPTY, Ordering::Release);
        Ok(count)
    }
}

impl Write for PingPong {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let count = from.len().min(RING as usize);
        let outward = self.inward.other();
        // Lowering a flag wakes no thread: sides that alternate find it lowered, except for the
        // first two messages of a client.
        let flag = self.flag(outward);
        while flag.load(Ordering::Acquire) == FULL {
            if self.is_alone()? {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            std::thread::yield_now();
        }
        self.region.octets(outward).put(0, &from[..count]);
        // Release: the octets happen-before a reader that sees FULL (Acquire in `wait`).
        if flag.swap(FULL, Ordering::AcqRel) == AWAITED {
            shared_memory::wake(flag, 1);
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
