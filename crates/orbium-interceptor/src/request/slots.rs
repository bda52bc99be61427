// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slots: values that accompany a request through interceptors, threads and servants
//! (CORBA 3.3 Part 1, clause 16.4).

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use orbium_cdr::Any;
use orbium_giop::SystemException;
use orbium_invocation::Operation;

use super::dynamic::{DynamicInvocation, OfOperation};

/// A slot that was allocated before its ORB was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotId(pub u32);

/// No slot with that id was allocated (`PortableInterceptor::InvalidSlot`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InvalidSlot(pub SlotId);

impl fmt::Display for InvalidSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no slot {} was allocated", self.0.0)
    }
}

impl fmt::Debug for InvalidSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for InvalidSlot {}

impl From<InvalidSlot> for SystemException {
    /// BAD_PARAM.
    fn from(_: InvalidSlot) -> Self {
        orbium_giop::ExceptionKind::BadParam.into()
    }
}

impl From<InvalidSlot> for crate::Interrupt {
    fn from(invalid: InvalidSlot) -> Self {
        Self::Raise(invalid.into())
    }
}

/// The values of slots: of a thread or of a request. Allocates nothing while none is set. That of
/// a dynamic call has the facts of the call too.
#[derive(Clone, Debug, Default)]
pub struct SlotTable {
    values: Vec<Any>,
    dynamic: Option<OfOperation>,
}

impl SlotTable {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The facts of a dynamic call of that operation.
    pub(crate) fn dynamic(&self, operation: &'static Operation) -> Option<&DynamicInvocation> {
        self.dynamic.as_ref()?.of(operation)
    }

    fn get(&self, slot: SlotId) -> Any {
        self.values
            .get(slot.0 as usize)
            .cloned()
            .unwrap_or_default()
    }

    fn set(&mut self, slot: SlotId, value: Any) {
        let index = slot.0 as usize;
        if self.values.len() <= index {
            self.values.resize_with(index + 1, Any::default);
        }
        self.values[index] = value;
    }
}

thread_local! {
    /// The tables of this thread, by the ORB's slots that they are for.
    static TABLES: RefCell<Vec<(usize, SlotTable)>> = const { RefCell::new(Vec::new()) };
}

/// The slots of the calling thread (`PICurrent`, the thread scope): a call carries a copy of
/// them, a servant begins with those of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PiCurrent {
    /// Distinguishes the slots of one ORB from those of others.
    pub(crate) owner: usize,
    /// How many were allocated.
    pub(crate) slots: u32,
}

/// Numbers of slot allocators.
static OWNERS: AtomicUsize = AtomicUsize::new(0);

/// Allocates the slots of an ORB. Its copies allocate slots of the same ORB.
#[derive(Clone, Debug)]
pub(crate) struct SlotAllocator {
    owner: usize,
    slots: Arc<AtomicU32>,
}

impl SlotAllocator {
    pub(crate) fn new() -> Self {
        Self {
            owner: OWNERS.fetch_add(1, Ordering::Relaxed),
            slots: Arc::default(),
        }
    }

    pub(crate) fn allocate(&self) -> SlotId {
        SlotId(self.slots.fetch_add(1, Ordering::Relaxed))
    }

    /// The slots of the calling thread, as allocated so far.
    #[inline]
    pub(crate) fn current(&self) -> PiCurrent {
        PiCurrent {
            owner: self.owner,
            slots: self.slots.load(Ordering::Relaxed),
        }
    }
}

impl PiCurrent {
    pub(crate) fn check(&self, slot: SlotId) -> Result<(), InvalidSlot> {
        if slot.0 < self.slots {
            Ok(())
        } else {
            Err(InvalidSlot(slot))
        }
    }

    /// The value of a slot of this thread; an any of type null if it was never set.
    ///
    /// # Errors
    /// [`InvalidSlot`].
    pub fn get_slot(&self, slot: SlotId) -> Result<Any, InvalidSlot> {
        self.check(slot)?;
        Ok(TABLES.with_borrow(|all| {
            let own = all.iter().find(|(owner, _)| *owner == self.owner);
            own.map_or_else(Any::default, |(_, table)| table.get(slot))
        }))
    }

    /// Sets a slot of this thread.
    ///
    /// # Errors
    /// [`InvalidSlot`].
    pub fn set_slot(&self, slot: SlotId, value: Any) -> Result<(), InvalidSlot> {
        self.check(slot)?;
        let mut table = self.exchange(SlotTable::default());
        table.set(slot, value);
        self.exchange(table);
        Ok(())
    }

    /// The slot of a request.
    pub(crate) fn of_request(&self, table: &SlotTable, slot: SlotId) -> Result<Any, InvalidSlot> {
        self.check(slot)?;
        Ok(table.get(slot))
    }

    /// Sets the slot of a request.
    pub(crate) fn set_of_request(
        &self,
        table: &mut SlotTable,
        slot: SlotId,
        value: Any,
    ) -> Result<(), InvalidSlot> {
        self.check(slot)?;
        table.set(slot, value);
        Ok(())
    }

    /// A copy of this thread's slots, for the calls that it makes.
    #[must_use]
    #[inline]
    pub fn of_this_thread(&self) -> Cow<'static, SlotTable> {
        static NONE: SlotTable = SlotTable {
            values: Vec::new(),
            dynamic: None,
        };
        match (self.copied(), DynamicInvocation::called()) {
            (None, None) => Cow::Borrowed(&NONE),
            (table, dynamic) => Cow::Owned(SlotTable {
                dynamic,
                ..table.unwrap_or_default()
            }),
        }
    }

    /// A copy of this thread's slots, if it has set any.
    #[inline]
    fn copied(&self) -> Option<SlotTable> {
        if self.slots == 0 {
            return None;
        }
        TABLES.with_borrow(|all| {
            let own = all.iter().find(|(owner, _)| *owner == self.owner);
            own.map(|(_, table)| table.clone())
        })
    }

    #[inline]
    pub(crate) fn has_slots(&self) -> bool {
        self.slots != 0
    }

    /// Empties the slots of this thread, until they are restored; `None` if none were allocated.
    #[inline]
    pub(crate) fn set_aside(&self) -> Option<SlotTable> {
        self.has_slots()
            .then(|| self.exchange_some(SlotTable::default()))
    }

    /// Restores the slots that were set aside.
    #[inline]
    pub(crate) fn restore(&self, before: Option<SlotTable>) {
        if let Some(before) = before {
            self.exchange_some(before);
        }
    }

    /// Empties the slots of this thread.
    #[inline]
    pub(crate) fn clear(&self) {
        if self.has_slots() {
            self.exchange(SlotTable::default());
        }
    }

    /// Gives this thread other slots; those that it had.
    #[inline]
    pub(crate) fn exchange(&self, table: SlotTable) -> SlotTable {
        match self.slots {
            0 => table,
            _ => self.exchange_some(table),
        }
    }

    #[inline(never)]
    fn exchange_some(&self, table: SlotTable) -> SlotTable {
        TABLES.with_borrow_mut(|all| {
            let at = all.iter().position(|(owner, _)| *owner == self.owner);
            match at {
                Some(at) if table.is_empty() => all.swap_remove(at).1,
                Some(at) => std::mem::replace(&mut all[at].1, table),
                None => {
                    if !table.is_empty() {
                        all.push((self.owner, table));
                    }
                    SlotTable::default()
                }
            }
        })
    }
}
