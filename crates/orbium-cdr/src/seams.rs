// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages put together from fragments that are aligned each on its own, as
//! those of GIOP 1.1 are.
//!
//! A fragment counts alignment from its own start, and its data begin at octet
//! 12 of it. A primitive never lies across a seam: what is left of a fragment
//! that it does not fit into is padding. Octets, and with them strings, go
//! straight through.
//!
//! A reader with seams keeps nothing in `rest`, so whatever it is asked for
//! does not fit there and ends up here: readers without seams pay nothing.

use core::cell::{Cell, RefCell};

use crate::fixed_size::Primitives;
use crate::layout::gap;
use crate::{CdrError, CdrErrorKind, CdrReader, FixedIn, FixedSize};

/// Where the data of a fragment begin in it.
const DATA_AT: usize = 12;

/// What a reader walks when there are seams.
#[derive(Debug)]
pub(crate) struct Seams<'a> {
    /// All octets not yet read: what lies together in memory can be handed out
    /// in one piece, seams or not.
    octets: &'a mut [u8],
    /// Octets of the message before them.
    index: usize,
    /// The seams ahead, in octets from the start of the message.
    ahead: &'a [u32],
}

impl Seams<'_> {
    pub(crate) fn remaining(&self) -> usize {
        self.octets.len()
    }

    /// Octets until the next seam or the end.
    fn here(&self) -> usize {
        match self.ahead.first() {
            Some(seam) => (*seam as usize)
                .saturating_sub(self.index)
                .min(self.octets.len()),
            None => self.octets.len(),
        }
    }

    /// Steps to the next fragment; what is left of this one is padding.
    /// Returns the new position, or `None` after the last fragment.
    fn cross(&mut self, position: usize) -> Option<usize> {
        let (_, ahead) = self.ahead.split_first()?;
        let left = self.here();
        self.octets = core::mem::take(&mut self.octets).split_at_mut(left).1;
        self.index += left;
        self.ahead = ahead;
        Some(beyond(position + left))
    }
}

/// The position at which the next fragment begins: as little further as makes
/// alignment come out as in that fragment.
const fn beyond(position: usize) -> usize {
    position + (DATA_AT.wrapping_sub(position) & 7)
}

impl<'a> CdrReader<'a> {
    /// Tells the reader that its message was put together from fragments that
    /// are aligned each on its own, as those of GIOP 1.1 are.
    ///
    /// `seams` are the places where a fragment's data begin, in octets from the
    /// start of the message, ascending; the position of the reader must count
    /// from there, too. Positions after a seam are larger by up to seven, so
    /// that alignment comes out.
    #[inline(always)]
    pub fn set_seams(&mut self, seams: &'a [u32]) {
        if !seams.is_empty() {
            self.set_some_seams(seams);
        }
    }

    /// As [`CdrReader::set_seams`].
    #[must_use]
    #[inline]
    pub fn with_seams(mut self, seams: &'a [u32]) -> Self {
        self.set_seams(seams);
        self
    }

    #[cold]
    fn set_some_seams(&mut self, seams: &'a [u32]) {
        let index = self.position();
        let (behind, ahead) = seams.split_at(seams.partition_point(|seam| *seam as usize <= index));
        if let Some(seam) = behind.last() {
            self.end += DATA_AT.wrapping_sub(*seam as usize) & 7;
        }
        if !ahead.is_empty() {
            self.end = self.position();
            self.more = Some(Box::new(Seams {
                octets: core::mem::take(&mut self.rest),
                index,
                ahead,
            }));
        }
    }

    /// The next octets, as far as they belong together: up to the next seam.
    #[must_use]
    #[inline]
    pub fn ahead(&mut self) -> &[u8] {
        if self.more.is_none() {
            return self.rest;
        }
        self.ahead_across()
    }

    #[cold]
    fn ahead_across(&mut self) -> &[u8] {
        let Some(seams) = &mut self.more else {
            return &[];
        };
        while seams.here() == 0
            && let Some(position) = seams.cross(self.end)
        {
            self.end = position;
        }
        &seams.octets[..seams.here()]
    }

    /// Takes octets, across as many seams as it needs.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_across(&mut self, size: usize) -> Result<&'a mut [u8], CdrError> {
        let Some(seams) = self.more.as_deref_mut() else {
            return Err(self.error(CdrErrorKind::Truncated));
        };
        if size > seams.octets.len() {
            return Err(self.error(CdrErrorKind::Truncated));
        }
        let mut left = size;
        let mut here = seams.here();
        let (taken, rest) = core::mem::take(&mut seams.octets).split_at_mut(size);
        while left > here
            && let [seam, ahead @ ..] = seams.ahead
        {
            left -= here;
            seams.index += here;
            self.end = beyond(self.end + here);
            seams.ahead = ahead;
            here = ahead.first().map_or(usize::MAX, |next| {
                (*next as usize).saturating_sub(*seam as usize)
            });
        }
        seams.octets = rest;
        seams.index += left;
        self.end += left;
        Ok(taken)
    }

    /// Skips to the next multiple of `align`, of the next fragment if this one
    /// ends before.
    #[cold]
    #[inline(never)]
    pub(crate) fn align_across(&mut self, align: usize) -> Result<(), CdrError> {
        loop {
            let skip = gap(self.end, align);
            let Some(seams) = self.more.as_deref_mut() else {
                return Err(self.error(CdrErrorKind::Truncated));
            };
            if skip <= seams.here() {
                return self.take_across(skip).map(|_| ());
            }
            match seams.cross(self.end) {
                Some(position) => self.end = position,
                None => return Err(self.error(CdrErrorKind::Truncated)),
            }
        }
    }

    /// Reads one primitive in the order of the wire.
    #[cold]
    #[inline(never)]
    pub(crate) fn fill_across(&mut self, align: usize, out: &mut [u8]) -> Result<(), CdrError> {
        loop {
            let skip = gap(self.end, align);
            let Some(seams) = self.more.as_deref_mut() else {
                return Err(self.error(CdrErrorKind::Truncated));
            };
            if skip + out.len() <= seams.here() {
                let octets = self.take_across(skip + out.len())?;
                out.copy_from_slice(&octets[skip..]);
                return Ok(());
            }
            match seams.cross(self.end) {
                Some(position) => self.end = position,
                None => return Err(self.error(CdrErrorKind::Truncated)),
            }
        }
    }

    /// Takes `count` primitives of that size and alignment as they are, in one
    /// piece without padding.
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
        if self.more.is_some() {
            return self.run_across(count, size, align);
        }
        self.align(align)?;
        self.take(extent)
    }

    /// The run is closed up where it lies: padding at the seams goes.
    #[cold]
    #[inline(never)]
    fn run_across(
        &mut self,
        count: usize,
        size: usize,
        align: usize,
    ) -> Result<&'a mut [u8], CdrError> {
        let Some(seams) = self.more.as_deref_mut() else {
            return Err(self.error(CdrErrorKind::Truncated));
        };
        let mut position = self.end;
        let octets = core::mem::take(&mut seams.octets);
        let (mut from, mut to, mut left) = (0, 0, count);
        while left > 0 {
            let seam = seams
                .ahead
                .first()
                .map_or(usize::MAX, |seam| *seam as usize);
            let here = seam.saturating_sub(seams.index).min(octets.len() - from);
            let skip = gap(position, align);
            let fit = (here.saturating_sub(skip) / size.max(1)).min(left);
            if fit > 0 {
                let extent = fit * size;
                octets.copy_within(from + skip..from + skip + extent, to);
                to += extent;
                from += skip + extent;
                seams.index += skip + extent;
                position += skip + extent;
                left -= fit;
            } else if let [_, ahead @ ..] = seams.ahead {
                from += here;
                seams.index += here;
                position = beyond(position + here);
                seams.ahead = ahead;
            } else {
                return Err(self.error(CdrErrorKind::Truncated));
            }
        }
        let (run, rest) = octets.split_at_mut(from);
        seams.octets = rest;
        self.end = position;
        Ok(run.split_at_mut(to).0)
    }

    /// Reads a fixed-size value member by member.
    #[cold]
    #[inline(never)]
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

    /// How many elements, of `count` that follow, lie before the next seam, and
    /// the octets they take.
    pub(crate) fn elements_here<T: FixedSize>(&self, count: usize) -> (usize, usize) {
        let layout = const { T::LAYOUT };
        let here = self.more.as_deref().map_or(0, Seams::here);
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

/// The source of a fixed-size value that lies across a seam.
#[derive(Debug)]
struct Across<'m, 'a> {
    reader: RefCell<&'m mut CdrReader<'a>>,
    /// The first one: values are loaded without looking back.
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
