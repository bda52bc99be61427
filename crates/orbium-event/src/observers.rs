// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers of a channel: what its consumers subscribe to and its suppliers publish.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::delivery::health::DeliveryError;
use crate::event::{ANY, DISJUNCTION};
use crate::rtec::rtec_event_channel_admin::{ConsumerQos, Publication, SupplierQos};
use crate::subscription::pattern::{Pattern, element};

/// The sums that observers get.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// A disjunction of what the channel's consumers subscribe to, those that are gateways left
    /// out. A type and source of 0 stand for what cannot be said by types and sources.
    pub consumers: ConsumerQos,
    /// What the channel's suppliers publish, those that are gateways left out.
    pub suppliers: SupplierQos,
}

/// Receives the sums of a channel after each change.
pub trait Observer: Send + Sync + 'static {
    /// Receives the present sums. Returns in bounded time; no lock of the channel is held.
    ///
    /// # Errors
    /// [`DeliveryError`]: the observer could not be reached, and is removed if it is gone.
    fn update(&self, sums: &Sums) -> Result<(), DeliveryError>;
}

impl<F: Fn(&Sums) + Send + Sync + 'static> Observer for F {
    fn update(&self, sums: &Sums) -> Result<(), DeliveryError> {
        self(sums);
        Ok(())
    }
}

/// A registered observer, and how many updates have failed one after the other.
struct Registered {
    observer: Arc<dyn Observer>,
    failures: u32,
}

#[derive(Default)]
pub(crate) struct Observers {
    last_handle: u32,
    registered: BTreeMap<u32, Registered>,
}

impl Observers {
    /// Registers an observer; `None` if there are as many as permitted.
    pub(crate) fn append(&mut self, observer: Arc<dyn Observer>, most: usize) -> Option<u32> {
        if self.registered.len() >= most {
            return None;
        }
        self.last_handle = self.last_handle.checked_add(1)?;
        let registered = Registered {
            observer,
            failures: 0,
        };
        self.registered.insert(self.last_handle, registered);
        Some(self.last_handle)
    }

    pub(crate) fn remove(&mut self, handle: u32) -> bool {
        self.registered.remove(&handle).is_some()
    }

    pub(crate) fn len(&self) -> usize {
        self.registered.len()
    }

    pub(crate) fn all(&self) -> Vec<(u32, Arc<dyn Observer>)> {
        let registered = self.registered.iter();
        registered
            .map(|(handle, it)| (*handle, Arc::clone(&it.observer)))
            .collect()
    }

    /// Records the outcome of an update: an observer that is gone, or fails too often, is removed.
    pub(crate) fn updated(
        &mut self,
        handle: u32,
        outcome: Result<(), DeliveryError>,
        most_failures: u32,
    ) {
        let Some(it) = self.registered.get_mut(&handle) else {
            return;
        };
        it.failures = match outcome {
            Ok(()) => 0,
            Err(DeliveryError::Gone) => most_failures,
            Err(_) => it.failures + 1,
        };
        if it.failures >= most_failures {
            self.registered.remove(&handle);
        }
    }
}

/// The sum of subscriptions: their types and sources, each once.
pub(crate) fn sum_of(patterns: &[Pattern]) -> ConsumerQos {
    let mut headers = BTreeSet::new();
    for pattern in patterns {
        collect(pattern, &mut headers);
    }
    let count = i32::try_from(headers.len()).unwrap_or(i32::MAX);
    let mut dependencies = vec![element(DISJUNCTION, count)];
    dependencies.extend(
        headers
            .iter()
            .map(|(r#type, source)| element(*r#type, *source)),
    );
    ConsumerQos {
        dependencies,
        is_gateway: false,
    }
}

/// What has to reach a channel for a pattern to match.
fn collect(pattern: &Pattern, headers: &mut BTreeSet<(i32, i32)>) {
    match pattern {
        Pattern::Leaf { r#type, source } => {
            headers.insert((*r#type, *source));
        }
        Pattern::Conjunction(children)
        | Pattern::Disjunction(children)
        | Pattern::LogicalAnd(children) => {
            for child in children {
                collect(child, headers);
            }
        }
        Pattern::Negation(_)
        | Pattern::Bitmask { .. }
        | Pattern::MaskedType { .. }
        | Pattern::Null => {
            headers.insert((ANY, ANY));
        }
        Pattern::Timeout(_) | Pattern::Interval(_) | Pattern::Deadline(_) => {}
    }
}

/// The sum of publications: their types and sources, each once.
pub(crate) fn sum_of_publications(published: &[(i32, i32)]) -> SupplierQos {
    let headers: BTreeSet<_> = published.iter().copied().collect();
    let publication = |(r#type, source)| Publication {
        event: element(r#type, source).event,
        ..Publication::default()
    };
    SupplierQos {
        publications: headers.into_iter().map(publication).collect(),
        is_gateway: false,
    }
}
