// SPDX-License-Identifier: MIT OR Apache-2.0
//! What fuzzing looks at from outside: the record layer of either direction
//! under keys that everybody knows. No stream can be made of these.

use std::io::IoSlice;

use rustls::ConnectionTrafficSecrets;
use rustls::crypto::cipher::{AeadKey, Iv};

use crate::control::{Control, Keeper};
use crate::receiving::Receiving;
use crate::record::{LARGEST_PLAIN, Pieces, Protection};
use crate::{TlsFailure, TlsVersion};

/// How records are made: a version and a cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Making {
    /// The version.
    pub version: TlsVersion,
    /// ChaCha20-Poly1305 instead of AES-GCM.
    pub is_chacha: bool,
}

impl Making {
    /// The secrets of a generation of keys.
    fn secrets(self, generation: u8) -> (u64, ConnectionTrafficSecrets) {
        let (key, iv) = (AeadKey::from([generation; 32]), Iv::from([!generation; 12]));
        let secrets = if self.is_chacha {
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv }
        } else {
            ConnectionTrafficSecrets::Aes256Gcm { key, iv }
        };
        (0, secrets)
    }

    fn protection(self, generation: u8) -> Protection {
        Protection::new(self.version, &self.secrets(generation)).expect("a cipher known here")
    }
}

/// In the place of what rustls keeps: the next keys of both directions.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) is_client: bool,
    making: Making,
    receiving: u8,
    sending: u8,
}

type Next = Result<(u64, ConnectionTrafficSecrets), rustls::Error>;

impl Known {
    pub(crate) fn next_receiving(&mut self) -> Next {
        self.receiving = self.receiving.wrapping_add(1);
        Ok(self.making.secrets(self.receiving))
    }

    pub(crate) fn next_sending(&mut self) -> Next {
        self.sending = self.sending.wrapping_add(1);
        Ok(self.making.secrets(self.sending))
    }
}

/// A peer that can seal whatever it likes.
#[derive(Debug)]
pub struct Sealer {
    making: Making,
    generation: u8,
    protection: Protection,
}

impl Sealer {
    /// With the first key.
    #[must_use]
    pub fn new(making: Making) -> Self {
        Self {
            making,
            generation: 0,
            protection: making.protection(0),
        }
    }

    /// Appends a record of that kind. In TLS 1.3 a kind of zero makes the last
    /// octet that is not zero the kind, and what follows it padding.
    pub fn seal(&mut self, kind: u8, octets: &[u8], out: &mut Vec<u8>) {
        let slices = [IoSlice::new(octets)];
        let mut pieces = Pieces::new(&slices);
        let sealed = self.protection.seal(kind, &mut pieces, octets.len(), out);
        sealed.expect("few octets under a fresh key");
    }

    /// What is sealed from now on is under the next key.
    pub fn change_key(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.protection = self.making.protection(self.generation);
    }
}

/// The receiving direction.
#[allow(missing_debug_implementations, reason = "of no use to a test")]
pub struct Opener {
    receiving: Receiving,
    control: Control,
}

impl Opener {
    /// Most octets that it may hold at any time, buffers and all.
    pub const MOST: usize = 20 * LARGEST_PLAIN;

    /// With the first key, of a client or a server.
    #[must_use]
    pub fn new(making: Making, is_client: bool) -> Self {
        let known = Known {
            is_client,
            making,
            receiving: 0,
            sending: 128,
        };
        Self {
            receiving: Receiving::new(making.protection(0), Vec::new()),
            control: Control::new(making.version, Keeper::Known(known)),
        }
    }

    /// Lets some of these octets arrive; how many.
    ///
    /// # Errors
    /// As [`Self::take`]; nothing may be left to be taken.
    pub fn add(&mut self, octets: &[u8]) -> Result<usize, TlsFailure> {
        let room = self.receiving.room().map_err(|fault| fault.failure)?;
        let count = room.len().min(octets.len());
        room[..count].copy_from_slice(&octets[..count]);
        self.receiving.add(count);
        self.receiving.settle(&self.control);
        Ok(count)
    }

    /// Takes what was opened.
    ///
    /// # Errors
    /// Why nothing more can come.
    pub fn take(&mut self, room: &mut [u8]) -> Result<usize, TlsFailure> {
        let delivered = self.receiving.deliver(room, &self.control);
        delivered.map_err(|fault| fault.failure)
    }

    /// Whether there is something to take: octets, the end or a failure.
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.receiving.has_news()
    }

    /// Whether the peer said that it sends nothing more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.receiving.has_ended()
    }

    /// Octets of memory in use.
    #[must_use]
    pub fn held(&self) -> usize {
        self.receiving.held()
    }

    /// Whether the peer has asked for our next key since last time.
    #[must_use]
    pub fn is_asked_for_key(&self) -> bool {
        self.control.is_asked_for_key()
    }
}
