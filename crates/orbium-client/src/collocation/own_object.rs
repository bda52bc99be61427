// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collocated objects: servants cached by their references for calls without a message.

use std::sync::OnceLock;

use orbium_cdr::Format;
use orbium_sync::{Erased, SlotKey};

/// The address of an object of the caller's own ORB, for calls without a message.
#[derive(Debug)]
pub struct Collocated {
    /// The key of the object.
    pub object_key: Box<[u8]>,
    /// Its slot among the active objects. It is never reused with the same generation, so a call
    /// has to check no more than that. An object that is not active has a slot that is always
    /// empty.
    pub slot: SlotKey,
    /// The format in which values would be marshalled.
    pub format: Format,
    /// The servant, typed by each interface used by callers.
    servants: OnceLock<Servant>,
}

/// The servant typed by an interface, and a link to the next interface.
#[derive(Debug)]
struct Servant {
    servant: Erased,
    next: Box<OnceLock<Servant>>,
}

impl Collocated {
    pub(crate) fn new(object_key: &[u8], slot: SlotKey, format: Format) -> Self {
        Self {
            object_key: object_key.into(),
            slot,
            format,
            servants: OnceLock::new(),
        }
    }

    /// The servant [added](Self::add_servant) with that type.
    #[must_use]
    #[inline(always)]
    pub fn servant<S: 'static>(&self) -> Option<&S> {
        let first = self.servants.get()?;
        match first.servant.downcast_ref() {
            None => first.next_servant(),
            found => found,
        }
    }

    /// Adds the servant for later calls.
    #[cold]
    pub fn add_servant<S: Send + Sync + 'static>(&self, servant: S) -> Option<&S> {
        let mut place = &self.servants;
        let mut node = Servant {
            servant: Erased::new(servant),
            next: Box::default(),
        };
        // Another thread may add one at the same time.
        while let Err(returned) = place.set(node) {
            node = returned;
            place = &place.get()?.next;
        }
        place.get()?.servant.downcast_ref()
    }
}

impl Servant {
    /// The servant in the rest of the list that has the requested type.
    #[cold]
    fn next_servant<S: 'static>(&self) -> Option<&S> {
        let mut node = self.next.get();
        while let Some(this) = node {
            let found = this.servant.downcast_ref();
            if found.is_some() {
                return found;
            }
            node = this.next.get();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servants_are_found_by_their_types() {
        let slot = SlotKey {
            index: 0,
            generation: 1,
        };
        let own = Collocated::new(b"key", slot, Format::native());
        assert!(own.servant::<u32>().is_none());
        assert_eq!(own.add_servant(7_u32), Some(&7));
        assert!(own.servant::<&str>().is_none());
        assert_eq!(own.add_servant("eight"), Some(&"eight"));
        assert_eq!(own.add_servant(9_u8), Some(&9));
        assert_eq!(own.servant(), Some(&7_u32));
        assert_eq!(own.servant(), Some(&"eight"));
        assert_eq!(own.servant(), Some(&9_u8));
    }
}
