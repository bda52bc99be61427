// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that are delivered together.

use crate::event::SharedEvent;

/// Events delivered together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EventSet {
    One(SharedEvent),
    Several(Box<[SharedEvent]>),
}

impl EventSet {
    /// The events, taken from a buffer that can be reused.
    pub(crate) fn take(events: &mut Vec<SharedEvent>) -> Option<Self> {
        match events.len() {
            0 => None,
            1 => events.pop().map(Self::One),
            _ => Some(Self::Several(events.drain(..).collect())),
        }
    }

    /// Several sets as one: up to `most` events, or those of one set.
    pub(crate) fn joined(most: usize, mut next: impl FnMut() -> Option<Self>) -> Option<Self> {
        let first = next()?;
        if first.events().len() >= most {
            return Some(first);
        }
        let mut events = first.events().to_vec();
        while events.len() < most
            && let Some(set) = next()
        {
            events.extend_from_slice(set.events());
        }
        Self::take(&mut events)
    }

    pub(crate) fn events(&self) -> &[SharedEvent] {
        match self {
            Self::One(event) => std::slice::from_ref(event),
            Self::Several(events) => events,
        }
    }

    pub(crate) fn into_events(self) -> Vec<SharedEvent> {
        match self {
            Self::One(event) => vec![event],
            Self::Several(events) => events.into_vec(),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.events().len() as u64
    }

    pub(super) fn bytes(&self) -> usize {
        self.events().iter().map(SharedEvent::bytes).sum()
    }
}
