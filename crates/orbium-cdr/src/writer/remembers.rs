// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writer state in addition to its bytes: the owner of references, and the state of a message
//! with values.

use core::any::{Any, TypeId};
use core::fmt;

use crate::Owner;
use crate::boxed_state::BoxedState;

/// The state of a writer in addition to its output.
#[derive(Debug)]
pub(super) enum Remembers<'a> {
    /// Large slices.
    Slices,
    /// The owner of the references that were written; large slices are copied.
    Owner(Option<&'a Owner>),
    /// Whether anything was written that cannot be passed without copying within the owner at that
    /// address; large slices are copied.
    Lent { within: usize, refers: bool },
    /// The state of a message with values; large slices are copied.
    State(BoxedState<MessageState>),
}

/// State of a layer above for a message being written.
pub trait WrittenState: Any + Send {
    /// The owner with which a copy of the written data can be read; `noted` is that of its
    /// references.
    fn owner(&self, noted: Option<Owner>) -> Option<Owner> {
        noted
    }
}

/// The state of a message with values.
pub(super) struct MessageState {
    pub(super) state: Box<dyn WrittenState>,
    /// The type of the state.
    pub(super) of: TypeId,
    pub(super) owner: Option<Owner>,
}

impl fmt::Debug for MessageState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageState").finish_non_exhaustive()
    }
}

/// The address of an owner.
fn address(owner: &Owner) -> usize {
    Owner::as_ptr(owner).addr()
}

impl<'a> Remembers<'a> {
    /// The state of a writer that determines what can be passed without copying within an owner.
    pub(super) fn lending(within: &Owner) -> Self {
        Self::Lent {
            within: address(within),
            refers: false,
        }
    }

    #[inline]
    pub(super) fn note_owner(&mut self, owner: &'a Owner) {
        match self {
            Self::Owner(noted @ None) => *noted = Some(owner),
            Self::Lent { refers, .. } => *refers = true,
            Self::State(kept) => {
                if let Some(kept) = kept.get_mut() {
                    kept.owner.get_or_insert_with(|| Owner::clone(owner));
                }
            }
            _ => {}
        }
    }

    /// Whether a reference of that owner can be lent.
    pub(super) fn lends(&self, owner: &Owner) -> bool {
        matches!(self, Self::Lent { within, .. } if *within == address(owner))
    }

    /// Whether there is an owner or a state.
    pub(super) fn refers(&self) -> bool {
        match self {
            Self::Owner(noted) => noted.is_some(),
            Self::Lent { refers, .. } => *refers,
            Self::State(_) => true,
            Self::Slices => false,
        }
    }

    pub(super) fn owner(&self) -> Option<Owner> {
        match self {
            Self::Slices | Self::Lent { .. } => None,
            Self::Owner(owner) => owner.cloned(),
            Self::State(kept) => {
                let kept = kept.get()?;
                kept.state.owner(kept.owner.clone())
            }
        }
    }

    /// The state within an encapsulation, in which nothing is gathered.
    #[inline]
    pub(super) fn in_encapsulation(&self) -> Self {
        match self {
            Self::Owner(owner) => Self::Owner(*owner),
            Self::Lent { within, .. } => Self::Lent {
                within: *within,
                refers: false,
            },
            _ => Self::Owner(None),
        }
    }

    /// Ends an encapsulation: restores the state outside.
    #[inline]
    pub(super) fn leave_encapsulation(&mut self, mut outside: Self) {
        match (&mut outside, &*self) {
            (Self::Owner(_), Self::Owner(_)) => return,
            (Self::Lent { refers, .. }, inside) => *refers |= inside.refers(),
            (Self::State(kept), inside) => match kept.get_mut() {
                Some(kept) if kept.owner.is_none() => kept.owner = inside.owner(),
                _ => {}
            },
            _ => {}
        }
        *self = outside;
    }
}
