// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading across the boundaries of fragments that are aligned separately.

use core::cell::{Cell, RefCell};

use crate::fragment_boundaries::{DATA_AT, FragmentBoundaries, More, beyond};
use crate::layout::fixed_size::Primitives;
use crate::layout::gap;
use crate::{CdrError, CdrErrorKind, CdrReader, FixedIn, FixedSize};

/// The boundaries, if there are any; the other parts of the reader remain borrowable.
pub(super) fn divided<'m, 'a>(
    more: &'m mut Option<Box<More<'a>>>,
) -> Option<&'m mut FragmentBoundaries<'a>> {
    more.as_deref_mut()?.boundaries.as_mut()
}

impl<'a> CdrReader<'a> {
    /// Sets the boundaries of a message that was reassembled from separately aligned fragments, as
    /// in GIOP 1.1.
    ///
    /// `boundaries` are the offsets at which a fragment's data begin, in bytes from the start of
    /// the message, ascending; the position of the reader must also be relative to that start.
    /// Positions after a boundary are larger by up to seven, which restores the alignment.
    #[inline(always)]
    pub fn set_fragment_boundaries(&mut self, boundaries: &'a [u32]) {
        if !boundaries.is_empty() {
            self.set_some_boundaries(boundaries);
        }
    }

    /// As [`CdrReader::set_fragment_boundaries`].
    #[must_use]
    #[inline]
    pub fn with_fragment_boundaries(mut self, boundaries: &'a [u32]) -> Self {
        self.set_fragment_boundaries(boundaries);
        self
    }

    #[cold]
    fn set_some_boundaries(&mut self, boundaries: &'a [u32]) {
        let index = self.position();
        let (behind, ahead) =
            boundaries.split_at(boundaries.partition_point(|boundary| *boundary as usize <= index));
        if let Some(boundary) = behind.last() {
            self.end += DATA_AT.wrapping_sub(*boundary as usize) & 7;
        }
        if !ahead.is_empty() {
            self.set_boundaries(index, ahead);
        }
    }

    /// Continues at the byte of this index, with boundaries at the indices ahead.
    #[cold]
    fn set_boundaries(&mut self, index: usize, ahead: &'a [u32]) {
        self.end = self.position();
        let bytes = core::mem::take(&mut self.rest);
        self.more = Some(Box::new(More {
            boundaries: Some(FragmentBoundaries {
                bytes,
                index,
                ahead,
                chunk: None,
            }),
            ..More::default()
        }));
    }

    /// The unread bytes up to the next boundary.
    #[must_use]
    #[inline]
    pub fn ahead(&mut self) -> &[u8] {
        if self.more.is_none() {
            return self.rest;
        }
        self.ahead_across()
    }

    /// Reads ahead across boundaries: `read` gets a reader of the unread octets, which stay unread.
    /// Returns its result, and the number of octets that it has read.
    ///
    /// # Errors
    /// Those of `read`; [`CdrErrorKind::Truncated`] without boundaries of fragments.
    #[doc(hidden)]
    #[cold]
    pub fn look_across<T>(
        &mut self,
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<(T, usize), CdrError> {
        let (position, format) = (self.position(), self.format);
        let Some(boundaries) = divided(&mut self.more).filter(|it| it.chunk.is_none()) else {
            return Err(self.error(CdrErrorKind::Truncated));
        };
        let unread = boundaries.remaining();
        let mut ahead = CdrReader::at(boundaries.bytes, position, format);
        ahead.set_boundaries(boundaries.index, boundaries.ahead);
        let read = read(&mut ahead)?;
        Ok((read, unread - ahead.remaining()))
    }

    /// The boundaries ahead, in bytes from the next byte on, for data that are taken whole and read
    /// later [with them](Self::with_boundaries_ahead).
    #[doc(hidden)]
    #[must_use]
    pub fn boundaries_ahead(&self) -> Vec<u32> {
        let boundaries = self.boundaries().into_iter();
        let ahead = boundaries.flat_map(|it| it.ahead.iter().map(move |at| (*at, it.index)));
        ahead
            .map(|(at, index)| at.saturating_sub(index as u32))
            .collect()
    }

    /// The same reader with [such boundaries](Self::boundaries_ahead).
    #[doc(hidden)]
    #[must_use]
    pub fn with_boundaries_ahead(mut self, ahead: &'a [u32]) -> Self {
        if !ahead.is_empty() {
            self.set_boundaries(0, ahead);
        }
        self
    }

    pub(crate) fn boundaries(&self) -> Option<&FragmentBoundaries<'a>> {
        self.more.as_deref()?.boundaries.as_ref()
    }

    /// Whether `rest` is empty because there are boundaries.
    #[inline]
    pub(crate) fn is_divided(&self) -> bool {
        self.more.is_some() && self.boundaries().is_some()
    }

    #[cold]
    pub(crate) fn remaining_across(&self) -> usize {
        match self.boundaries() {
            Some(boundaries) => boundaries.remaining(),
            None => self.rest.len(),
        }
    }

    #[cold]
    fn ahead_across(&mut self) -> &[u8] {
        let Some(boundaries) = divided(&mut self.more) else {
            return self.rest;
        };
        while boundaries.here() == 0
            && let Some(position) = boundaries.cross(self.end)
        {
            self.end = position;
        }
        &boundaries.bytes[..boundaries.here()]
    }

    /// Takes bytes across any number of boundaries.
    #[cold]
    pub(crate) fn take_across(&mut self, size: usize) -> Result<&'a mut [u8], CdrError> {
        let Some(boundaries) = divided(&mut self.more) else {
            return Err(self.error(CdrErrorKind::Truncated));
        };
        if boundaries.chunk.is_some() {
            return self.take_of_chunk(size);
        }
        if size > boundaries.bytes.len() {
            return Err(self.error(CdrErrorKind::Truncated));
        }
        let mut left = size;
        let mut here = boundaries.here();
        let (taken, rest) = core::mem::take(&mut boundaries.bytes).split_at_mut(size);
        while left > here
            && let [boundary, ahead @ ..] = boundaries.ahead
        {
            left -= here;
            boundaries.index += here;
            self.end = beyond(self.end + here);
            boundaries.ahead = ahead;
            here = ahead.first().map_or(usize::MAX, |next| {
                (*next as usize).saturating_sub(*boundary as usize)
            });
        }
        boundaries.bytes = rest;
        boundaries.index += left;
        self.end += left;
        Ok(taken)
    }

    /// Skips to the next multiple of `align`, of the next fragment if this one ends before.
    #[cold]
    pub(crate) fn align_across(&mut self, align: usize) -> Result<(), CdrError> {
        loop {
            let skip = gap(self.end, align);
            let Some(boundaries) = divided(&mut self.more) else {
                return Err(self.error(CdrErrorKind::Truncated));
            };
            if skip <= boundaries.here() {
                return self.take_across(skip).map(|_| ());
            }
            match boundaries.cross(self.end) {
                Some(position) => self.end = position,
                None => return Err(self.error(CdrErrorKind::Truncated)),
            }
        }
    }

    /// Reads one primitive in wire order.
    #[cold]
    pub(crate) fn fill_across(&mut self, align: usize, out: &mut [u8]) -> Result<(), CdrError> {
        loop {
            let skip = gap(self.end, align);
            let Some(boundaries) = divided(&mut self.more) else {
                return Err(self.error(CdrErrorKind::Truncated));
            };
            if skip + out.len() <= boundaries.here() {
                let octets = self.take_across(skip + out.len())?;
                out.copy_from_slice(&octets[skip..]);
                return Ok(());
            }
            match boundaries.cross(self.end) {
                Some(position) => self.end = position,
                None => return Err(self.error(CdrErrorKind::Truncated)),
            }
        }
    }

    /// Takes `count` primitives of that size and alignment unconverted, in one piece without
    /// padding.
    ///
    /// # Errors
    /// [`CdrErrorKind::CountTooLarge`], [`CdrErrorKind::Truncated`].
    #[inline]
    pub fn take_run(
        &mut self,
        count: usize,
        size: usize,
        align: usize,
    ) -> Result<&'a mut [u8], CdrError> {
        let Some(extent) = count.checked_mul(size) else {
            return Err(self.error(CdrErrorKind::CountTooLarge));
        };
        if self.is_divided() {
            return self.run_across(count, size, align);
        }
        self.align(align)?;
        self.take(extent)
    }

    /// Closes the run up in place by removing padding at the boundaries.
    #[cold]
    fn run_across(
        &mut self,
        count: usize,
        size: usize,
        align: usize,
    ) -> Result<&'a mut [u8], CdrError> {
        if self.is_chunked() {
            return self.run_of_chunk(count * size, align);
        }
        let Some(boundaries) = divided(&mut self.more) else {
            return Err(self.error(CdrErrorKind::Truncated));
        };
        let mut position = self.end;
        let octets = core::mem::take(&mut boundaries.bytes);
        let (mut from, mut to, mut left) = (0, 0, count);
        while left > 0 {
            let boundary = boundaries
                .ahead
                .first()
                .map_or(usize::MAX, |boundary| *boundary as usize);
            let here = boundary
                .saturating_sub(boundaries.index)
                .min(octets.len() - from);
            let skip = gap(position, align);
            let fit = (here.saturating_sub(skip) / size.max(1)).min(left);
            if fit > 0 {
                let extent = fit * size;
                octets.copy_within(from + skip..from + skip + extent, to);
                to += extent;
                from += skip + extent;
                boundaries.index += skip + extent;
                position += skip + extent;
                left -= fit;
            } else if let [_, ahead @ ..] = boundaries.ahead {
                from += here;
                boundaries.index += here;
                position = beyond(position + here);
                boundaries.ahead = ahead;
            } else {
                return Err(self.error(CdrErrorKind::Truncated));
            }
        }
        let (run, rest) = octets.split_at_mut(from);
        boundaries.bytes = rest;
        self.end = position;
        Ok(run.split_at_mut(to).0)
    }

    /// Reads a fixed-size value member by member.
    #[cold]
    pub(crate) fn read_fixed_across<T: FixedSize>(&mut self) -> Result<T, CdrError> {
        if const { T::LAYOUT.min_size() } > self.remaining() {
            return Err(self.error(CdrErrorKind::Truncated));
        }
        let across = Across {
            reader: RefCell::new(self),
            error: Cell::new(None),
        };
        let mut source = FixedIn::<false>::across(&across);
        let value = T::load(&mut source);
        let invalid = source.is_invalid();
        match across.error.get() {
            Some(error) => Err(error),
            None if invalid => Err(self.error(CdrErrorKind::BadEnumerator)),
            None => Ok(value),
        }
    }

    /// The number of elements, of `count` that follow, before the next boundary, and their octets.
    pub(crate) fn elements_here<T: FixedSize>(&self, count: usize) -> (usize, usize) {
        let layout = const { T::LAYOUT };
        let here = self.boundaries().map_or(0, FragmentBoundaries::here);
        let first = layout.end(self.end & 7);
        let Some(others) = here.checked_sub(first) else {
            return (0, 0);
        };
        let stride = const { T::LAYOUT.stride() };
        let others = others
            .checked_div(stride)
            .map_or(count - 1, |others| others.min(count - 1));
        (1 + others, first + others * stride)
    }
}

/// The source of a fixed-size value that crosses a boundary.
#[derive(Debug)]
struct Across<'m, 'a> {
    reader: RefCell<&'m mut CdrReader<'a>>,
    /// The first error: values are loaded without checks.
    error: Cell<Option<CdrError>>,
}

impl Primitives for Across<'_, '_> {
    fn fill(&self, align: usize, out: &mut [u8]) {
        if self.error.get().is_some() {
            return;
        }
        let mut reader = self.reader.borrow_mut();
        match reader.fill_across(align, out) {
            Ok(()) if reader.swap => out.reverse(),
            Ok(()) => {}
            Err(error) => self.error.set(Some(error)),
        }
    }
}
