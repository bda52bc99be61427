// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending direction: data through rustls, and ciphertext that the kernel has
//! taken.

use std::io::{self, IoSlice, Write};
use std::time::Duration;

use orbium_sync::lock::Mutex;
use orbium_sys::{Interest, wait_for};
use orbium_transport::{ByteStream, TcpByteStream};
use rustls::{Connection, SupportedCipherSuite};

use crate::TlsFailure;

/// Most bytes of data in a record (RFC 8446, 5.1).
const MAX_PLAIN_LENGTH: usize = 1 << 14;

/// Bytes of data encrypted for one system call: a blocking send must finish them before it can
/// return its progress.
pub(crate) const MAX_WRITE: usize = 8 * MAX_PLAIN_LENGTH;

/// Maximum bytes of ciphertext for which memory is retained between messages.
const RETAINED: usize = 72 * 1024;

/// Records of TLS 1.2 that are reserved for rustls itself, which ends a connection silently when
/// its key is used up: alerts, and differences of its count.
const SPARE_RECORDS: u64 = 1 << 10;

/// Data to be sent, and its progress.
#[derive(Debug)]
pub(crate) struct Sending {
    /// Ciphertext, of which the kernel has accepted `sent` bytes.
    out: Vec<u8>,
    sent: usize,
    /// Bytes of data in `out` that were not yet reported to the caller: after `WouldBlock` it
    /// passes the same data again.
    covered: usize,
    closed: bool,
    /// Number of records that may still be encrypted: in TLS 1.2 a connection has one key.
    records_left: u64,
}

impl Sending {
    /// For a connection with a completed handshake.
    pub(crate) fn new(connection: &Connection) -> Self {
        let records_left = match connection.negotiated_cipher_suite() {
            Some(SupportedCipherSuite::Tls12(suite)) => suite
                .common
                .confidentiality_limit
                .saturating_sub(SPARE_RECORDS),
            _ => u64::MAX,
        };
        Self {
            out: Vec::new(),
            sent: 0,
            covered: 0,
            closed: false,
            records_left,
        }
    }

    /// As [`ByteStream::send_vectored`].
    #[inline]
    pub(crate) fn send(
        &mut self,
        socket: &TcpByteStream,
        pieces: &[IoSlice<'_>],
        connection: &Mutex<Connection>,
    ) -> io::Result<usize> {
        let offered = pieces.iter().map(|piece| piece.len()).sum();
        if self.closed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if self.covered > offered {
            let what = "a send that is repeated must begin with the same octets";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        if self.covered == 0 {
            // Other pending records are sent first.
            self.flush(socket)?;
            self.count_records(offered.min(MAX_WRITE))?;
            let mut connection = connection.lock();
            self.covered = connection.writer().write_vectored(pieces)?;
            self.collect(&mut connection)?;
        }
        self.flush(socket)?;
        Ok(std::mem::take(&mut self.covered))
    }

    /// As [`ByteStream::begun`].
    pub(crate) fn begun(&self) -> usize {
        self.covered
    }

    /// Refuses data beyond the limit of the TLS 1.2 key before any of them are sent: a caller may
    /// repeat the call over another connection.
    fn count_records(&mut self, octets: usize) -> io::Result<()> {
        let records = octets.div_ceil(MAX_PLAIN_LENGTH) as u64;
        match self.records_left.checked_sub(records) {
            Some(left) => self.records_left = left,
            None => {
                self.closed = true;
                return Err(TlsFailure::KeysExhausted.into_error());
            }
        }
        Ok(())
    }

    /// Takes the ciphertext from rustls.
    fn collect(&mut self, connection: &mut Connection) -> io::Result<()> {
        while connection.wants_write() {
            connection.write_tls(&mut self.out)?;
        }
        Ok(())
    }

    /// Sends the encrypted data.
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
        self.sent = 0;
        self.out.clear();
        self.out.shrink_to(RETAINED);
        Ok(())
    }

    /// Sends the last records if that is possible at once: the alert that rustls has for the peer,
    /// and close_notify if requested.
    #[cold]
    pub(crate) fn end(
        &mut self,
        socket: &TcpByteStream,
        connection: &Mutex<Connection>,
        close_notify: bool,
    ) {
        if self.closed {
            return;
        }
        self.closed = true;
        let source = socket.source();
        let ready = wait_for([(&source, Interest::Write)], Some(Duration::ZERO));
        if self.sent < self.out.len() || !matches!(ready, Ok([true])) {
            return;
        }
        let mut connection = connection.lock();
        if close_notify {
            connection.send_close_notify();
        }
        if self.collect(&mut connection).is_ok() {
            // A peer that can no longer receive it does not need it.
            let _ = self.flush(socket);
        }
    }
}
