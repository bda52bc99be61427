// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is known of a message while its values are read.

use std::sync::Arc;

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader};

use crate::described_types::DescribedTypes;
use crate::factories::Found;
use crate::{Class, MAX_ANY_DEPTH, MAX_DEPTH, MAX_VALUES, ValueBase};

pub(crate) type Id = Arc<str>;

/// What was read of a message's values, all in order of position.
#[derive(Debug, Default)]
pub(crate) struct Met {
    /// Where tags are. A value that was skipped is none.
    pub(crate) values: Vec<(usize, Option<ValueBase>)>,
    pub(crate) ids: Vec<(usize, Id)>,
    pub(crate) lists: Vec<(usize, Arc<[Id]>)>,
    pub(crate) codebases: Vec<usize>,
    /// The latest type that was found: for most values it is that of the one before.
    pub(crate) latest: Option<Latest>,
    /// Some of the types that were expected, by which values in parts that are cut off are found.
    pub(crate) formals: Vec<&'static Class>,
    /// The types that were found by their TypeCodes.
    pub(crate) described: DescribedTypes,
    /// Whether compiled types are read by their TypeCodes, too.
    pub(crate) describes: bool,
    /// Where numbers are to stand for values, the values of the present data.
    pub(crate) collected: Option<Vec<Option<ValueBase>>>,
    /// In data where numbers stand for values, the values.
    pub(crate) numbered: Option<Arc<[Option<ValueBase>]>>,
    depth: u32,
    /// Anys of values around the next octet.
    anys: u32,
    /// Octets of values that were copied into anys.
    copied: usize,
    /// Whether a value was returned that is not for an any.
    is_lent: bool,
    /// Whether a value was met again, so that there may be cycles.
    pub(crate) recurs: bool,
}

/// Values that were for anys alone end with the message: cycles of them are broken.
impl Drop for Met {
    fn drop(&mut self) {
        if self.recurs && !self.is_lent {
            let values = core::mem::take(&mut self.values);
            values
                .iter()
                .filter_map(|(_, value)| value.as_ref())
                .for_each(ValueBase::reset);
        }
    }
}

/// A type that was found by one id.
#[derive(Debug)]
pub(crate) struct Latest {
    /// Where the id is.
    pub(crate) id_at: usize,
    pub(crate) formal: &'static Class,
    pub(crate) found: Found,
}

impl Met {
    /// Enters a value where indirections find it, before its state is read.
    pub(crate) fn enter(
        &mut self,
        at: usize,
        value: Option<ValueBase>,
    ) -> Result<(), CdrErrorKind> {
        if self.depth == MAX_DEPTH {
            return Err(CdrErrorKind::TooDeep);
        }
        if self.values.len() == MAX_VALUES {
            return Err(CdrErrorKind::CountTooLarge);
        }
        self.note_lent();
        self.depth += 1;
        self.values.push((at, value));
        Ok(())
    }

    /// A value is about to be returned, to the program if it is for no any.
    pub(crate) fn note_lent(&mut self) {
        self.is_lent |= self.depth == 0 && self.anys == 0;
    }

    /// No value that was returned is used: cycles of them end with the message.
    pub(crate) fn take_back(&mut self) {
        self.is_lent = false;
    }

    /// Enters the value that a factory made, if it made one of the right type.
    pub(crate) fn begin(
        &mut self,
        at: usize,
        made: Option<ValueBase>,
    ) -> Result<ValueBase, CdrErrorKind> {
        let value = made.ok_or(CdrErrorKind::UnknownValue)?;
        self.enter(at, Some(value.clone()))?;
        Ok(value)
    }

    /// Leaves the value that was entered last. At the end of a message, where no indirection can
    /// follow, all values are let go of: those that nothing else refers to are written with less
    /// effort then.
    pub(crate) fn leave(&mut self, is_at_end: bool) {
        self.depth -= 1;
        let is_kept = self.recurs && !self.is_lent;
        if self.depth == 0 && is_at_end && !is_kept {
            self.values = Vec::new();
        }
    }
}

/// Octets of values that are copied into anys for each octet of the message, and a few
/// besides: indirections make much of little.
const COPIES: usize = 16;
const FREE_COPIES: usize = 1 << 16;

#[inline]
pub(crate) fn met<'r>(reader: &'r mut CdrReader<'_>) -> &'r mut Met {
    reader.message_state()
}

/// Goes into a value within an any. What is read there is written and may be read again, so
/// that each level doubles the work.
pub(crate) fn enter_any(reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    let met = met(reader);
    if met.anys == MAX_ANY_DEPTH {
        return Err(reader.error(CdrErrorKind::TooDeep));
    }
    met.anys += 1;
    Ok(())
}

/// A value within an any was copied, with so many octets.
pub(crate) fn leave_any(octets: usize, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    let most = FREE_COPIES + COPIES * reader.position();
    let met = met(reader);
    met.anys -= 1;
    met.copied += octets;
    match met.copied > most {
        true => Err(reader.error(CdrErrorKind::CountTooLarge)),
        false => Ok(()),
    }
}

/// What was met at a position.
pub(crate) fn found<T: Clone>(met: &[(usize, T)], at: usize) -> Option<T> {
    let index = met.binary_search_by_key(&at, |(at, _)| *at).ok()?;
    met.get(index).map(|(_, found)| found.clone())
}
