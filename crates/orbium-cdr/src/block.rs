// SPDX-License-Identifier: MIT OR Apache-2.0
//! Block copies: the one module of this crate with unsafe code.
//!
//! Soundness: the [`LAYOUT`](crate::FixedSize::LAYOUT) of a type is a block only if
//!
//! * this crate declares it for a primitive of which every bit pattern is a value, or
//! * the type is an array of such, or
//! * [`fixed_struct!`](crate::fixed_struct) determined it for a struct: by `offset_of!` and
//!   `size_of`, all its members are such blocks and everything between them is padding.
//!
//! A layout is typed and cannot be used for another type. Safe code cannot prove that a list of
//! members is complete, hence `Layout::structure` is unsafe and called by the macro, in which the
//! compiler checks that; all of the macro's text is here. An implementation of `FixedSize` without
//! the macro and unsafe code has no block.
#![allow(unsafe_code)]

use crate::{Field, FixedIn, FixedOut, FixedSize, Layout};

pub(crate) mod ascii;

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod masked;

/// Stub for targets without masked copies: the portable copies below do all the work. Miri runs the
/// portable ones.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod masked {
    /// Copies none.
    pub(super) const fn copy<T>(_items: &[T], _room: &mut [u8]) -> (usize, u8) {
        (0, 0)
    }
}

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod tests;

/// The octets of gap-free block elements.
#[inline]
pub(crate) fn octets_of<T: FixedSize>(items: &[T]) -> &[u8] {
    assert!(T::LAYOUT.is_block() && T::LAYOUT.gaps().is_empty());
    // SAFETY: the elements have no padding (no gaps, asserted above, and
    // `match_memory` counts trailing padding as a gap), so every octet of the
    // slice is initialised; u8 needs no alignment; they are borrowed as long.
    unsafe { core::slice::from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
}

/// Bytes copied before their padding is zeroed, while they are still in the first-level cache. Smaller
/// under Miri, so that few elements have several pieces.
const PIECE: usize = if cfg!(miri) { 100 } else { 4096 };

/// Some elements, at least one.
struct Piece {
    items: usize,
    octets: usize,
}

impl Piece {
    /// The number of elements that fit in [`PIECE`], at least one.
    const fn of<T>() -> Self {
        let size = size_of::<T>();
        if size == 0 || size > PIECE {
            let octets = if size == 0 { 1 } else { size };
            return Self { items: 1, octets };
        }
        let items = PIECE / size;
        Self {
            items,
            octets: items * size,
        }
    }
}

/// Copies elements in their steady position into `room`, padding zeroed. Returns the bits of their
/// chars, collected in the same pass.
///
/// `room` starts at the end of the previous element, and is exactly `items.len() * stride` long.
#[inline]
pub(crate) fn copy_out<T: FixedSize>(items: &[T], room: &mut [u8]) -> u8 {
    copy_after(items, room, masked::copy)
}

/// Copies elements as [`copy_out`] does; `quick` copies as many of the first ones as it supports.
#[inline(always)]
fn copy_after<T: FixedSize>(
    items: &[T],
    room: &mut [u8],
    quick: impl FnOnce(&[T], &mut [u8]) -> (usize, u8),
) -> u8 {
    assert!(T::LAYOUT.is_block());
    let Some((last, others)) = items.split_last() else {
        return 0;
    };
    let size = size_of::<T>();
    let end = const { T::LAYOUT.end(0) };
    assert!(const { T::LAYOUT.stride() } == size && room.len() == size_of_val(items));
    // The leading gap of the first element is at the place of the trailing padding of the previous
    // one in memory.
    let (lead, room) = room.split_at_mut(size - end);
    lead.fill(0);
    let (room, room_for_last) = room.split_at_mut(size_of_val(others));
    let (copied, mut bits) = quick(others, room);
    let (others, room) = (&others[copied..], &mut room[copied * size..]);
    let piece = const { Piece::of::<T>() };
    for (items, room) in others
        .chunks(piece.items)
        .zip(room.chunks_mut(piece.octets))
    {
        bits |= copy_piece(items, room, size);
    }
    // The trailing padding of the last element is not copied.
    bits | copy_piece(core::slice::from_ref(last), room_for_last, end)
}

/// Copies elements of a type of which every bit pattern is a value into `room`, with their layout
/// in memory and padding zeroed: the [`natural`](crate::Format::NATURAL) format. Returns the bits
/// of their chars, collected in the same pass.
#[inline]
pub(crate) fn copy_natural_out<T: FixedSize>(items: &[T], room: &mut [u8]) -> u8 {
    assert!(const { T::LAYOUT.is_plain() } && room.len() == size_of_val(items));
    let size = size_of::<T>();
    let (copied, mut bits) = masked::copy(items, room);
    let (items, room) = (&items[copied..], &mut room[copied * size..]);
    let piece = const { Piece::of::<T>() };
    for (items, room) in items.chunks(piece.items).zip(room.chunks_mut(piece.octets)) {
        bits |= copy_piece(items, room, size);
    }
    bits
}

/// Appends `count` elements, with their layout in memory, from `octets` to `out`, which has room
/// for them.
#[inline]
pub(crate) fn copy_natural_in<T: FixedSize>(octets: &[u8], count: usize, out: &mut Vec<T>) {
    assert!(const { T::LAYOUT.is_plain() } && octets.len() / size_of::<T>() == count);
    out.reserve(count);
    let len = out.len();
    // SAFETY: `reserve` made room for `count` elements behind `len`, and there are as
    // many octets at least (asserted above: a division by zero would have panicked);
    // they fill all of the elements, and every bit pattern is a value of `T`.
    unsafe {
        let room = out.as_mut_ptr().add(len).cast::<u8>();
        core::ptr::copy_nonoverlapping(octets.as_ptr(), room, count * size_of::<T>());
        out.set_len(len + count);
    }
}

/// Copies elements, the last only up to `end`; returns the bits of their chars.
#[inline(always)]
fn copy_piece<T: FixedSize>(items: &[T], room: &mut [u8], end: usize) -> u8 {
    let size = size_of::<T>();
    let octets = size_of_val(items) - (size - end);
    assert!(room.len() == octets);
    let out = room.as_mut_ptr();
    // SAFETY: `room` has `octets` octets (asserted above), no more than the
    // elements, and does not overlap `items`: one is borrowed to be written.
    // Padding octets may be uninitialised; each is overwritten below before
    // anyone can read it, for nothing in between ends the loop: `char_bits` of
    // plain types reads members.
    unsafe {
        core::ptr::copy_nonoverlapping(items.as_ptr().cast::<u8>(), out, octets);
    }
    let mut bits = 0;
    for (i, item) in items.iter().enumerate() {
        for &(from, to) in const { T::LAYOUT }.gaps() {
            if from < end {
                // SAFETY: gaps lie inside an element, and all octets of element
                // `i` up to `end` lie inside `room`; a gap that begins before
                // `end` ends there at the latest, since `end` is the size or
                // where trailing padding begins.
                unsafe {
                    out.add(i * size + from).write_bytes(0, to - from);
                }
            }
        }
        bits |= item.char_bits();
    }
    bits
}

/// Appends `count` elements, the octets of which start at their steady position
/// in `octets` (exactly `count * stride` long), to `out`.
#[inline]
pub(crate) fn copy_in<T: FixedSize>(octets: &[u8], count: usize, out: &mut Vec<T>) {
    assert!(T::LAYOUT.is_block());
    let lead = size_of::<T>() - const { T::LAYOUT.end(0) };
    assert!(
        octets.len() == count * const { T::LAYOUT.stride() }
            && const { T::LAYOUT.stride() } == size_of::<T>()
    );
    if count == 0 {
        return;
    }
    out.reserve(count);
    let octets = &octets[lead..];
    let len = out.len();
    // SAFETY: `reserve` made room for `count` elements behind `len`, so their
    // size has not overflowed above either; the `count * size_of::<T>() - lead`
    // octets copied fill all of them but the trailing padding of the last; every
    // bit pattern is a value of `T`.
    unsafe {
        let room = out.as_mut_ptr().add(len);
        core::ptr::copy_nonoverlapping(octets.as_ptr(), room.cast::<u8>(), octets.len());
        out.set_len(len + count);
    }
}

/// The elements in `octets`, in place, if the octets are aligned for `T` and contain a whole number
/// of elements.
#[inline]
pub(crate) fn cast<T: FixedSize>(octets: &[u8]) -> Option<&[T]> {
    assert!(T::LAYOUT.is_plain());
    // SAFETY: the octets are initialised, and plain types, which all blocks are, accept
    // every bit pattern, padding included.
    let (before, items, after) = unsafe { octets.align_to::<T>() };
    (before.is_empty() && after.is_empty()).then_some(items)
}

/// Converts `count` elements of foreign byte order to native order, in place, at their aligned
/// position.
#[inline]
pub(crate) fn swap_in_place<T: FixedSize>(octets: &mut [u8]) {
    let size = const { T::LAYOUT.end(0) };
    for octets in octets.chunks_mut(size_of::<T>()) {
        let value = T::load(&mut FixedIn::<true>::new(&octets[..size], 0));
        value.store(&mut FixedOut::<false>::new(&mut octets[..size], 0));
    }
}

impl<T> Layout<T> {
    /// The layout of a struct with these members, in declaration order.
    ///
    /// # Safety
    /// The fields are all the members of `T`, each at its offset and of its
    /// type.
    #[doc(hidden)]
    #[must_use]
    pub const unsafe fn structure(fields: &[Field]) -> Self {
        Self::members(fields)
    }
}

/// Makes a `#[repr(C)]` struct of fixed-size members marshal as a unit: with one bounds check, and
/// in blocks if its layout in memory is that of CDR.
///
/// Every member must be named, in declaration order.
///
/// ```
/// use orbium_cdr::{FixedSize, fixed_struct};
///
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Sample { time: u64, channel: u16, level: i16 }
/// fixed_struct!(Sample { time: u64, channel: u16, level: i16 });
/// assert_eq!(Sample::LAYOUT.end(0), 12);
/// ```
#[macro_export]
macro_rules! fixed_struct {
    ($name:ident { $($member:ident : $type:ty),+ $(,)? }) => {
        impl $crate::FixedSize for $name {
            const LAYOUT: $crate::Layout<Self> = {
                let members = [$($crate::Field::at(
                    ::core::mem::offset_of!(Self, $member),
                    |whole: &Self| &whole.$member,
                )),+];
                // SAFETY: each is a member of `Self`, where `offset_of!` says
                // and of the type that the compiler finds it to have; and these
                // are all, or else the pattern and the expression below, which
                // name no others, would not compile.
                unsafe { $crate::Layout::structure(&members) }
            };
            const HAS_CHARS: bool = false $(|| <$type as $crate::FixedSize>::HAS_CHARS)+;
            #[inline(always)]
            fn char_bits(&self) -> u8 {
                0 $(| <$type as $crate::FixedSize>::char_bits(&self.$member))+
            }
            #[inline(always)]
            fn store<const SWAP: bool>(&self, out: &mut $crate::FixedOut<'_, SWAP>) {
                // Naming every member here keeps the layout above complete.
                let Self { $($member),+ } = self;
                $(<$type as $crate::FixedSize>::store($member, out);)+
            }
            #[inline(always)]
            fn load<const SWAP: bool>(source: &mut $crate::FixedIn<'_, SWAP>) -> Self {
                $(let $member = <$type as $crate::FixedSize>::load(source);)+
                Self { $($member),+ }
            }
        }
        $crate::encode_fixed!($name);
    };
}
