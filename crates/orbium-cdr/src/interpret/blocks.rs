// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elements of one fixed size: checked part by part, and passed on in one block.

use crate::layout::gap;
use crate::{CdrError, CdrErrorKind, CdrReader, TCKind, TypeRef};

/// Maximum parts of an element type that are examined; a type of more is walked member by member.
const MAX_PARTS: usize = 64;

/// Minimum number of elements for which the layout is computed.
pub(super) const MIN_ELEMENTS: u32 = 4;

/// Elements of a sequence or array, side by side as in CDR, in native byte order.
///
/// They are valid: padding is zero, booleans are 0 or 1, and enumerators exist.
#[derive(Clone, Copy, Debug)]
pub struct Block<'v> {
    octets: &'v [u8],
    is_ascii: bool,
}

impl<'v> Block<'v> {
    /// The elements with the padding before and within each.
    #[must_use]
    pub fn octets(self) -> &'v [u8] {
        self.octets
    }

    /// Whether all `char`s in the elements are ASCII.
    #[must_use]
    pub fn is_ascii(self) -> bool {
        self.is_ascii
    }
}

/// Positions of the parts of an element that follows another element.
///
/// After its most aligned member, the layout of an element no longer depends on its start; so all
/// elements but the first start at one phase and have one size.
pub(super) struct ElementLayout {
    /// Octets from one element to the next.
    stride: usize,
    /// In order, with the padding between them.
    parts: Vec<Part>,
}

struct Part {
    content: Content,
    offset: usize,
    /// Primitives side by side, and the size of one.
    count: usize,
    size: usize,
}

#[derive(Clone, Copy)]
enum Content {
    Padding,
    /// Every bit pattern is a value.
    Bits,
    Boolean,
    Char,
    Enum {
        enumerators: u32,
    },
}

/// Primitives side by side, not placed yet.
struct Unplaced {
    content: Content,
    count: usize,
    size: usize,
    align: usize,
}

impl ElementLayout {
    /// The layout of elements of that type, if it has a fixed size and few parts.
    pub(super) fn of(element: TypeRef<'_>) -> Option<Self> {
        let mut unplaced = Vec::new();
        let mut budget = MAX_PARTS;
        flatten(element, &mut budget, &mut unplaced)?;
        let (end, _) = place(0, &unplaced)?;
        let steady = end % 8;
        let (end, parts) = place(steady, &unplaced)?;
        let stride = end - steady;
        (stride > 0).then_some(Self { stride, parts })
    }

    /// Takes elements after the first.
    ///
    /// # Errors
    /// [`CdrErrorKind::CountTooLarge`], [`CdrErrorKind::Truncated`],
    /// [`CdrErrorKind::BadEnumerator`].
    pub(super) fn take<'a>(
        &self,
        count: usize,
        reader: &mut CdrReader<'a>,
    ) -> Result<Block<'a>, CdrError> {
        let Some(extent) = count.checked_mul(self.stride) else {
            return Err(reader.error(CdrErrorKind::CountTooLarge));
        };
        let swap = reader.format().order.is_foreign();
        let octets = reader.take(extent)?;
        let mut is_ascii = true;
        for part in &self.parts {
            let (from, to) = (part.offset, part.offset + part.count * part.size);
            let elements = octets.chunks_exact_mut(self.stride);
            let settled = part.settle(elements.map(|element| &mut element[from..to]), swap);
            is_ascii &= settled.map_err(|kind| reader.error(kind))?;
        }
        Ok(Block { octets, is_ascii })
    }
}

impl Part {
    /// Converts this part of each element to native order, and validates it. Returns whether its
    /// `char`s are ASCII.
    fn settle<'o>(
        &self,
        elements: impl Iterator<Item = &'o mut [u8]>,
        swap: bool,
    ) -> Result<bool, CdrErrorKind> {
        let mut is_ascii = true;
        match self.content {
            Content::Bits if !swap || self.size == 1 => {}
            Content::Bits => elements.for_each(|octets| {
                octets.chunks_exact_mut(self.size).for_each(<[u8]>::reverse);
            }),
            Content::Padding => elements.for_each(|octets| octets.fill(0)),
            Content::Boolean => elements.flatten().for_each(|octet| {
                *octet = u8::from(*octet != 0);
            }),
            Content::Char => elements.for_each(|octets| is_ascii &= octets.is_ascii()),
            Content::Enum { enumerators } => {
                for octets in elements {
                    check_enums(octets, enumerators, swap)?;
                }
            }
        }
        Ok(is_ascii)
    }
}

fn check_enums(octets: &mut [u8], enumerators: u32, swap: bool) -> Result<(), CdrErrorKind> {
    let (ordinals, _) = octets.as_chunks_mut::<4>();
    for ordinal in ordinals {
        if swap {
            ordinal.reverse();
        }
        if u32::from_ne_bytes(*ordinal) >= enumerators {
            return Err(CdrErrorKind::BadEnumerator);
        }
    }
    Ok(())
}

/// Appends the primitives of a type; `None` if its size is not fixed, or there are too many.
fn flatten(code: TypeRef<'_>, budget: &mut usize, out: &mut Vec<Unplaced>) -> Option<()> {
    *budget = budget.checked_sub(1)?;
    let primitive = |content, (size, align)| Unplaced {
        content,
        count: 1,
        size,
        align,
    };
    match code.kind() {
        TCKind::Alias => flatten(code.content()?, budget, out)?,
        TCKind::Struct => {
            for member in code.members() {
                flatten(member.type_code()?, budget, out)?;
            }
        }
        TCKind::Array => repeat(code, budget, out)?,
        TCKind::Enum => {
            let enumerators = u32::try_from(code.member_count()).ok()?;
            out.push(primitive(Content::Enum { enumerators }, (4, 4)));
        }
        kind => {
            let content = match kind {
                TCKind::Boolean => Content::Boolean,
                TCKind::Char => Content::Char,
                _ => Content::Bits,
            };
            out.push(primitive(content, kind.primitive()?));
        }
    }
    Some(())
}

/// Appends the elements of an array: primitives as one part.
fn repeat(array: TypeRef<'_>, budget: &mut usize, out: &mut Vec<Unplaced>) -> Option<()> {
    let (element, count) = (array.content()?, array.length());
    if count == 0 {
        return Some(());
    }
    let first = out.len();
    flatten(element, budget, out)?;
    if let [only] = &mut out[first..] {
        only.count = only.count.checked_mul(count as usize)?;
        return Some(());
    }
    (1..count).try_for_each(|_| flatten(element, budget, out))
}

/// Places parts from that phase on; returns their end, and the parts with their padding.
fn place(phase: usize, unplaced: &[Unplaced]) -> Option<(usize, Vec<Part>)> {
    let mut parts = Vec::with_capacity(2 * unplaced.len());
    let mut position = phase;
    for next in unplaced {
        let padding = gap(position, next.align);
        if padding > 0 {
            parts.push(Part {
                content: Content::Padding,
                offset: position - phase,
                count: padding,
                size: 1,
            });
        }
        position += padding;
        parts.push(Part {
            content: next.content,
            offset: position - phase,
            count: next.count,
            size: next.size,
        });
        let extent = next.count.checked_mul(next.size)?;
        position = position
            .checked_add(extent)
            .filter(|end| *end < usize::MAX - 8)?;
    }
    Some((position, parts))
}
