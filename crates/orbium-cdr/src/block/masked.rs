// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies that omit padding in one pass: 32 octets are loaded, their padding is masked, and the
//! rest is stored.
//!
//! Padding may be uninitialised, and no Rust value may be partly uninitialised. Hence loading and
//! masking is a single instruction here.

use core::arch::asm;
use core::arch::x86_64::{
    __m256i, _mm256_loadu_si256, _mm256_or_si256, _mm256_setzero_si256, _mm256_storeu_si256,
};

use crate::FixedSize;

/// Octets of a vector.
const WIDTH: usize = 32;

/// Maximum number of vectors until the places of padding repeat: there are registers for as many
/// masks, and as many sums of chars.
const MAX_VECTORS: usize = 7;

/// Octets of that many vectors.
type Vectors = [u8; MAX_VECTORS * WIDTH];

/// The octets of a run of elements that are padding.
#[derive(Debug)]
pub(super) struct Pattern {
    /// Vectors until the places of padding repeat; 0 if there are too many.
    vectors: usize,
    /// Elements in these.
    items: usize,
    /// All bits except padding.
    keep: Vectors,
}

impl Pattern {
    /// The pattern of a plain type.
    const fn of<T: FixedSize>() -> Self {
        let size = size_of::<T>();
        // The greatest power of two that divides both.
        let common = 1 << (size | WIDTH).trailing_zeros();
        let (vectors, items) = (size / common, WIDTH / common);
        let mut keep = [0xFF; MAX_VECTORS * WIDTH];
        if vectors > MAX_VECTORS {
            return Self {
                vectors: 0,
                items,
                keep,
            };
        }
        let gaps = T::LAYOUT.gaps();
        let mut at = 0;
        while at < items * size {
            let mut gap = 0;
            while gap < gaps.len() {
                let (from, to) = gaps[gap];
                if from <= at % size && at % size < to {
                    keep[at] = 0;
                }
                gap += 1;
            }
            at += 1;
        }
        Self {
            vectors,
            items,
            keep,
        }
    }
}

/// Copies elements of a plain type to the beginning of `room`, padding zeroed: the first ones, as
/// many as this method is fast for, possibly none. Returns their number, and the bits of their
/// chars.
#[inline]
pub(super) fn copy<T: FixedSize>(items: &[T], room: &mut [u8]) -> (usize, u8) {
    assert!(T::LAYOUT.is_plain());
    let Pattern {
        vectors,
        items: period,
        ..
    } = const { Pattern::of::<T>() };
    let count = items.len() - items.len() % period;
    if vectors == 0 || count == 0 || !std::arch::is_x86_feature_detected!("avx2") {
        return (0, 0);
    }
    let room = &mut room[..count * size_of::<T>()];
    // SAFETY: the processor has AVX2, as was just asked, and `T` is a plain type,
    // as was asserted.
    let bits = unsafe { copy_periods(&items[..count], room) };
    (count, bits)
}

/// Copies whole periods of elements to as many octets of room.
///
/// # Safety
/// The processor has AVX2, and `T` is a plain type: every bit pattern is a value.
#[target_feature(enable = "avx2")]
unsafe fn copy_periods<T: FixedSize>(items: &[T], room: &mut [u8]) -> u8 {
    let vectors = const { Pattern::of::<T>().vectors };
    let keep = const { &Pattern::of::<T>().keep };
    assert!(room.len() == size_of_val(items));
    let mut masks = [_mm256_setzero_si256(); MAX_VECTORS];
    for (mask, octets) in masks.iter_mut().zip(keep.as_chunks::<WIDTH>().0) {
        // SAFETY: as many octets as there are in `octets` are what it reads,
        // aligned or not.
        *mask = unsafe { _mm256_loadu_si256(octets.as_ptr().cast()) };
    }
    let mut seen = [_mm256_setzero_si256(); MAX_VECTORS];
    let (from, to) = (items.as_ptr().cast::<u8>(), room.as_mut_ptr());
    for period in 0..room.len() / (vectors * WIDTH) {
        for i in 0..vectors {
            let at = (period * vectors + i) * WIDTH;
            let kept: __m256i;
            // SAFETY: `at` and the 31 octets behind it lie within elements and
            // room: both are as long (asserted above), and the loops go over
            // whole vectors of that length. They do not overlap, being borrowed
            // to read and to write. What is loaded of padding, which may be
            // uninitialised, does not get out of the instruction: the outcome is
            // that of copying one by one the octets that are none, and zeroing
            // the others. The instruction reads memory and changes one register,
            // no flags.
            unsafe {
                asm!(
                    "vpand {kept}, {mask}, [{from}]",
                    kept = lateout(ymm_reg) kept,
                    mask = in(ymm_reg) masks[i],
                    from = in(reg) from.add(at),
                    options(pure, readonly, nostack, preserves_flags),
                );
                _mm256_storeu_si256(to.add(at).cast(), kept);
            }
            if T::HAS_CHARS {
                seen[i] = _mm256_or_si256(seen[i], kept);
            }
        }
    }
    if T::HAS_CHARS {
        char_bits::<T>(&seen)
    } else {
        0
    }
}

/// The bits of the chars of all elements: those of the elements of one period, combined.
///
/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
fn char_bits<T: FixedSize>(seen: &[__m256i; MAX_VECTORS]) -> u8 {
    let mut octets: Vectors = [0; MAX_VECTORS * WIDTH];
    for (octets, vector) in octets.as_chunks_mut::<WIDTH>().0.iter_mut().zip(seen) {
        // SAFETY: as many octets as there are in `octets` are what it writes,
        // aligned or not.
        unsafe { _mm256_storeu_si256(octets.as_mut_ptr().cast(), *vector) };
    }
    assert!(T::LAYOUT.is_plain());
    let items = const { Pattern::of::<T>().items };
    let items = octets.chunks_exact(size_of::<T>()).take(items);
    items.fold(0, |bits, octets| {
        // SAFETY: they are as many as a `T` has, initialised, and every bit
        // pattern is one: it is plain.
        bits | unsafe { octets.as_ptr().cast::<T>().read_unaligned() }.char_bits()
    })
}
