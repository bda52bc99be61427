// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collocated objects: the servant that calls without a message find by their reference.

use std::sync::OnceLock;

use orbium_cdr::Format;
use orbium_sync::{Erased, SlotKey};

/// An object of the caller's own ORB, as calls without a message address it.
#[derive(Debug)]
pub struct Collocated {
    /// The key of the object.
    pub object_key: Box<[u8]>,
    /// Its place among the active objects. No other object ever has it, so a call has to check
    /// no more than its generation. An object that is not active has one where none ever is.
    pub slot: SlotKey,
    /// How values would be written.
    pub format: Format,
    /// The servant as each interface sees it that it was called as.
    servants: OnceLock<Servant>,
}

/// The servant as an interface sees it, then as the next interface does.
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

    /// The servant that was [added](Self::add_servant) as that type.
    #[must_use]
    #[inline(always)]
    pub fn servant<S: 'static>(&self) -> Option<&S> {
        let first = self.servants.get()?;
        match first.servant.downcast_ref() {
            None => first.next_servant(),
            found => found,
        }
    }

    /// Has the next calls find that servant.
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
    /// The servant of another type that is one of the type asked for.
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
