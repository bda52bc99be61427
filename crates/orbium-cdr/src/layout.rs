// SPDX-License-Identifier: MIT OR Apache-2.0
//! Layout of fixed-size types, on the wire and in memory, worked out by the
//! compiler.

pub(crate) mod fixed_size;
use core::marker::PhantomData;

/// Maximum number of gaps between members of a block-copied element.
const MAX_GAPS: usize = 12;

/// Layout of a fixed-size type, in CDR and in memory.
///
/// In CDR a constructed type has no alignment of its own: the positions of its members depend on
/// the *phase* (position modulo 8) at which it starts. After its most aligned member, though, they
/// no longer do; so all elements of a sequence but the first start at the same phase, the *steady*
/// one.
///
/// A layout belongs to one type `T` and cannot be used for another. That `T` is a block, the octets
/// of which may be copied, is a promise that unsafe code relies on: only this crate makes it for
/// primitives, arrays inherit it from their elements, and for structs
/// [`fixed_struct!`](crate::fixed_struct) establishes it.
#[derive(Debug)]
pub struct Layout<T> {
    align: usize,
    first_align: usize,
    ends: [usize; 8],
    block: bool,
    /// Whether every bit pattern is a value, so that elements may be copied with the padding
    /// between their members, regardless of their layout in CDR.
    plain: bool,
    gaps: [(usize, usize); MAX_GAPS],
    gap_count: usize,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Layout<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Layout<T> {}

/// A type without values, for the layouts of members of all types.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnyType {}

/// A member of a fixed-size struct: its offset in memory and its own layout.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub(crate) offset: usize,
    pub(crate) size: usize,
    pub(crate) layout: Layout<AnyType>,
}

/// Octets to skip from `position` to a multiple of `align` (a power of two).
#[inline(always)]
pub(crate) const fn gap(position: usize, align: usize) -> usize {
    position.wrapping_neg() & (align - 1)
}

impl<T> Layout<T> {
    /// A value of `size` octets aligned to `align`, read and written one by one.
    #[must_use]
    pub const fn primitive(size: usize, align: usize) -> Self {
        Self::bits(size, align, false)
    }

    /// A primitive; `any_bits` means that every bit pattern is a value, so that blocks of them may
    /// be copied.
    #[must_use]
    pub(crate) const fn bits(size: usize, align: usize, any_bits: bool) -> Self {
        let mut ends = [0; 8];
        let mut phase = 0;
        while phase < 8 {
            ends[phase] = gap(phase, align) + size;
            phase += 1;
        }
        Self {
            align,
            first_align: align,
            ends,
            block: any_bits && size.is_multiple_of(align),
            plain: any_bits,
            gaps: [(0, 0); MAX_GAPS],
            gap_count: 0,
            of: PhantomData,
        }
    }

    /// The same layout, for a type that is equivalent to `T`.
    pub(crate) const fn of_type<U>(self) -> Layout<U> {
        Layout {
            align: self.align,
            first_align: self.first_align,
            ends: self.ends,
            block: self.block,
            plain: self.plain,
            gaps: self.gaps,
            gap_count: self.gap_count,
            of: PhantomData,
        }
    }

    /// A struct of exactly these members, in declaration order.
    #[must_use]
    pub(crate) const fn members(fields: &[Field]) -> Self {
        let mut layout = Self {
            align: 1,
            first_align: if fields.is_empty() {
                1
            } else {
                fields[0].layout.first_align
            },
            ends: [0; 8],
            block: !fields.is_empty(),
            plain: !fields.is_empty() && align_of::<T>() <= 8,
            gaps: [(0, 0); MAX_GAPS],
            gap_count: 0,
            of: PhantomData,
        };
        let mut phase = 0;
        while phase < 8 {
            let mut position = phase;
            let mut i = 0;
            while i < fields.len() {
                position += fields[i].layout.ends[position & 7];
                i += 1;
            }
            layout.ends[phase] = position - phase;
            phase += 1;
        }
        let mut i = 0;
        while i < fields.len() {
            if fields[i].layout.align > layout.align {
                layout.align = fields[i].layout.align;
            }
            i += 1;
        }
        layout.find_gaps(fields, size_of::<T>());
        layout.match_memory(fields, size_of::<T>(), align_of::<T>());
        layout
    }

    /// Notes the gaps of an element in memory, which must be zero on the wire, and
    /// whether every bit pattern of the rest is a value.
    const fn find_gaps(&mut self, fields: &[Field], size: usize) {
        let mut position = 0;
        let mut i = 0;
        while i < fields.len() {
            let field = fields[i];
            if !field.layout.plain || field.offset < position {
                self.plain = false;
                return;
            }
            self.add_gap(position, field.offset);
            let mut g = 0;
            while g < field.layout.gap_count {
                let (from, to) = field.layout.gaps[g];
                self.add_gap(field.offset + from, field.offset + to);
                g += 1;
            }
            position = field.offset + field.size;
            i += 1;
        }
        if position > size {
            self.plain = false;
            return;
        }
        self.add_gap(position, size);
    }

    /// Determines whether elements that start aligned have the same layout in memory as in CDR.
    const fn match_memory(&mut self, fields: &[Field], size: usize, align_in_memory: usize) {
        if !self.plain {
            self.block = false;
            return;
        }
        let mut position = 0;
        let mut i = 0;
        while i < fields.len() {
            let field = fields[i];
            let start = position + gap(position, field.layout.first_align);
            // A member must itself be a block and start aligned, otherwise its layouts in CDR and
            // memory differ.
            if !field.layout.block
                || start != field.offset
                || !start.is_multiple_of(field.layout.align)
                || position + field.layout.ends[position & 7] != start + field.layout.ends[0]
            {
                self.block = false;
                return;
            }
            // A nested struct has its trailing padding in memory only.
            position = start + field.layout.ends[0];
            if field.layout.ends[0] != field.size {
                self.block = false;
                return;
            }
            i += 1;
        }
        let next = position + gap(position, self.first_align);
        if next != size || align_in_memory > 8 || self.align > align_in_memory {
            self.block = false;
        }
    }

    const fn add_gap(&mut self, from: usize, to: usize) {
        if from == to {
            return;
        }
        if self.gap_count == MAX_GAPS {
            self.plain = false;
            return;
        }
        self.gaps[self.gap_count] = (from, to);
        self.gap_count += 1;
    }

    /// An array of `N` elements of this layout.
    #[must_use]
    pub const fn array<const N: usize>(self) -> Layout<[T; N]> {
        let count = N;
        let mut ends = [0; 8];
        if count > 0 {
            let mut phase = 0;
            while phase < 8 {
                ends[phase] = self.ends[phase] + (count - 1) * self.stride();
                phase += 1;
            }
        }
        let array = Self {
            ends,
            // Arrays of types with gaps would need one gap list per element.
            block: self.block && self.gap_count == 0,
            plain: self.plain && self.gap_count == 0,
            ..self
        };
        array.of_type()
    }

    /// Greatest alignment of any member, 1 to 8.
    #[must_use]
    pub const fn align(&self) -> usize {
        self.align
    }

    /// Octets from a start at `phase` (0 to 7) to the end, leading gap included.
    #[must_use]
    #[inline(always)]
    pub const fn end(&self, phase: usize) -> usize {
        self.ends[phase & 7]
    }

    /// Minimum octets of a value.
    #[must_use]
    pub const fn min_size(&self) -> usize {
        let mut least = self.ends[0];
        let mut phase = 1;
        while phase < 8 {
            if self.ends[phase] < least {
                least = self.ends[phase];
            }
            phase += 1;
        }
        least
    }

    /// The phase, modulo the alignment, at which every element but the first starts.
    #[must_use]
    #[inline(always)]
    pub const fn steady(&self) -> usize {
        self.ends[0] & (self.align - 1)
    }

    /// Octets from one element's end to the next one's, in steady state.
    #[must_use]
    #[inline(always)]
    pub const fn stride(&self) -> usize {
        self.ends[self.steady()]
    }

    /// Alignment of the first primitive.
    #[must_use]
    #[inline(always)]
    pub const fn first_align(&self) -> usize {
        self.first_align
    }

    /// Whether elements that start aligned have the same layout in memory as in CDR, and every bit
    /// pattern is a value.
    #[must_use]
    #[inline(always)]
    pub const fn is_block(&self) -> bool {
        self.block
    }

    /// Whether every bit pattern of an element in memory, its padding aside, is a value.
    #[must_use]
    #[inline(always)]
    pub const fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether a [format](crate::Format::NATURAL) with elements at their stride in memory differs
    /// from that of CDR.
    #[must_use]
    #[inline(always)]
    pub const fn has_natural(&self) -> bool {
        self.plain && !self.block
    }

    /// Padding between members, as octet ranges of an element in memory.
    #[must_use]
    #[inline(always)]
    pub const fn gaps(&self) -> &[(usize, usize)] {
        self.gaps.split_at(self.gap_count).0
    }
}
