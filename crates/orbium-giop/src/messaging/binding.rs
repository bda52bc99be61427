// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names that both sides of a connection know by number.
//!
//! The sender chooses the number and says in the frame that first uses it what
//! it means; frames are received in the order they were sent, so both sides
//! agree. When the table is full the sender takes a number away from a name that
//! was not used of late, and defines it anew.

use std::collections::HashMap;

use super::MessagingError;

/// Names in a table.
pub(super) const SLOTS: usize = 256;

/// What the sender knows.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    by_name: HashMap<Box<[u8]>, u16>,
    slots: Vec<Slot>,
    /// The slot used last: most messages go where the one before went.
    last: usize,
    /// Where the search for a slot to be taken away goes on.
    hand: usize,
}

#[derive(Debug)]
struct Slot {
    name: Box<[u8]>,
    /// Used since the hand came by.
    used: bool,
}

impl Numbers {
    /// The number of a name, and whether it must be defined.
    pub(super) fn bind(&mut self, name: &[u8]) -> (u16, bool) {
        if let Some(slot) = self.slots.get(self.last)
            && *slot.name == *name
        {
            return (self.last as u16, false);
        }
        let known = self.by_name.get(name).copied();
        let number = known.unwrap_or_else(|| self.define(name));
        self.last = usize::from(number);
        if let Some(slot) = self.slots.get_mut(self.last) {
            slot.used = true;
        }
        (number, known.is_none())
    }

    fn define(&mut self, name: &[u8]) -> u16 {
        let slot = Slot {
            name: name.into(),
            used: true,
        };
        let at = if self.slots.len() < SLOTS {
            self.slots.push(slot);
            self.slots.len() - 1
        } else {
            let at = self.find_unused();
            self.by_name.remove(&self.slots[at].name);
            self.slots[at] = slot;
            at
        };
        // Below SLOTS.
        let number = at as u16;
        self.by_name.insert(name.into(), number);
        number
    }

    /// A slot that was not used since the hand was there, as a clock finds it.
    fn find_unused(&mut self) -> usize {
        loop {
            self.hand = (self.hand + 1) % SLOTS;
            if !core::mem::take(&mut self.slots[self.hand].used) {
                return self.hand;
            }
        }
    }
}

/// What the receiver knows.
#[derive(Debug, Default)]
pub(super) struct Names {
    slots: Vec<Option<Box<[u8]>>>,
}

impl Names {
    /// Gives a number a meaning, or another one.
    pub(super) fn define(&mut self, number: u16, name: &[u8]) -> Result<(), MessagingError> {
        let at = usize::from(number);
        if at >= SLOTS {
            return Err(MessagingError::OutOfTable(number));
        }
        if self.slots.len() <= at {
            self.slots.resize(at + 1, None);
        }
        self.slots[at] = Some(name.into());
        Ok(())
    }

    /// What a number means.
    pub(super) fn find(&self, number: u16) -> Result<&[u8], MessagingError> {
        let at = usize::from(number);
        match self.slots.get(at) {
            Some(Some(name)) => Ok(name),
            _ if at >= SLOTS => Err(MessagingError::OutOfTable(number)),
            _ => Err(MessagingError::Unbound(number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_names_than_slots_keep_their_meaning() {
        let (mut sender, mut receiver) = (Numbers::default(), Names::default());
        let mut defined = 0;
        for i in 0..20_000_u32 {
            // A few names often, many seldom.
            let name = if i % 2 == 0 { i % 7 } else { i * 31 % 1009 };
            let name = name.to_be_bytes();
            let (number, is_new) = sender.bind(&name);
            if is_new {
                defined += 1;
                receiver.define(number, &name).unwrap();
            }
            assert_eq!(receiver.find(number), Ok(&name[..]));
        }
        assert_eq!((sender.slots.len(), sender.by_name.len()), (SLOTS, SLOTS));
        // The names that are used often stay.
        assert!(defined <= 10_007, "{defined}");
    }

    #[test]
    fn numbers_without_a_meaning_are_refused() {
        let mut receiver = Names::default();
        receiver.define(3, b"name").unwrap();
        assert_eq!(receiver.find(2), Err(MessagingError::Unbound(2)));
        assert_eq!(receiver.find(4), Err(MessagingError::Unbound(4)));
        let beyond = SLOTS as u16;
        let error = Err(MessagingError::OutOfTable(beyond));
        assert_eq!(receiver.define(beyond, b"name"), error);
        assert_eq!(
            receiver.find(beyond),
            Err(MessagingError::OutOfTable(beyond))
        );
    }
}
