// SPDX-License-Identifier: MIT OR Apache-2.0
//! Readiness that a program decides on itself.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::fork::Held;
use crate::raw::set_number;
use crate::socket_options::SEND_BUFFER;

/// Something to wait on that is readable and writable as it is told to be: for
/// what moves octets without the kernel. Readability and writability are apart;
/// changes of either one must not happen at the same time.
#[derive(Debug)]
pub struct ShownReadiness {
    _held: [Held; 2],
    /// What is waited on: what it has received makes it readable, what it has
    /// sent and `ours` has not received makes it full.
    theirs: UnixStream,
    ours: UnixStream,
    readable: AtomicBool,
    writable: AtomicBool,
}

impl ShownReadiness {
    /// Not readable, but writable.
    ///
    /// # Errors
    /// No descriptors left.
    #[inline]
    pub fn new() -> io::Result<Self> {
        let (theirs, ours) = UnixStream::pair()?;
        theirs.set_nonblocking(true)?;
        ours.set_nonblocking(true)?;
        // As little as there is: it is filled to be full.
        set_number(&theirs, SEND_BUFFER, 1)?;
        Ok(Self {
            _held: [Held::new(&theirs), Held::new(&ours)],
            theirs,
            ours,
            readable: AtomicBool::new(false),
            writable: AtomicBool::new(true),
        })
    }

    /// Shows itself readable or not.
    #[inline]
    pub fn set_readable(&self, readable: bool) {
        if self.readable.swap(readable, Ordering::AcqRel) == readable {
            return;
        }
        if readable {
            // There is room for one octet.
            let _ = (&self.ours).write(&[0]);
        } else {
            drain(&self.theirs);
        }
    }

    /// Shows itself writable or not.
    #[inline]
    pub fn set_writable(&self, writable: bool) {
        if self.writable.swap(writable, Ordering::AcqRel) == writable {
            return;
        }
        if writable {
            drain(&self.ours);
        } else {
            while matches!((&self.theirs).write(&[0; 512]), Ok(1..)) {}
        }
    }

    /// What to wait on.
    #[must_use]
    pub fn source(&self) -> &UnixStream {
        &self.theirs
    }
}

#[inline]
fn drain(mut from: &UnixStream) {
    let mut room = [0; 4096];
    while matches!(from.read(&mut room), Ok(1..)) {}
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Interest, Poller, wait_for};

    #[test]
    fn shows_what_it_is_told() {
        let shown = ShownReadiness::new().unwrap();
        let is = |interest| wait_for([(shown.source(), interest)], Some(Duration::ZERO)).unwrap();
        for _ in 0..3 {
            for (readable, writable) in [(true, true), (true, false), (false, false), (false, true)]
            {
                shown.set_readable(readable);
                shown.set_writable(writable);
                // Once more changes nothing.
                shown.set_readable(readable);
                shown.set_writable(writable);
                assert_eq!(is(Interest::Read), [readable]);
                assert_eq!(is(Interest::Write), [writable]);
            }
        }
    }

    #[test]
    fn who_waits_is_woken() {
        let shown = ShownReadiness::new().unwrap();
        let poller = Poller::new().unwrap();
        shown.set_writable(false);
        poller.add(shown.source(), 7, Interest::Write).unwrap();
        let mut ready = Vec::new();
        poller.wait(&mut ready, Some(Duration::ZERO)).unwrap();
        assert!(ready.is_empty());
        std::thread::scope(|scope| {
            scope.spawn(|| shown.set_writable(true));
            while ready.is_empty() {
                poller
                    .wait(&mut ready, Some(Duration::from_secs(60)))
                    .unwrap();
            }
        });
        assert_eq!(ready[0].token, 7);
    }
}
