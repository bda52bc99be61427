// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fallible allocation for decoded data: lack of memory is an error, not an abort.

use std::borrow::Cow;

/// Octets that are allocated without a check.
pub(crate) const UNCHECKED_ALLOCATION: usize = 4096;

/// Reserves room for `more` elements; `false` if there is no memory for them.
#[inline(always)]
pub(crate) fn reserve<T>(out: &mut Vec<T>, more: usize) -> bool {
    more <= out.capacity() - out.len() || grow(out, more)
}

fn grow<T>(out: &mut Vec<T>, more: usize) -> bool {
    out.try_reserve(more).is_ok()
}

/// Appends an element; `false` if there is no memory for it.
#[inline(always)]
pub(crate) fn push<T>(out: &mut Vec<T>, item: T) -> bool {
    let has_room = reserve(out, 1);
    if has_room {
        out.push(item);
    }
    has_room
}

/// Reserves room for that many octets of text, if they are many.
#[inline]
pub(crate) fn reserve_text(out: &mut String, more: usize) -> bool {
    more <= UNCHECKED_ALLOCATION || out.try_reserve(more).is_ok()
}

/// A copy of a text.
#[inline]
pub(crate) fn copied(text: &str) -> Option<String> {
    if text.len() <= UNCHECKED_ALLOCATION {
        Some(text.to_owned())
    } else {
        owned(Cow::Borrowed(text))
    }
}

/// A text, copied if it is borrowed.
#[cold]
pub(crate) fn owned(text: Cow<'_, str>) -> Option<String> {
    let text = match text {
        Cow::Owned(text) => return Some(text),
        Cow::Borrowed(text) => text,
    };
    let mut copy = String::new();
    copy.try_reserve_exact(text.len()).ok()?;
    copy.push_str(text);
    Some(copy)
}

/// A copy of octets.
pub(crate) fn copied_octets(octets: &[u8]) -> Option<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(octets.len()).ok()?;
    copy.extend_from_slice(octets);
    Some(copy)
}

/// Whether that many octets of memory are available, for allocations that cannot report an error:
/// another thread may take the memory in between.
pub(crate) fn is_there(octets: usize) -> bool {
    octets <= UNCHECKED_ALLOCATION || Vec::<u8>::new().try_reserve_exact(octets).is_ok()
}
