// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types of known size: one bounds check, then straight-line moves.

use crate::layout::gap;
use crate::{Char, Field, Layout, LongDouble};

/// A type with an encoding of the same size for every value (at a given phase).
///
/// Implemented for the primitives, for arrays, and by [`fixed_struct!`](crate::fixed_struct) for
/// structs. Another implementation may be wrong, which leads to wrong values or panics, but not to
/// undefined behaviour: block copies rely on [`FixedSize::LAYOUT`], and without unsafe code no
/// layout can be created that declares a type to be a block:
///
/// ```compile_fail,E0133
/// # use orbium_cdr::{Field, Layout};
/// # struct Even(u32);
/// let layout: Layout<Even> = Layout::structure(&[Field::at(0, |even: &Even| &even.0)]);
/// ```
/// ```compile_fail,E0308
/// # use orbium_cdr::{FixedSize, Layout};
/// # struct Even(u32);
/// let layout: Layout<Even> = u32::LAYOUT;
/// ```
/// ```compile_fail,E0063
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Sample { level: u8, kept_quiet: bool, time: u16 }
/// orbium_cdr::fixed_struct!(Sample { level: u8, time: u16 });
/// ```
/// ```compile_fail,E0308
/// # #[derive(Clone, Copy)]
/// # struct Even(u32);
/// # impl std::ops::Deref for Even {
/// #     type Target = u32;
/// #     fn deref(&self) -> &u32 { &self.0 }
/// # }
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Sample { level: Even }
/// orbium_cdr::fixed_struct!(Sample { level: u32 });
/// ```
pub trait FixedSize: Copy + Send + Sync + 'static {
    /// The layout of the members.
    #[doc(hidden)]
    const LAYOUT: Layout<Self>;
    /// Whether there are `char` members, which some code sets cannot carry.
    #[doc(hidden)]
    const HAS_CHARS: bool = false;
    /// The combined bits of the `char` members.
    #[doc(hidden)]
    #[inline(always)]
    fn char_bits(&self) -> u8 {
        0
    }
    /// Writes the value; the room was checked by the caller.
    #[doc(hidden)]
    fn store<const SWAP: bool>(&self, out: &mut FixedOut<'_, SWAP>);
    /// Reads a value; an invalid bit pattern is flagged in `source`.
    #[doc(hidden)]
    fn load<const SWAP: bool>(source: &mut FixedIn<'_, SWAP>) -> Self;
}

impl Field {
    /// The member of `S` that `member` returns, at that offset. Only its type is used.
    #[doc(hidden)]
    #[must_use]
    pub const fn at<S, T: FixedSize>(offset: usize, _member: fn(&S) -> &T) -> Self {
        Self {
            offset,
            size: size_of::<T>(),
            layout: T::LAYOUT.of_type(),
        }
    }
}

/// Room for one fixed-size value, already checked.
#[derive(Debug)]
pub struct FixedOut<'a, const SWAP: bool> {
    room: &'a mut [u8],
    at: usize,
    phase: usize,
}

impl<'a, const SWAP: bool> FixedOut<'a, SWAP> {
    /// `phase` is the position of `room[0]` modulo 8.
    #[inline(always)]
    pub(crate) fn new(room: &'a mut [u8], phase: usize) -> Self {
        Self { room, at: 0, phase }
    }

    /// Puts the octets of a primitive of that alignment, gap zeroed.
    #[inline(always)]
    pub fn put<const N: usize>(&mut self, mut bytes: [u8; N], align: usize) {
        if SWAP {
            bytes.reverse();
        }
        let start = self.at + gap(self.at + self.phase, align);
        // Gaps are at most 7 octets; a loop of that length unrolls away once
        // the phase is a constant.
        for octet in &mut self.room[self.at..start] {
            *octet = 0;
        }
        self.room[start..start + N].copy_from_slice(&bytes);
        self.at = start + N;
    }
}

/// Source of primitives that are not contiguous.
pub(crate) trait Primitives: core::fmt::Debug {
    /// Fills `out` with the next primitive in native order. A failure
    /// is recorded, since it cannot be returned.
    fn fill(&self, align: usize, out: &mut [u8]);
}

/// The octets of one fixed-size value, already checked to exist.
#[derive(Debug)]
pub struct FixedIn<'a, const SWAP: bool> {
    octets: &'a [u8],
    at: usize,
    phase: usize,
    invalid: bool,
    /// In place of `octets`. Known at compile time, as all of this is inlined.
    across: Option<&'a dyn Primitives>,
}

impl<'a, const SWAP: bool> FixedIn<'a, SWAP> {
    /// `phase` is the position of `octets[0]` modulo 8.
    #[inline(always)]
    pub(crate) fn new(octets: &'a [u8], phase: usize) -> Self {
        Self {
            octets,
            at: 0,
            phase,
            invalid: false,
            across: None,
        }
    }

    /// The primitives of a value that is not contiguous.
    #[inline(always)]
    pub(crate) fn across(source: &'a dyn Primitives) -> Self {
        Self {
            across: Some(source),
            ..Self::new(&[], 0)
        }
    }

    /// Takes the octets of a primitive of that alignment, in native order.
    #[inline(always)]
    pub fn take<const N: usize>(&mut self, align: usize) -> [u8; N] {
        let mut bytes = [0; N];
        if let Some(source) = self.across {
            source.fill(align, &mut bytes);
            return bytes;
        }
        let start = self.at + gap(self.at + self.phase, align);
        bytes.copy_from_slice(&self.octets[start..start + N]);
        self.at = start + N;
        if SWAP {
            bytes.reverse();
        }
        bytes
    }

    /// Flags an octet pattern that is not a value of its type.
    #[inline(always)]
    pub fn flag_invalid(&mut self) {
        self.invalid = true;
    }

    #[inline(always)]
    pub(crate) fn is_invalid(&self) -> bool {
        self.invalid
    }
}

macro_rules! primitives {
    ($($type:ty, $size:literal;)*) => { $(
        impl FixedSize for $type {
            const LAYOUT: Layout<Self> = Layout::bits($size, $size, true);
            #[inline(always)]
            fn store<const SWAP: bool>(&self, out: &mut FixedOut<'_, SWAP>) {
                out.put(self.to_ne_bytes(), $size);
            }
            #[inline(always)]
            fn load<const SWAP: bool>(source: &mut FixedIn<'_, SWAP>) -> Self {
                Self::from_ne_bytes(source.take($size))
            }
        }
    )* };
}

primitives! {
    u8, 1; i8, 1; u16, 2; i16, 2; u32, 4; i32, 4; u64, 8; i64, 8; f32, 4; f64, 8;
}

impl FixedSize for Char {
    const LAYOUT: Layout<Self> = Layout::bits(1, 1, true);
    const HAS_CHARS: bool = true;
    #[inline(always)]
    fn char_bits(&self) -> u8 {
        self.0
    }
    #[inline(always)]
    fn store<const SWAP: bool>(&self, out: &mut FixedOut<'_, SWAP>) {
        out.put([self.0], 1);
    }
    #[inline(always)]
    fn load<const SWAP: bool>(source: &mut FixedIn<'_, SWAP>) -> Self {
        let [octet] = source.take(1);
        Self(octet)
    }
}

impl FixedSize for bool {
    const LAYOUT: Layout<Self> = Layout::primitive(1, 1);
    #[inline(always)]
    fn store<const SWAP: bool>(&self, out: &mut FixedOut<'_, SWAP>) {
        out.put([u8::from(*self)], 1);
    }
    /// Any octet but 0 is TRUE: some ORBs send 0xFF, and no ORB means FALSE by it.
    #[inline(always)]
    fn load<const SWAP: bool>(source: &mut FixedIn<'_, SWAP>) -> Self {
        let [octet] = source.take(1);
        octet != 0
    }
}

impl FixedSize for LongDouble {
    const LAYOUT: Layout<Self> = Layout::primitive(16, 8);
    #[inline(always)]
    fn store<const SWAP: bool>(&self, out: &mut FixedOut<'_, SWAP>) {
        let mut bytes = self.0;
        if cfg!(target_endian = "big") {
            bytes.reverse();
        }
        out.put(bytes, 8);
    }
    #[inline(always)]
    fn load<const SWAP: bool>(source: &mut FixedIn<'_, SWAP>) -> Self {
        let mut bytes: [u8; 16] = source.take(8);
        if cfg!(target_endian = "big") {
            bytes.reverse();
        }
        Self(bytes)
    }
}

impl<T: FixedSize, const N: usize> FixedSize for [T; N] {
    const LAYOUT: Layout<Self> = T::LAYOUT.array::<N>();
    const HAS_CHARS: bool = T::HAS_CHARS;
    #[inline(always)]
    fn char_bits(&self) -> u8 {
        self.iter().fold(0, |bits, item| bits | item.char_bits())
    }
    #[inline(always)]
    fn store<const SWAP: bool>(&self, out: &mut FixedOut<'_, SWAP>) {
        for item in self {
            item.store(out);
        }
    }
    #[inline(always)]
    fn load<const SWAP: bool>(source: &mut FixedIn<'_, SWAP>) -> Self {
        core::array::from_fn(|_| T::load(source))
    }
}
