// SPDX-License-Identifier: MIT OR Apache-2.0
//! Table of the values of a message while they are read.

use core::cell::Cell;
use std::sync::Arc;

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader};

use crate::described::described_types::DescribedTypes;
use crate::factories::Found;
use crate::{Class, MAX_ANY_DEPTH, MAX_DEPTH, MAX_VALUES, State, ValueBase};

pub(crate) type Id = Arc<str>;

/// The value at a tag.
#[derive(Debug)]
enum Entry {
    /// A value that was skipped, as its type is unknown.
    Skipped,
    Made(ValueBase),
    /// A value of that type, of which the state is being read. It is created with its state, unless
    /// the state refers to it.
    Pending(&'static Class),
}

/// Entries by position. Their memory is retained between messages, which avoids a large block on
/// the heap between the small ones of the values.
#[derive(Debug)]
struct Entries(Vec<(usize, Entry)>);

thread_local! {
    static SPARE: Cell<Vec<(usize, Entry)>> = const { Cell::new(Vec::new()) };
}

/// Maximum number of entries for which a thread retains memory.
const MAX_SPARE: usize = 4096;

impl Default for Entries {
    fn default() -> Self {
        Self(SPARE.try_with(Cell::take).unwrap_or_default())
    }
}

impl Drop for Entries {
    fn drop(&mut self) {
        let mut entries = core::mem::take(&mut self.0);
        entries.clear();
        if entries.capacity() <= MAX_SPARE {
            // A thread that is ending does not retain it.
            let _ = SPARE.try_with(|spare| spare.set(entries));
        }
    }
}

/// The values read in a message, all in order of position.
#[derive(Debug, Default)]
pub(crate) struct Met {
    /// The values by the positions of their tags.
    values: Entries,
    pub(crate) ids: Vec<(usize, Id)>,
    pub(crate) lists: Vec<(usize, Arc<[Id]>)>,
    pub(crate) codebases: Vec<usize>,
    /// The latest type: most values have that of the previous one.
    pub(crate) latest: Option<Latest>,
    /// Some of the expected types, by which values in truncated parts are looked up.
    pub(crate) formals: Vec<&'static Class>,
    /// The types created from their TypeCodes.
    pub(crate) described: DescribedTypes,
    /// Whether compiled types are read by their TypeCodes, too.
    pub(crate) describes: bool,
    /// For data in which numbers represent values, the values collected so far.
    pub(crate) collected: Option<Vec<Option<ValueBase>>>,
    /// In data in which numbers represent values, the values.
    pub(crate) numbered: Option<Arc<[Option<ValueBase>]>>,
    depth: u32,
    /// The number of the latest value that is not nested in another: the one being read, if any.
    outermost: usize,
    /// Anys of values around the next octet.
    anys: u32,
    /// Octets of values that were copied into anys.
    copied: usize,
    /// Whether a value was returned that is not used by an any only.
    is_lent: bool,
    /// Whether a value was referred to again, so that there may be cycles.
    pub(crate) recurs: bool,
}

/// Values that only anys use end with the message, and so do those of a value that could not be
/// read completely, as no program has them: their cycles are broken.
impl Drop for Met {
    fn drop(&mut self) {
        if !self.recurs {
            return;
        }
        let first = match (self.is_lent, self.depth) {
            (false, _) => 0,
            (true, 0) => return,
            (true, _) => self.outermost,
        };
        for (_, entry) in self.values.0.iter().skip(first) {
            if let Entry::Made(value) = entry {
                value.reset();
            }
        }
    }
}

/// A type and the id for which it was found.
#[derive(Debug)]
pub(crate) struct Latest {
    /// The position of the id.
    pub(crate) id_at: usize,
    pub(crate) formal: &'static Class,
    pub(crate) found: Found,
}

impl Met {
    /// Enters a value for indirections before its state is read.
    #[inline]
    fn enter(&mut self, at: usize, entry: Entry) -> Result<(), CdrErrorKind> {
        if self.depth == MAX_DEPTH {
            return Err(CdrErrorKind::TooDeep);
        }
        if self.values.0.len() == MAX_VALUES {
            return Err(CdrErrorKind::CountTooLarge);
        }
        self.note_lent();
        if self.depth == 0 {
            self.outermost = self.values.0.len();
        }
        self.depth += 1;
        self.values.0.push((at, entry));
        Ok(())
    }

    /// Enters a value that is skipped.
    pub(crate) fn enter_skipped(&mut self, at: usize) -> Result<(), CdrErrorKind> {
        self.enter(at, Entry::Skipped)
    }

    /// Enters a value that is created after its state is read. Returns its number.
    #[inline]
    pub(crate) fn begin_state(
        &mut self,
        at: usize,
        class: &'static Class,
    ) -> Result<usize, CdrErrorKind> {
        self.enter(at, Entry::Pending(class))?;
        Ok(self.values.0.len() - 1)
    }

    /// Leaves the value of that number: creates it with its state, or sets its state if the state
    /// referred to it.
    #[inline]
    pub(crate) fn end_state<S: State>(
        &mut self,
        number: usize,
        class: &'static Class,
        state: S,
        is_at_end: bool,
    ) -> ValueBase {
        let value = match self.values.0.get_mut(number) {
            Some((_, Entry::Made(value))) => {
                *value.write_state::<S>() = state;
                value.clone()
            }
            Some((_, entry)) => {
                let value = ValueBase::with_state(class, state);
                *entry = Entry::Made(value.clone());
                value
            }
            None => ValueBase::with_state(class, state),
        };
        self.leave(is_at_end);
        value
    }

    /// The value with its tag at a position: `Some(None)` if it was skipped.
    pub(crate) fn value_at(&mut self, at: usize) -> Option<Option<ValueBase>> {
        let entries = &mut self.values.0;
        let index = entries.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        let (_, entry) = entries.get_mut(index)?;
        Some(match entry {
            Entry::Skipped => None,
            Entry::Made(value) => Some(value.clone()),
            Entry::Pending(class) => {
                let value = (class.make)();
                *entry = Entry::Made(value.clone());
                Some(value)
            }
        })
    }

    /// Notes that a value is about to be returned, to the program unless it is for an any.
    pub(crate) fn note_lent(&mut self) {
        self.is_lent |= self.depth == 0 && self.anys == 0;
    }

    /// Notes that no returned value is used: their cycles end with the message.
    pub(crate) fn take_back(&mut self) {
        self.is_lent = false;
    }

    /// Enters the value that a factory created, if it is of the right type.
    pub(crate) fn begin(
        &mut self,
        at: usize,
        made: Option<ValueBase>,
    ) -> Result<ValueBase, CdrErrorKind> {
        let value = made.ok_or(CdrErrorKind::UnknownValue)?;
        self.enter(at, Entry::Made(value.clone()))?;
        Ok(value)
    }

    /// Leaves the value that was entered last. At the end of a message, where no indirection can
    /// follow, all handles are released: values without other handles are then cheaper to write.
    pub(crate) fn leave(&mut self, is_at_end: bool) {
        self.depth -= 1;
        let is_kept = self.recurs && !self.is_lent;
        if self.depth == 0 && is_at_end && !is_kept {
            self.values.0.clear();
        }
    }
}

/// Limit of octets of values that are copied into anys for each octet of the message, in addition
/// to a fixed number: indirections multiply the data.
const COPIES: usize = 16;
const FREE_COPIES: usize = 1 << 16;

#[inline]
pub(crate) fn met<'r>(reader: &'r mut CdrReader<'_>) -> &'r mut Met {
    reader.message_state()
}

/// Enters a value within an any. Its data are written and may be read again, so that each level
/// doubles the work.
pub(crate) fn enter_any(reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    let met = met(reader);
    if met.anys == MAX_ANY_DEPTH {
        return Err(reader.error(CdrErrorKind::TooDeep));
    }
    met.anys += 1;
    Ok(())
}

/// Leaves a value within an any, which was copied with that many octets.
pub(crate) fn leave_any(octets: usize, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    let most = FREE_COPIES + COPIES * reader.position();
    let met = met(reader);
    met.anys -= 1;
    met.copied += octets;
    if met.copied > most {
        Err(reader.error(CdrErrorKind::CountTooLarge))
    } else {
        Ok(())
    }
}

/// The entry of a position.
pub(crate) fn found<T: Clone>(met: &[(usize, T)], at: usize) -> Option<T> {
    let index = met.binary_search_by_key(&at, |(at, _)| *at).ok()?;
    met.get(index).map(|(_, found)| found.clone())
}
