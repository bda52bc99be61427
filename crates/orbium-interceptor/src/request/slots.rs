// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slots: values that accompany a request through interceptors, threads and servants (CORBA 3.3
//! Part 1, clause 16.4).

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use orbium_cdr::Any;
use orbium_giop::SystemException;
use orbium_invocation::Operation;

use super::dynamic::{DynamicInvocation, OfOperation};
use crate::errors::initializing;

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

/// Error of access to a slot of a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SlotError {
    /// No such slot was allocated.
    Invalid(InvalidSlot),
    /// An initialiser of the ORB is running on the thread: there are no requests yet.
    Initializing,
}

impl fmt::Display for SlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(invalid) => fmt::Display::fmt(invalid, f),
            Self::Initializing => f.write_str("an initialiser of the ORB has no slots yet"),
        }
    }
}

impl fmt::Debug for SlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SlotError {}

impl From<InvalidSlot> for SlotError {
    fn from(invalid: InvalidSlot) -> Self {
        Self::Invalid(invalid)
    }
}

impl From<SlotError> for SystemException {
    /// BAD_PARAM, or BAD_INV_ORDER 14.
    fn from(error: SlotError) -> Self {
        match error {
            SlotError::Invalid(invalid) => invalid.into(),
            SlotError::Initializing => initializing(),
        }
    }
}

impl From<SlotError> for crate::Interrupt {
    fn from(error: SlotError) -> Self {
        Self::Raise(error.into())
    }
}

/// The values of slots: of a thread or of a request. No allocation while none is set. The table of
/// a dynamic call also has the facts of the call.
#[derive(Clone, Debug, Default)]
pub struct SlotTable {
    values: Vec<Any>,
    dynamic: Option<OfOperation>,
}

impl SlotTable {
    /// The table of a request without slots.
    #[must_use]
    #[inline]
    pub fn none() -> &'static Self {
        static NONE: SlotTable = SlotTable {
            values: Vec::new(),
            dynamic: None,
        };
        &NONE
    }

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
    /// The tables of this thread, by the owner of the slots.
    static TABLES: RefCell<Vec<(usize, SlotTable)>> = const { RefCell::new(Vec::new()) };
    /// The owners of the slots of ORBs with initialisers running on this thread.
    static INITIALIZING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Ends the access of an initialiser when it is dropped.
struct Initializer;

impl Drop for Initializer {
    fn drop(&mut self) {
        INITIALIZING.with_borrow_mut(Vec::pop);
    }
}

/// The slots of the calling thread (`PICurrent`, the thread scope): a call carries a copy of them,
/// and a servant starts with those of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PiCurrent {
    /// Identifies the slots of an ORB.
    pub(crate) owner: usize,
    /// The number of allocated slots.
    pub(crate) slots: u32,
}

/// For points that run with the slots of their thread.
pub(crate) const NO_SLOTS: PiCurrent = PiCurrent {
    owner: usize::MAX,
    slots: 0,
};

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

    /// Runs an initialiser of the ORB: it has no access to the slots of its thread.
    pub(crate) fn initialize<R>(&self, run: impl FnOnce() -> R) -> R {
        INITIALIZING.with_borrow_mut(|all| all.push(self.owner));
        let _initializer = Initializer;
        run()
    }

    /// Whether no call carries slots or facts of a dynamic call.
    #[inline]
    pub(crate) fn carries_nothing(&self) -> bool {
        self.slots.load(Ordering::Relaxed) == 0 && !DynamicInvocation::is_used()
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

/// The slots of an ORB.
#[derive(Clone, Copy)]
pub struct OrbSlots<'i>(&'i SlotAllocator);

impl OrbSlots<'_> {
    /// The slots of the calling thread, as allocated so far.
    #[inline]
    pub(crate) fn current(self) -> PiCurrent {
        self.0.current()
    }
}

impl<'i> From<&'i SlotAllocator> for OrbSlots<'i> {
    #[inline]
    fn from(slots: &'i SlotAllocator) -> Self {
        Self(slots)
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

    /// As `check`, for a slot of this thread.
    fn check_access(&self, slot: SlotId) -> Result<(), SlotError> {
        if INITIALIZING.with_borrow(|all| all.contains(&self.owner)) {
            return Err(SlotError::Initializing);
        }
        Ok(self.check(slot)?)
    }

    /// The value of a slot of this thread; an any of type null if it was never set.
    ///
    /// # Errors
    /// No such slot was allocated; BAD_INV_ORDER 14 within an initialiser of the ORB.
    pub fn get_slot(&self, slot: SlotId) -> Result<Any, SlotError> {
        self.check_access(slot)?;
        Ok(TABLES.with_borrow(|all| {
            let own = all.iter().find(|(owner, _)| *owner == self.owner);
            own.map_or_else(Any::default, |(_, table)| table.get(slot))
        }))
    }

    /// Sets a slot of this thread.
    ///
    /// # Errors
    /// As for [`get_slot`](Self::get_slot).
    pub fn set_slot(&self, slot: SlotId, value: Any) -> Result<(), SlotError> {
        self.check_access(slot)?;
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
    pub fn of_this_thread(&self) -> Cow<'static, SlotTable> {
        match (self.copied(), DynamicInvocation::called()) {
            (None, None) => Cow::Borrowed(SlotTable::none()),
            (table, dynamic) => Cow::Owned(SlotTable {
                dynamic,
                ..table.unwrap_or_default()
            }),
        }
    }

    /// Whether calls of this thread carry neither slots nor facts of a dynamic call.
    #[cold]
    pub(crate) fn has_none_for_calls(&self) -> bool {
        matches!(self.of_this_thread(), Cow::Borrowed(_))
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

    /// Replaces the slots of this thread; returns the previous ones.
    #[inline]
    pub(crate) fn exchange(&self, table: SlotTable) -> SlotTable {
        match self.slots {
            0 => table,
            _ => self.exchange_some(table),
        }
    }

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
