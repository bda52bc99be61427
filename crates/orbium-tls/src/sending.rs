// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending direction: from octets to ciphertext that the kernel has taken.

use std::io::{self, IoSlice};
use std::time::Duration;

use orbium_sys::{Interest, wait_for};
use orbium_transport::{ByteStream, TcpByteStream};

use crate::control::Control;
use crate::record::{LARGEST_PLAIN, Pieces, Protection, kind};
use crate::{TlsFailure, TlsVersion};

/// Octets of data sealed for one system call: what a send that blocks must
/// finish before it can say how far it came.
const AT_ONCE: usize = 8 * LARGEST_PLAIN;

/// What is to be sent, and what of it was.
#[derive(Debug)]
pub(crate) struct Sending {
    protection: Protection,
    /// Ciphertext, of which the kernel has taken `sent` octets.
    out: Vec<u8>,
    sent: usize,
    /// Octets of data in `out` of which the caller does not know yet: after
    /// `WouldBlock` it comes again with the same.
    covered: usize,
    closed: bool,
}

impl Sending {
    pub(crate) fn new(protection: Protection) -> Self {
        Self {
            protection,
            out: Vec::new(),
            sent: 0,
            covered: 0,
            closed: false,
        }
    }

    /// As [`ByteStream::send_vectored`].
    #[inline]
    pub(crate) fn send(
        &mut self,
        socket: &TcpByteStream,
        slices: &[IoSlice<'_>],
        control: &Control,
    ) -> io::Result<usize> {
        let mut pieces = Pieces::new(slices);
        let offered = pieces.left();
        if self.closed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if self.covered > offered {
            let what = "a send that is repeated must begin with the same octets";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        if self.covered == 0 {
            // Whatever else there was to say goes first.
            self.flush(socket)?;
            self.seal(&mut pieces, control)
                .inspect_err(|_| self.closed = true)
                .map_err(TlsFailure::into_error)?;
            self.covered = offered - pieces.left();
        }
        self.flush(socket)?;
        Ok(std::mem::take(&mut self.covered))
    }

    /// Seals as much as is sent at once.
    fn seal(&mut self, pieces: &mut Pieces<'_>, control: &Control) -> Result<(), TlsFailure> {
        let until = pieces.left().saturating_sub(AT_ONCE);
        while pieces.left() > until {
            if self.protection.is_worn() || control.is_asked_for_key() {
                self.change_key(control)?;
            }
            let length = (pieces.left() - until).min(LARGEST_PLAIN);
            self.record(kind::DATA, pieces, length)?;
        }
        Ok(())
    }

    fn record(
        &mut self,
        kind: u8,
        pieces: &mut Pieces<'_>,
        length: usize,
    ) -> Result<(), TlsFailure> {
        self.protection
            .seal(kind, pieces, length, &mut self.out)
            .map_err(|_| TlsFailure::Protocol("a record cannot be sealed".to_owned()))
    }

    /// Announces our next key and takes it (RFC 8446, 4.6.3).
    #[cold]
    fn change_key(&mut self, control: &Control) -> Result<(), TlsFailure> {
        const KEY_UPDATE_NOT_REQUESTED: [u8; 5] = [24, 0, 0, 1, 0];
        if control.version == TlsVersion::V1_2 {
            return Err(TlsFailure::KeysExhausted);
        }
        let slices = [IoSlice::new(&KEY_UPDATE_NOT_REQUESTED)];
        let mut pieces = Pieces::new(&slices);
        self.record(kind::HANDSHAKE, &mut pieces, KEY_UPDATE_NOT_REQUESTED.len())?;
        self.protection = control.next_sending()?;
        Ok(())
    }

    /// Gives the kernel what is sealed.
    #[inline]
    fn flush(&mut self, socket: &TcpByteStream) -> io::Result<()> {
        while self.sent < self.out.len() {
            match socket.send(&self.out[self.sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(())
    }

    /// Sends an alert, the last record, if that is possible at once.
    #[cold]
    pub(crate) fn alert(&mut self, socket: &TcpByteStream, description: u8) {
        const WARNING: u8 = 1;
        const FATAL: u8 = 2;
        if self.closed {
            return;
        }
        self.closed = true;
        let source = socket.source();
        let ready = wait_for([(&source, Interest::Write)], Some(Duration::ZERO));
        if self.sent < self.out.len() || !matches!(ready, Ok([true])) {
            return;
        }
        let level = if description == crate::alert::CLOSE_NOTIFY {
            WARNING
        } else {
            FATAL
        };
        let octets = [level, description];
        let slices = [IoSlice::new(&octets)];
        let sealed = self.record(kind::ALERT, &mut Pieces::new(&slices), octets.len());
        if sealed.is_ok() {
            // Who cannot take it any more has no need of it.
            let _ = self.flush(socket);
        }
    }
}
