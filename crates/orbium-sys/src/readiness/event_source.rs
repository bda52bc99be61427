// SPDX-License-Identifier: MIT OR Apache-2.0
//! A source of readiness that the program triggers itself.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

use socket2::SockRef;

use crate::fork::Held;

/// A descriptor with readability and writability that the program sets: for streams that move bytes
/// without the kernel, so that a poller can wait for them. The two are independent; calls that
/// change the same one must not overlap.
#[derive(Debug)]
pub struct EventSource {
    _held: [Held; 2],
    /// The end that is polled: bytes received make it readable, a full send buffer makes it
    /// unwritable.
    polled: UnixStream,
    control: UnixStream,
    readable: AtomicBool,
    writable: AtomicBool,
}

impl EventSource {
    /// A source that is writable, and not readable.
    ///
    /// # Errors
    /// The process or the host is out of descriptors.
    pub fn new() -> io::Result<Self> {
        let (polled, control) = UnixStream::pair()?;
        polled.set_nonblocking(true)?;
        control.set_nonblocking(true)?;
        // The least that the kernel allows: `set_writable(false)` fills it.
        SockRef::from(&polled).set_send_buffer_size(1)?;
        Ok(Self {
            _held: [Held::new(&polled), Held::new(&control)],
            polled,
            control,
            readable: AtomicBool::new(false),
            writable: AtomicBool::new(true),
        })
    }

    /// Sets whether the source is readable.
    pub fn set_readable(&self, readable: bool) {
        if self.readable.swap(readable, Ordering::AcqRel) == readable {
            return;
        }
        if readable {
            // The socket buffer is empty: one byte fits.
            let _ = (&self.control).write(&[0]);
        } else {
            drain(&self.polled);
        }
    }

    /// Sets whether the source is writable.
    pub fn set_writable(&self, writable: bool) {
        if self.writable.swap(writable, Ordering::AcqRel) == writable {
            return;
        }
        if writable {
            drain(&self.control);
        } else {
            while matches!((&self.polled).write(&[0; 512]), Ok(1..)) {}
        }
    }

    /// The descriptor to poll.
    #[must_use]
    pub fn source(&self) -> &UnixStream {
        &self.polled
    }
}

fn drain(mut from: &UnixStream) {
    let mut buffer = [0; 4096];
    while matches!(from.read(&mut buffer), Ok(1..)) {}
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Interest, Poller, wait_for};

    #[test]
    fn readiness_is_what_was_set() {
        let source = EventSource::new().unwrap();
        let is = |interest| wait_for([(source.source(), interest)], Some(Duration::ZERO)).unwrap();
        for _ in 0..3 {
            for (readable, writable) in [(true, true), (true, false), (false, false), (false, true)]
            {
                source.set_readable(readable);
                source.set_writable(writable);
                // Setting it again has no effect.
                source.set_readable(readable);
                source.set_writable(writable);
                assert_eq!(is(Interest::Read), [readable]);
                assert_eq!(is(Interest::Write), [writable]);
            }
        }
    }

    #[test]
    fn a_waiting_poller_is_woken() {
        let source = EventSource::new().unwrap();
        let poller = Poller::new().unwrap();
        source.set_writable(false);
        poller.add(source.source(), 7, Interest::Write).unwrap();
        let mut ready = Vec::new();
        poller.wait(&mut ready, Some(Duration::ZERO)).unwrap();
        assert!(ready.is_empty());
        std::thread::scope(|scope| {
            scope.spawn(|| source.set_writable(true));
            while ready.is_empty() {
                poller
                    .wait(&mut ready, Some(Duration::from_secs(60)))
                    .unwrap();
            }
        });
        assert_eq!(ready[0].token, 7);
    }
}
