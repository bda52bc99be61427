// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers of a channel: they receive its subscriptions and publications.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use orbium::lock::{Mutex, MutexGuard};

use crate::delivery::health::DeliveryError;
use crate::event::{ANY, DISJUNCTION};
use crate::rtec::rtec_event_channel_admin::{ConsumerQos, Publication, SupplierQos};
use crate::subscription::pattern::{Pattern, element};

/// The sums that observers get.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// A disjunction of the subscriptions of the channel's consumers, except gateways. A type and
    /// source of 0 stand for patterns that types and sources cannot express.
    pub consumers: ConsumerQos,
    /// The publications of the channel's suppliers, except gateways.
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

/// The observers of a channel of this crate, or of another one with the same interfaces.
///
/// ```
/// use orbium_event::{Observer, Observers, Pattern, Sums};
/// use std::sync::Arc;
///
/// let observers = Observers::new(8, 3);
/// let show: Arc<dyn Observer> = Arc::new(|sums: &Sums| println!("{:?}", sums.consumers));
/// let sums = || Sums::of(&[Pattern::of(16, 0)], &[]);
/// let (handle, is_stale) = observers.begin(&show, sums).expect("there is no other one");
/// assert!(!is_stale);
/// observers.update(&Sums::of(&[Pattern::of(16, 0), Pattern::of(17, 0)], &[]));
/// assert!(observers.remove(handle));
/// ```
pub struct Observers {
    most: usize,
    most_failures: u32,
    registered: Mutex<Registry>,
}

#[derive(Default)]
struct Registry {
    last_handle: u32,
    by_handle: BTreeMap<u32, Registered>,
}

/// A registered observer, and the number of its consecutive failed updates.
struct Registered {
    observer: Arc<dyn Observer>,
    failures: u32,
}

impl Observers {
    /// Observers up to a maximum number, each of which is removed after so many consecutive failed
    /// updates.
    #[must_use]
    pub fn new(most: usize, most_failures: u32) -> Self {
        Self {
            most,
            most_failures,
            registered: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.registered.lock()
    }

    /// Registers an observer and calls it with the present sums; `None` if the maximum number is
    /// reached. Returns its handle, and whether the sums have changed since: then all observers are
    /// to be updated.
    pub fn begin(
        &self,
        observer: &Arc<dyn Observer>,
        sums: impl Fn() -> Sums,
    ) -> Option<(u32, bool)> {
        let handle = self.append(Arc::clone(observer))?;
        let given = sums();
        // An observer that does not exist any more is removed after the next changes.
        let _ = observer.update(&given);
        Some((handle, sums() != given))
    }

    fn append(&self, observer: Arc<dyn Observer>) -> Option<u32> {
        let mut registry = self.lock();
        if registry.by_handle.len() >= self.most {
            return None;
        }
        let handle = registry.last_handle.checked_add(1)?;
        registry.last_handle = handle;
        let registered = Registered {
            observer,
            failures: 0,
        };
        registry.by_handle.insert(handle, registered);
        Some(handle)
    }

    /// Removes an observer; false if there is none with this handle.
    pub fn remove(&self, handle: u32) -> bool {
        // The destructor of an observer may call the channel.
        let removed = self.lock().by_handle.remove(&handle);
        removed.is_some()
    }

    /// The number of observers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().by_handle.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls every observer with the sums. One that does not exist any more, or fails too often, is
    /// removed.
    pub fn update(&self, sums: &Sums) {
        let all: Vec<_> = {
            let registry = self.lock();
            let all = registry.by_handle.iter();
            all.map(|(handle, it)| (*handle, Arc::clone(&it.observer)))
                .collect()
        };
        for (handle, observer) in all {
            let outcome = observer.update(sums);
            self.updated(handle, outcome);
        }
    }

    fn updated(&self, handle: u32, outcome: Result<(), DeliveryError>) {
        let mut registry = self.lock();
        let Some(it) = registry.by_handle.get_mut(&handle) else {
            return;
        };
        it.failures = match outcome {
            Ok(()) => 0,
            Err(DeliveryError::Gone) => self.most_failures,
            Err(_) => it.failures + 1,
        };
        if outcome.is_err() && it.failures >= self.most_failures {
            let removed = registry.by_handle.remove(&handle);
            drop(registry);
            drop(removed);
        }
    }
}

impl std::fmt::Debug for Observers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observers")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl Sums {
    /// The sums of these subscriptions, and of these types and sources of publications.
    #[must_use]
    pub fn of(subscriptions: &[Pattern], published: &[(i32, i32)]) -> Self {
        Self {
            consumers: sum_of(subscriptions),
            suppliers: sum_of_publications(published),
        }
    }
}

/// The sum of subscriptions: their types and sources, each once.
fn sum_of(patterns: &[Pattern]) -> ConsumerQos {
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

/// Collects the types and sources of the events that a pattern needs to match.
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
fn sum_of_publications(published: &[(i32, i32)]) -> SupplierQos {
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
