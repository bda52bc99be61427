// SPDX-License-Identifier: MIT OR Apache-2.0
//! The record layer: one direction of a connection, once its key is settled.
//!
//! Pure: octets in, octets out. Records of TLS 1.3 are those of RFC 8446, 5.2;
//! of TLS 1.2 those of RFC 5246, 6.2.3.3 with the nonces of RFC 5288 (AES-GCM)
//! or RFC 7905 (ChaCha20-Poly1305). Keys, initialisation vectors and sequence
//! numbers come from the handshake; no nonce occurs twice because each record
//! takes the next sequence number.

use std::io::IoSlice;
use std::ops::Range;

use ring::aead::{
    AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce,
    UnboundKey,
};
use rustls::ConnectionTrafficSecrets;

use crate::TlsVersion;

/// Octets of a header: kind, version, length.
pub(crate) const HEADER: usize = 5;

/// Most octets of data in a record (RFC 8446, 5.1).
pub(crate) const LARGEST_PLAIN: usize = 1 << 14;

/// Most octets behind a header: TLS 1.2 allows the larger expansion.
pub(crate) const LARGEST_SEALED: usize = LARGEST_PLAIN + 2048;

/// Most octets behind a header of TLS 1.3 (RFC 8446, 5.2).
const LARGEST_SEALED_13: usize = LARGEST_PLAIN + 256;

const TAG: usize = 16;
const EXPLICIT_NONCE: usize = 8;

/// Blocks of 16 octets after which a key of AES-GCM should not be used any
/// more: 2^24.5 full records (RFC 8446, 5.5), rounded down.
const WORN: u64 = 1 << 34;

/// Kinds of record.
pub(crate) mod kind {
    pub(crate) const ALERT: u8 = 21;
    pub(crate) const HANDSHAKE: u8 = 22;
    pub(crate) const DATA: u8 = 23;
}

/// Why a record cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordError {
    /// It is of a kind that has no place here.
    Unexpected,
    /// It is longer than any may be.
    TooLong,
    /// It was not sealed with our key under its number, or is damaged.
    Forged,
}

/// What differs between versions and ciphers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// TLS 1.3: the kind is sealed too.
    Tls13,
    /// TLS 1.2, part of the nonce in the record.
    Tls12Explicit,
    /// TLS 1.2, the nonce made as in TLS 1.3.
    Tls12Implicit,
}

/// The key of one direction, and the number of its next record.
pub(crate) struct Protection {
    key: LessSafeKey,
    vector: [u8; NONCE_LEN],
    sequence: u64,
    form: Form,
    blocks: u64,
    limit: u64,
}

impl std::fmt::Debug for Protection {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Protection")
            .field("form", &self.form)
            .field("sequence", &self.sequence)
            .finish_non_exhaustive()
    }
}

impl Protection {
    /// From what the handshake settled; `None` for a cipher not known here.
    pub(crate) fn new(
        version: TlsVersion,
        (sequence, secrets): &(u64, ConnectionTrafficSecrets),
    ) -> Option<Self> {
        use ConnectionTrafficSecrets as Secrets;
        let (algorithm, key, vector): (&'static Algorithm, _, _) = match secrets {
            Secrets::Aes128Gcm { key, iv } => (&AES_128_GCM, key, iv),
            Secrets::Aes256Gcm { key, iv } => (&AES_256_GCM, key, iv),
            Secrets::Chacha20Poly1305 { key, iv } => (&CHACHA20_POLY1305, key, iv),
            _ => return None,
        };
        let is_gcm = !matches!(secrets, Secrets::Chacha20Poly1305 { .. });
        let form = match version {
            TlsVersion::V1_3 => Form::Tls13,
            TlsVersion::V1_2 if is_gcm => Form::Tls12Explicit,
            TlsVersion::V1_2 => Form::Tls12Implicit,
        };
        Some(Self {
            key: LessSafeKey::new(UnboundKey::new(algorithm, key.as_ref()).ok()?),
            vector: vector.as_ref().try_into().ok()?,
            sequence: *sequence,
            form,
            blocks: 0,
            limit: if is_gcm { WORN } else { u64::MAX },
        })
    }

    /// Whether as much was sealed under this key as is safe.
    #[inline]
    pub(crate) fn is_worn(&self) -> bool {
        self.blocks >= self.limit || self.sequence >= u64::MAX - 2
    }

    fn nonce(&self) -> [u8; NONCE_LEN] {
        let mut nonce = self.vector;
        let number = self.sequence.to_be_bytes();
        for (octet, number) in nonce[NONCE_LEN - number.len()..].iter_mut().zip(number) {
            *octet ^= number;
        }
        nonce
    }

    /// Additional data of TLS 1.2 (RFC 5246, 6.2.3.3): the header as it would
    /// be without expansion.
    fn additional(&self, [kind, major, minor, ..]: [u8; HEADER], length: usize) -> [u8; 13] {
        let [.., high, low] = header(kind, length);
        let mut octets = [0; 13];
        octets[..8].copy_from_slice(&self.sequence.to_be_bytes());
        octets[8..].copy_from_slice(&[kind, major, minor, high, low]);
        octets
    }

    /// Appends a record that holds the next `length` octets of some pieces.
    /// They must be there, and no more than [`LARGEST_PLAIN`].
    pub(crate) fn seal(
        &mut self,
        kind: u8,
        pieces: &mut Pieces<'_>,
        length: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        let nonce = self.nonce();
        let tag = match self.form {
            Form::Tls13 => {
                let header = header(kind::DATA, length + 1 + TAG);
                out.extend_from_slice(&header);
                let plain = out.len();
                pieces.take(length, out);
                out.push(kind);
                self.seal_in_place(nonce, Aad::from(&header[..]), &mut out[plain..])?
            }
            Form::Tls12Explicit => {
                let header = header(kind, EXPLICIT_NONCE + length + TAG);
                out.extend_from_slice(&header);
                out.extend_from_slice(&nonce[NONCE_LEN - EXPLICIT_NONCE..]);
                let plain = out.len();
                pieces.take(length, out);
                let additional = self.additional(header, length);
                self.seal_in_place(nonce, Aad::from(&additional[..]), &mut out[plain..])?
            }
            Form::Tls12Implicit => {
                let header = header(kind, length + TAG);
                out.extend_from_slice(&header);
                let plain = out.len();
                pieces.take(length, out);
                let additional = self.additional(header, length);
                self.seal_in_place(nonce, Aad::from(&additional[..]), &mut out[plain..])?
            }
        };
        out.extend_from_slice(&tag);
        self.sequence += 1;
        self.blocks += length as u64 / 16 + 2;
        Ok(())
    }

    fn seal_in_place(
        &self,
        nonce: [u8; NONCE_LEN],
        additional: Aad<&[u8]>,
        octets: &mut [u8],
    ) -> Result<[u8; TAG], RecordError> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self
            .key
            .seal_in_place_separate_tag(nonce, additional, octets)
            .map_err(|_| RecordError::TooLong)?;
        tag.as_ref().try_into().map_err(|_| RecordError::TooLong)
    }

    /// Opens a whole record where it lies; its kind, and where its contents are.
    pub(crate) fn open(&mut self, record: &mut [u8]) -> Result<(u8, Range<usize>), RecordError> {
        let Some((head, body)) = record.split_first_chunk_mut::<HEADER>() else {
            return Err(RecordError::Forged);
        };
        let kind = head[0];
        let nonce = self.nonce();
        let (kind, plain) = match self.form {
            Form::Tls13 => {
                if kind != kind::DATA {
                    return Err(RecordError::Unexpected);
                }
                if body.len() > LARGEST_SEALED_13 {
                    return Err(RecordError::TooLong);
                }
                let plain = self.open_in_place(nonce, Aad::from(&head[..]), body, 0)?;
                // The kind and what hides the length count too (5.4).
                if plain > LARGEST_PLAIN + 1 {
                    return Err(RecordError::TooLong);
                }
                // Zeros may follow the kind, to hide the length.
                let last = body[..plain].iter().rposition(|octet| *octet != 0);
                let last = last.ok_or(RecordError::Unexpected)?;
                (body[last], HEADER..HEADER + last)
            }
            Form::Tls12Explicit => {
                let mut nonce = nonce;
                let Some(plain) = body.len().checked_sub(EXPLICIT_NONCE + TAG) else {
                    return Err(RecordError::Forged);
                };
                nonce[..4].copy_from_slice(&self.vector[..4]);
                nonce[4..].copy_from_slice(&body[..EXPLICIT_NONCE]);
                let additional = self.additional(*head, plain);
                self.open_in_place(nonce, Aad::from(&additional[..]), body, EXPLICIT_NONCE)?;
                let start = HEADER + EXPLICIT_NONCE;
                (kind, start..start + plain)
            }
            Form::Tls12Implicit => {
                let Some(plain) = body.len().checked_sub(TAG) else {
                    return Err(RecordError::Forged);
                };
                let additional = self.additional(*head, plain);
                self.open_in_place(nonce, Aad::from(&additional[..]), body, 0)?;
                (kind, HEADER..HEADER + plain)
            }
        };
        if plain.len() > LARGEST_PLAIN {
            return Err(RecordError::TooLong);
        }
        self.sequence = self.sequence.checked_add(1).ok_or(RecordError::Forged)?;
        Ok((kind, plain))
    }

    fn open_in_place(
        &self,
        nonce: [u8; NONCE_LEN],
        additional: Aad<&[u8]>,
        body: &mut [u8],
        start: usize,
    ) -> Result<usize, RecordError> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let plain = self
            .key
            .open_in_place(nonce, additional, &mut body[start..]);
        plain
            .map(|plain| plain.len())
            .map_err(|_| RecordError::Forged)
    }
}

fn header(kind: u8, length: usize) -> [u8; HEADER] {
    // No record made here is longer than `LARGEST_SEALED`.
    let length = u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes();
    [kind, 3, 3, length[0], length[1]]
}

/// The length of the first record in some octets, its header included; `None`
/// until the header is there.
#[inline]
pub(crate) fn length(octets: &[u8]) -> Result<Option<usize>, RecordError> {
    let Some(header) = octets.first_chunk::<HEADER>() else {
        return Ok(None);
    };
    let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
    if length > LARGEST_SEALED {
        return Err(RecordError::TooLong);
    }
    Ok(Some(HEADER + length))
}

/// Octets from several places, taken in order.
#[derive(Debug)]
pub(crate) struct Pieces<'p> {
    slices: &'p [IoSlice<'p>],
    /// Octets of the first slice that were taken.
    taken: usize,
    left: usize,
}

impl<'p> Pieces<'p> {
    pub(crate) fn new(slices: &'p [IoSlice<'p>]) -> Self {
        Self {
            slices,
            taken: 0,
            left: slices.iter().map(|slice| slice.len()).sum(),
        }
    }

    /// Octets not yet taken.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    fn take(&mut self, mut count: usize, out: &mut Vec<u8>) {
        while count > 0 {
            let Some(slice) = self.slices.first() else {
                return;
            };
            let part = &slice[self.taken..];
            let part = &part[..part.len().min(count)];
            out.extend_from_slice(part);
            count -= part.len();
            self.left -= part.len();
            self.taken += part.len();
            if self.taken == slice.len() {
                self.slices = &self.slices[1..];
                self.taken = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests;
