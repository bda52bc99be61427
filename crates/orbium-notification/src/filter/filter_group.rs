// SPDX-License-Identifier: MIT OR Apache-2.0
//! Filters of a proxy or an admin: local ones are evaluated directly, remote ones are called.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use orbium::Interface;

use crate::config::NotificationConfig;
use crate::event::{Body, Event};
use crate::filter::availability::Availability;
use crate::filter::filters::{FilterState, MAX_RULES};
use crate::filter::node_count::NodeCount;
use crate::idl::cos_notify_filter::Filter;

/// An attached filter of an object.
struct Attached {
    id: i32,
    reference: Filter,
    /// `None`: it is in another process.
    state: Option<CountedFilter>,
    availability: Availability,
}

/// A filter of this process, of which an object counts the nodes.
struct CountedFilter {
    state: Arc<FilterState>,
    count: Arc<NodeCount>,
}

impl Drop for CountedFilter {
    fn drop(&mut self) {
        self.state.detach(&self.count);
    }
}

impl Attached {
    fn new(
        (id, filter, state): (i32, &Filter, Option<CountedFilter>),
        timeout: Duration,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            reference: filter.with_timeout(timeout),
            state,
            availability: Availability::default(),
        })
    }

    fn matches(&self, event: &Event) -> bool {
        if let Some(CountedFilter { state, .. }) = &self.state {
            let is_there = !state.is_destroyed.load(Ordering::Acquire);
            return is_there && state.matches(event.event_type(), event.subject());
        }
        let matched = self.availability.call(|| match &event.body {
            Body::Structured(event) => self.reference.match_structured(event),
            Body::Any(any) => self.reference.r#match(any),
        });
        matched.unwrap_or(false)
    }
}

/// The filters of an object, one of which an event has to match.
#[derive(Default)]
pub(crate) struct FilterGroup {
    filters: ArcSwap<Vec<Arc<Attached>>>,
    next: AtomicI32,
    count: Arc<NodeCount>,
}

impl FilterGroup {
    /// Adds a filter, and returns its number; `None` if there are too many, or nodes of their
    /// constraints.
    pub(crate) fn add(
        &self,
        filter: &Filter,
        state: Option<Arc<FilterState>>,
        config: &NotificationConfig,
    ) -> Option<i32> {
        if self.filters.load().len() >= MAX_RULES {
            return None;
        }
        let (timeout, most) = (config.filter_timeout, config.constraints.filter_nodes);
        let state = match state {
            Some(state) => Some(self.counted(state, most)?),
            None => None,
        };
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let attached = Attached::new((id, filter, state), timeout);
        self.filters.rcu(|list| {
            let mut list = Vec::clone(list);
            list.push(Arc::clone(&attached));
            list
        });
        Some(id)
    }

    /// Counts the nodes of a filter, unless they are more than `most` with those of the others.
    fn counted(&self, state: Arc<FilterState>, most: usize) -> Option<CountedFilter> {
        let count = Arc::clone(&self.count);
        let is_counted = state.attach(&count, most);
        is_counted.then(|| CountedFilter { state, count })
    }

    /// The filters with their numbers, and the last number.
    pub(crate) fn attached(&self) -> (Vec<(i32, Filter)>, i32) {
        let filters = self.filters.load();
        let attached = filters.iter().map(|it| (it.id, it.reference.clone()));
        (attached.collect(), self.next.load(Ordering::Relaxed))
    }

    /// Sets the filters with their numbers, and the last number.
    pub(crate) fn restore(
        &self,
        filters: &[(i32, Filter, Option<Arc<FilterState>>)],
        last: i32,
        timeout: Duration,
    ) {
        let attached = filters.iter().map(|(id, filter, state)| {
            let state = state.clone();
            let state = state.and_then(|it| self.counted(it, usize::MAX));
            Attached::new((*id, filter, state), timeout)
        });
        self.filters.store(Arc::new(attached.collect()));
        self.next.store(last, Ordering::Relaxed);
    }

    /// Removes a filter; false if there is none with that number.
    pub(crate) fn remove(&self, id: i32) -> bool {
        let has = |list: &[Arc<Attached>]| list.iter().any(|it| it.id == id);
        let before = self.filters.rcu(|list| {
            let remaining = list.iter().filter(|it| it.id != id).cloned();
            remaining.collect::<Vec<_>>()
        });
        has(&before)
    }

    pub(crate) fn get(&self, id: i32) -> Option<Filter> {
        let filters = self.filters.load();
        filters
            .iter()
            .find(|it| it.id == id)
            .map(|it| it.reference.clone())
    }

    pub(crate) fn ids(&self) -> Vec<i32> {
        self.filters.load().iter().map(|it| it.id).collect()
    }

    pub(crate) fn clear(&self) {
        self.filters.store(Arc::default());
    }

    /// Whether one of the filters is of another process.
    pub(crate) fn has_remote(&self) -> bool {
        self.filters.load().iter().any(|it| it.state.is_none())
    }

    /// Whether an event passes: one of the filters matches, or there is none.
    pub(crate) fn passes(&self, event: &Event) -> bool {
        let filters = self.filters.load();
        filters.is_empty() || filters.iter().any(|it| it.matches(event))
    }
}
