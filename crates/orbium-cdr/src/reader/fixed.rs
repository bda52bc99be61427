// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of fixed size, and sequences of them.

use std::borrow::Cow;

use crate::allocation;
use crate::block;
use crate::layout::gap;
use crate::{CdrError, CdrErrorKind, CdrReader, FixedIn, FixedOut, FixedSize};

impl<'a> CdrReader<'a> {
    /// Reads one fixed-size value with one bounds check.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`], [`CdrErrorKind::BadEnumerator`].
    #[inline(always)]
    pub fn read_fixed<T: FixedSize>(&mut self) -> Result<T, CdrError> {
        let phase = self.position() & 7;
        let extent = T::LAYOUT.end(phase);
        if extent > self.rest.len() {
            return self.read_fixed_across();
        }
        let octets = self.take(extent)?;
        let (value, invalid) = if self.swap {
            let mut source = FixedIn::<true>::new(octets, phase);
            (T::load(&mut source), source.is_invalid())
        } else {
            let mut source = FixedIn::<false>::new(octets, phase);
            (T::load(&mut source), source.is_invalid())
        };
        if invalid {
            return Err(self.error(CdrErrorKind::BadEnumerator));
        }
        Ok(value)
    }

    /// The octets of `count` elements at this position.
    #[inline]
    fn extent<T: FixedSize>(&self, count: usize) -> Result<usize, CdrError> {
        let layout = const { T::LAYOUT };
        let octets = match count.checked_sub(1) {
            None => 0,
            Some(others) => others
                .checked_mul(const { T::LAYOUT.stride() })
                .and_then(|others| others.checked_add(layout.end(self.position() & 7)))
                .ok_or_else(|| self.error(CdrErrorKind::CountTooLarge))?,
        };
        if octets > self.rest.len() {
            return Err(self.error(CdrErrorKind::CountTooLarge));
        }
        Ok(octets)
    }

    /// Appends `count` fixed-size elements to `out`, in one copy if the layouts permit.
    ///
    /// # Errors
    /// [`CdrErrorKind::CountTooLarge`], [`CdrErrorKind::BadEnumerator`],
    /// [`CdrErrorKind::NoMemory`].
    #[inline]
    pub fn read_fixed_vec<T: FixedSize>(
        &mut self,
        count: usize,
        out: &mut Vec<T>,
    ) -> Result<(), CdrError> {
        if self.is_divided() {
            return self.read_fixed_vec_across(count, out);
        }
        let extent = self.extent::<T>(count)?;
        self.read_elements(extent, count, out)
    }

    /// As [`CdrReader::read_fixed_vec`], for the elements of a sequence, which may have their
    /// layout in memory: see [`Format::NATURAL`](crate::Format::NATURAL).
    ///
    /// # Errors
    /// As [`CdrReader::read_fixed_vec`].
    #[inline]
    pub fn read_fixed_sequence<T: FixedSize>(
        &mut self,
        count: usize,
        out: &mut Vec<T>,
    ) -> Result<(), CdrError> {
        if const { T::LAYOUT.has_natural() } && self.format.is_natural() {
            return self.read_natural(count, out);
        }
        self.read_fixed_vec(count, out)
    }

    #[cold]
    fn read_natural<T: FixedSize>(
        &mut self,
        count: usize,
        out: &mut Vec<T>,
    ) -> Result<(), CdrError> {
        let octets = self.take_natural::<T>(count)?;
        natural_into(octets, count, out).map_err(|kind| self.error(kind))
    }

    /// Takes elements with their layout in memory: see [`Format::NATURAL`](crate::Format::NATURAL).
    #[inline]
    fn take_natural<T: FixedSize>(&mut self, count: usize) -> Result<&'a mut [u8], CdrError> {
        if count == 0 {
            return Ok(&mut []);
        }
        self.align(align_of::<T>())?;
        match count.checked_mul(size_of::<T>()) {
            Some(octets) if octets <= self.remaining() => self.take(octets),
            _ => Err(self.error(CdrErrorKind::CountTooLarge)),
        }
    }

    #[inline(always)]
    fn read_elements<T: FixedSize>(
        &mut self,
        extent: usize,
        count: usize,
        out: &mut Vec<T>,
    ) -> Result<(), CdrError> {
        let phase = self.position() & 7;
        let octets = self.take(extent)?;
        let loaded = if self.swap {
            load_elements::<T, true>(octets, phase, count, out)
        } else {
            load_elements::<T, false>(octets, phase, count, out)
        };
        loaded.map_err(|kind| self.error(kind))
    }

    /// Reads all elements before a boundary at once, then the one that crosses it.
    #[cold]
    fn read_fixed_vec_across<T: FixedSize>(
        &mut self,
        count: usize,
        out: &mut Vec<T>,
    ) -> Result<(), CdrError> {
        if count.saturating_mul(const { T::LAYOUT.min_size() }) > self.remaining() {
            return Err(self.error(CdrErrorKind::CountTooLarge));
        }
        let mut left = count;
        while left > 0 {
            let (whole, extent) = self.elements_here::<T>(left);
            if whole == 0 {
                let item = self.read_fixed_across()?;
                if !allocation::push(out, item) {
                    return Err(self.error(CdrErrorKind::NoMemory));
                }
                left -= 1;
            } else {
                self.read_elements(extent, whole, out)?;
                left -= whole;
            }
        }
        Ok(())
    }

    /// Reads a sequence of fixed-size elements without copying if possible: the elements are
    /// borrowed from the message, and converted to native byte order in place if necessary.
    ///
    /// # Errors
    /// [`CdrErrorKind::CountTooLarge`], [`CdrErrorKind::Truncated`],
    /// [`CdrErrorKind::BadEnumerator`], [`CdrErrorKind::NoMemory`].
    #[inline]
    pub fn read_fixed_slice<T: FixedSize>(&mut self) -> Result<Cow<'a, [T]>, CdrError> {
        if self.is_divided() {
            return self.read_fixed_slice_across();
        }
        self.align(4)?;
        // The octets of the count are taken together with the elements: the first element may need
        // them for alignment (see `settle`).
        let Some(count) = self.rest.first_chunk::<4>() else {
            return Err(self.error(CdrErrorKind::Truncated));
        };
        let count = u32::from_ne_bytes(*count);
        let count = if self.swap { count.swap_bytes() } else { count } as usize;
        if count == 0 {
            self.take(4)?;
            return Ok(Cow::Borrowed(&[]));
        }
        if const { T::LAYOUT.has_natural() } && self.format.is_natural() {
            self.take(4)?;
            let octets: &[u8] = self.take_natural::<T>(count)?;
            if let Some(items) = block::cast::<T>(octets) {
                return Ok(Cow::Borrowed(items));
            }
            let mut out = Vec::new();
            natural_into(octets, count, &mut out).map_err(|kind| self.error(kind))?;
            return Ok(Cow::Owned(out));
        }
        if const { T::LAYOUT.is_block() } {
            let start = self.position() + 4;
            let layout = const { T::LAYOUT };
            let extent = (count - 1)
                .checked_mul(const { T::LAYOUT.stride() })
                .and_then(|others| others.checked_add(layout.end(start & 7)))
                .filter(|extent| *extent <= self.rest.len() - 4)
                .ok_or_else(|| self.error(CdrErrorKind::CountTooLarge))?;
            let swap = self.swap;
            let octets = self.take(4 + extent)?;
            return settle(octets, start, count, swap).map_err(|kind| self.error(kind));
        }
        self.take(4)?;
        let mut out = Vec::new();
        self.read_fixed_vec(count, &mut out)?;
        Ok(Cow::Owned(out))
    }

    #[cold]
    fn read_fixed_slice_across<T: FixedSize>(&mut self) -> Result<Cow<'a, [T]>, CdrError> {
        let count = self.read_count(const { T::LAYOUT.min_size() })?;
        let mut out = Vec::new();
        self.read_fixed_sequence(count, &mut out)?;
        Ok(Cow::Owned(out))
    }
}

/// Appends elements with their layout in memory.
#[inline]
fn natural_into<T: FixedSize>(
    octets: &[u8],
    count: usize,
    out: &mut Vec<T>,
) -> Result<(), CdrErrorKind> {
    if count == 0 {
        return Ok(());
    }
    if !allocation::reserve(out, count) {
        return Err(CdrErrorKind::NoMemory);
    }
    block::copy_natural_in(octets, count, out);
    Ok(())
}

/// Decodes elements one by one, or all but the first in one copy.
#[inline]
fn load_elements<T: FixedSize, const SWAP: bool>(
    octets: &[u8],
    phase: usize,
    count: usize,
    out: &mut Vec<T>,
) -> Result<(), CdrErrorKind> {
    if count == 0 {
        return Ok(());
    }
    let layout = const { T::LAYOUT };
    let (first, others) = octets.split_at(layout.end(phase));
    let mut source = FixedIn::<SWAP>::new(first, phase);
    if !allocation::reserve(out, count) {
        return Err(CdrErrorKind::NoMemory);
    }
    out.push(T::load(&mut source));
    let mut invalid = source.is_invalid();
    if const { T::LAYOUT.is_block() } && !SWAP {
        block::copy_in(others, count - 1, out);
    } else {
        out.extend(
            others
                .chunks_exact(const { T::LAYOUT.stride() })
                .map(|octets| {
                    let mut source = FixedIn::<SWAP>::new(octets, const { T::LAYOUT.steady() });
                    let value = T::load(&mut source);
                    invalid |= source.is_invalid();
                    value
                }),
        );
    }
    if invalid {
        return Err(CdrErrorKind::BadEnumerator);
    }
    Ok(())
}

/// Aligns block elements in place.
///
/// `octets` starts with the four octets of the count, the elements follow from position `start`.
/// All elements but the first are aligned; the first is aligned, too, or has smaller or larger gaps
/// than the second, and is then moved: into the octets of the count, if it needs more room.
fn settle<T: FixedSize>(
    octets: &mut [u8],
    start: usize,
    count: usize,
    swap: bool,
) -> Result<Cow<'_, [T]>, CdrErrorKind> {
    let layout = const { T::LAYOUT };
    let phase = start & 7;
    let lead = size_of::<T>() - layout.end(0);
    let first_end = 4 + layout.end(phase);
    // With trailing padding the last element is not complete on the wire.
    if lead == 0 && first_end >= size_of::<T>() {
        let first_at = first_end - size_of::<T>();
        if !(first_at + start - 4).is_multiple_of(layout.align()) {
            return load_owned(octets, phase, count, swap);
        }
        let aligned_already = layout.end(phase) - gap(phase, layout.first_align()) == layout.end(0)
            && (phase + gap(phase, layout.first_align())).is_multiple_of(layout.align());
        if !aligned_already {
            let mut source = FixedIn::<false>::new(&octets[4..first_end], phase);
            // Loaded and stored in the order of the wire; turned below.
            let first = T::load(&mut source);
            let room = &mut octets[first_at..first_end];
            first.store(&mut FixedOut::<false>::new(room, 0));
        }
        let elements = &mut octets[first_at..];
        if elements.as_ptr().cast::<T>().is_aligned() {
            if swap {
                block::swap_in_place::<T>(elements);
            }
            let elements: &[u8] = elements;
            if let Some(items) = block::cast::<T>(elements) {
                return Ok(Cow::Borrowed(items));
            }
        }
        let mut out = Vec::new();
        if swap {
            load_elements::<T, true>(elements, 0, count, &mut out)?;
        } else {
            load_elements::<T, false>(elements, 0, count, &mut out)?;
        }
        return Ok(Cow::Owned(out));
    }
    load_owned(octets, phase, count, swap)
}

#[cold]
fn load_owned<T: FixedSize>(
    octets: &[u8],
    phase: usize,
    count: usize,
    swap: bool,
) -> Result<Cow<'static, [T]>, CdrErrorKind> {
    let mut out = Vec::new();
    if swap {
        load_elements::<T, true>(&octets[4..], phase, count, &mut out)?;
    } else {
        load_elements::<T, false>(&octets[4..], phase, count, &mut out)?;
    }
    Ok(Cow::Owned(out))
}
