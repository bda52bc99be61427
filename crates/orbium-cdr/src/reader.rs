// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes to values.

mod across;
mod chunks;
mod fixed;

use crate::fragment_boundaries::More;
use crate::layout::gap;
use crate::{ByteOrder, CdrError, CdrErrorKind, Format, Owner};

/// Maximum levels of nesting (recursive values, anys, TypeCodes, encapsulations) in a reader,
/// beyond which the error is [`CdrErrorKind::TooDeep`].
pub const MAX_NESTING: u16 = 128;

/// Reads CDR data in place.
///
/// The reader has exclusive access to the octets for `'a` and returns each only once, so slices of
/// foreign byte order can be converted in place.
#[derive(Debug)]
pub struct CdrReader<'a> {
    /// Empty if there are boundaries.
    pub(crate) rest: &'a mut [u8],
    /// Position of the end of `rest`, counted from the alignment origin.
    pub(crate) end: usize,
    pub(crate) swap: bool,
    format: Format,
    nesting: u16,
    owner: Option<&'a Owner>,
    /// Boundaries, see `fragment_boundaries`, and the state of a message.
    pub(crate) more: Option<Box<More<'a>>>,
}

impl<'a> CdrReader<'a> {
    /// A reader over `octets`, the first of which is the alignment origin.
    #[must_use]
    #[inline]
    pub fn new(octets: &'a mut [u8], format: Format) -> Self {
        Self::at(octets, 0, format)
    }

    /// A reader over `octets` that start `position` octets after the alignment origin, for example
    /// the body of a message.
    #[must_use]
    #[inline]
    pub fn at(octets: &'a mut [u8], position: usize, format: Format) -> Self {
        Self {
            end: position + octets.len(),
            rest: octets,
            swap: format.order.is_foreign(),
            format,
            nesting: MAX_NESTING,
            owner: None,
            more: None,
        }
    }

    /// The same reader with an owner for the references that it reads.
    #[must_use]
    #[inline]
    pub fn with_owner(mut self, owner: Option<&'a Owner>) -> Self {
        self.owner = owner;
        self
    }

    /// Sets the owner.
    #[inline(always)]
    pub fn set_owner(&mut self, owner: Option<&'a Owner>) {
        self.owner = owner;
    }

    /// The owner, if set.
    #[must_use]
    #[inline]
    pub fn owner(&self) -> Option<&'a Owner> {
        self.owner
    }

    /// The format values are read in.
    #[must_use]
    #[inline]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Sets the code sets and version once they are determined.
    #[inline]
    pub fn set_format(&mut self, format: Format) {
        self.swap = format.order.is_foreign();
        self.format = format;
    }

    /// Sets the remaining levels of nesting; [`MAX_NESTING`] by default.
    #[inline]
    pub fn set_nesting(&mut self, levels: u16) {
        self.nesting = levels;
    }

    /// Octets from the alignment origin to the next octet.
    #[must_use]
    #[inline(always)]
    pub fn position(&self) -> usize {
        self.end - self.rest.len()
    }

    /// The number of remaining octets.
    #[must_use]
    #[inline(always)]
    pub fn remaining(&self) -> usize {
        match &self.more {
            Some(more) if more.boundaries.is_some() => self.remaining_across(),
            _ => self.rest.len(),
        }
    }

    /// An error at the present position.
    #[must_use]
    #[cold]
    pub fn error(&self, kind: CdrErrorKind) -> CdrError {
        CdrError::new(kind, self.position())
    }

    /// Takes `size` octets as they are.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`].
    #[inline(always)]
    pub fn take(&mut self, size: usize) -> Result<&'a mut [u8], CdrError> {
        if size > self.rest.len() {
            return self.take_across(size);
        }
        let (taken, rest) = core::mem::take(&mut self.rest).split_at_mut(size);
        self.rest = rest;
        Ok(taken)
    }

    /// Skips to the next multiple of `align`.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`].
    #[inline(always)]
    pub fn align(&mut self, align: usize) -> Result<(), CdrError> {
        let skip = gap(self.position(), align);
        if skip > self.rest.len() {
            return self.align_across(align);
        }
        self.take(skip).map(|_| ())
    }

    #[inline(always)]
    fn primitive<const N: usize>(&mut self, align: usize) -> Result<[u8; N], CdrError> {
        let skip = gap(self.position(), align);
        let mut bytes = [0; N];
        if skip + N > self.rest.len() {
            self.fill_across(align, &mut bytes)?;
            return Ok(bytes);
        }
        let octets = self.take(skip + N)?;
        bytes.copy_from_slice(&octets[skip..]);
        Ok(bytes)
    }

    /// Reads an octet.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`], here and for the other primitives.
    #[inline]
    pub fn read_u8(&mut self) -> Result<u8, CdrError> {
        Ok(self.primitive::<1>(1)?[0])
    }

    /// Reads a boolean; any octet but 0 is TRUE.
    #[inline]
    #[allow(clippy::missing_errors_doc)]
    pub fn read_bool(&mut self) -> Result<bool, CdrError> {
        Ok(self.read_u8()? != 0)
    }

    /// Reads an unsigned short.
    #[inline]
    #[allow(clippy::missing_errors_doc)]
    pub fn read_u16(&mut self) -> Result<u16, CdrError> {
        let value = u16::from_ne_bytes(self.primitive(2)?);
        Ok(if self.swap { value.swap_bytes() } else { value })
    }

    /// Reads an unsigned long.
    #[inline]
    #[allow(clippy::missing_errors_doc)]
    pub fn read_u32(&mut self) -> Result<u32, CdrError> {
        let value = u32::from_ne_bytes(self.primitive(4)?);
        Ok(if self.swap { value.swap_bytes() } else { value })
    }

    /// Reads an unsigned long long.
    #[inline]
    #[allow(clippy::missing_errors_doc)]
    pub fn read_u64(&mut self) -> Result<u64, CdrError> {
        let value = u64::from_ne_bytes(self.primitive(8)?);
        Ok(if self.swap { value.swap_bytes() } else { value })
    }

    /// The next longs, and the position of the first of them: `None` if they are not available in
    /// one piece.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn peek_longs<const N: usize>(&self) -> Option<(usize, [u32; N])> {
        let position = self.position();
        let skip = gap(position, 4);
        let octets = self.rest.get(skip..)?;
        let (longs, _) = octets.as_chunks();
        let longs = longs.first_chunk::<N>()?.map(u32::from_ne_bytes);
        let longs = if self.swap {
            longs.map(u32::swap_bytes)
        } else {
            longs
        };
        Some((position + skip, longs))
    }

    /// Skips that many longs.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`].
    #[doc(hidden)]
    #[inline]
    pub fn skip_longs(&mut self, count: usize) -> Result<(), CdrError> {
        let skip = gap(self.position(), 4);
        self.take(skip + 4 * count).map(|_| ())
    }

    /// Reads the count of a sequence with elements of at least `least` octets each, and checks it
    /// against the remaining octets.
    ///
    /// # Errors
    ///
    /// [`CdrErrorKind::CountTooLarge`], [`CdrErrorKind::Truncated`].
    #[inline]
    pub fn read_count(&mut self, least: usize) -> Result<usize, CdrError> {
        let count = self.read_u32()? as usize;
        let octets = count.saturating_mul(least.max(1));
        if octets > self.rest.len() && octets > self.remaining() {
            return Err(self.error(CdrErrorKind::CountTooLarge));
        }
        Ok(count)
    }

    /// Reads a `sequence<octet>` in place.
    ///
    /// # Errors
    /// [`CdrErrorKind::CountTooLarge`], [`CdrErrorKind::Truncated`].
    #[inline]
    pub fn read_octets(&mut self) -> Result<&'a mut [u8], CdrError> {
        let count = self.read_count(1)?;
        self.take(count)
    }

    /// Reads an encapsulation: returns a separate reader over its octets, in its own byte order,
    /// that cannot read past its end.
    ///
    /// # Errors
    /// [`CdrErrorKind::CountTooLarge`], [`CdrErrorKind::Truncated`] (an empty
    /// encapsulation has no byte-order octet), [`CdrErrorKind::TooDeep`].
    pub fn read_encapsulation(&mut self) -> Result<CdrReader<'a>, CdrError> {
        let octets = self.read_octets()?;
        let Some(flag) = octets.first() else {
            return Err(self.error(CdrErrorKind::Truncated));
        };
        let format = self.format.with_order(ByteOrder::from_flag(*flag));
        let mut inner = CdrReader::new(octets, format).with_owner(self.owner);
        inner.nesting = self
            .nesting
            .checked_sub(1)
            .ok_or_else(|| self.error(CdrErrorKind::TooDeep))?;
        inner.read_u8()?;
        Ok(inner)
    }

    /// Enters one level of nesting, for a recursive value.
    ///
    /// # Errors
    /// [`CdrErrorKind::TooDeep`] beyond [`MAX_NESTING`]; otherwise those of `read`.
    pub fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, CdrError>,
    ) -> Result<T, CdrError> {
        self.nesting = self
            .nesting
            .checked_sub(1)
            .ok_or_else(|| self.error(CdrErrorKind::TooDeep))?;
        let value = read(self);
        self.nesting += 1;
        value
    }
}
