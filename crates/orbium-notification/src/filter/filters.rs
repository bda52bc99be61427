// SPDX-License-Identifier: MIT OR Apache-2.0
//! Filters of a proxy or an admin: local ones are evaluated directly, remote ones are called.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use orbium::Interface;
use orbium::lock::Mutex;

use crate::event::event_types::{MAX_TYPES, covers, key};
use crate::event::{Body, Event};
use crate::filter::availability::Availability;
use crate::filter::{Constraint, ConstraintLimits, Subject};
use crate::idl::cos_notification::EventType;
use crate::idl::cos_notify_filter::{ConstraintExp, ConstraintInfo, Filter};

/// One constraint of a filter.
pub(crate) struct Rule {
    info: ConstraintInfo,
    constraint: Constraint,
}

/// The constraints of a filter object.
#[derive(Default)]
pub(crate) struct FilterState {
    /// In the order of their numbers.
    rules: ArcSwap<Vec<Arc<Rule>>>,
    /// Held while `rules` is replaced.
    changing: Mutex<()>,
    next: AtomicI32,
    failed: AtomicU64,
    pub(crate) is_destroyed: AtomicBool,
}

/// Error of changing constraints.
pub(crate) enum RuleError {
    Invalid(ConstraintExp),
    NotFound(i32),
    TooMany,
}

/// Maximum number of constraints of a filter, and of filters of an object.
const MAX_RULES: usize = 10_000;
/// Bytes of the constraints of a filter, or of the values of a mapping filter.
pub(crate) const MAX_BYTES: usize = 16 << 20;

impl FilterState {
    /// Constraints with their numbers, and the last number.
    pub(crate) fn with(
        infos: Vec<ConstraintInfo>,
        last: i32,
        limits: &ConstraintLimits,
    ) -> Result<Self, RuleError> {
        let rules = infos.into_iter().map(|info| Rule::new(info, limits));
        let mut rules = rules.collect::<Result<Vec<_>, _>>()?;
        rules.sort_by_key(|it| it.info.constraint_id);
        Ok(Self {
            rules: ArcSwap::from_pointee(rules),
            next: AtomicI32::new(last),
            ..Self::default()
        })
    }

    /// The state of a destroyed filter.
    pub(crate) fn destroyed() -> Self {
        Self {
            is_destroyed: AtomicBool::new(true),
            ..Self::default()
        }
    }

    /// The number of the last added constraint.
    pub(crate) fn last(&self) -> i32 {
        self.next.load(Ordering::Relaxed)
    }

    /// Adds all constraints, or none.
    pub(crate) fn add(
        &self,
        list: &[ConstraintExp],
        limits: &ConstraintLimits,
    ) -> Result<Vec<ConstraintInfo>, RuleError> {
        check(list)?;
        let mut added = Vec::new();
        self.change(|rules| {
            for expression in list {
                let info = ConstraintInfo {
                    constraint_expression: expression.clone(),
                    constraint_id: self.next.fetch_add(1, Ordering::Relaxed) + 1,
                };
                added.push(info.clone());
                rules.push(Rule::new(info, limits)?);
            }
            Ok(())
        })?;
        Ok(added)
    }

    /// Removes and replaces constraints, all or none. Of several that replace one the last counts.
    pub(crate) fn modify(
        &self,
        removed: &[i32],
        replaced: &[ConstraintInfo],
        limits: &ConstraintLimits,
    ) -> Result<(), RuleError> {
        let new: BTreeMap<_, _> = replaced.iter().map(|it| (it.constraint_id, it)).collect();
        check(new.values().map(|it| &it.constraint_expression))?;
        let ids = removed.iter().chain(new.keys());
        let ids: HashSet<_> = ids.copied().collect();
        self.change(|rules| {
            let before = rules.len();
            rules.retain(|it| !ids.contains(&it.info.constraint_id));
            if before - rules.len() < ids.len() {
                let all = self.rules.load();
                let unknown = removed.iter().chain(new.keys());
                let mut unknown = unknown.filter(|it| find(&all, **it).is_none());
                return Err(RuleError::NotFound(unknown.next().copied().unwrap_or(0)));
            }
            for info in new.values() {
                rules.push(Rule::new((*info).clone(), limits)?);
            }
            rules.sort_by_key(|it| it.info.constraint_id);
            Ok(())
        })
    }

    /// The constraints with these numbers, each once, however often its number is in the list.
    pub(crate) fn get(&self, ids: &[i32]) -> Result<Vec<ConstraintInfo>, RuleError> {
        let rules = self.rules.load();
        let mut met = HashSet::new();
        let found = ids.iter().filter(|id| met.insert(**id)).map(|id| {
            let rule = find(&rules, *id).ok_or(RuleError::NotFound(*id))?;
            Ok(rule.info.clone())
        });
        found.collect()
    }

    pub(crate) fn all(&self) -> Vec<ConstraintInfo> {
        self.rules.load().iter().map(|it| it.info.clone()).collect()
    }

    /// The types of events of all constraints, each once.
    pub(crate) fn event_types(&self) -> Vec<EventType> {
        let rules = self.rules.load();
        let all = rules.iter();
        let all = all.flat_map(|it| &it.info.constraint_expression.event_types);
        let mut met = HashSet::new();
        all.filter(|it| met.insert(key(it))).cloned().collect()
    }

    pub(crate) fn clear(&self) {
        // An empty list of rules exceeds no limit.
        let _ = self.change(|rules| {
            rules.clear();
            Ok(())
        });
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Vec<Arc<Rule>>) -> Result<(), RuleError>,
    ) -> Result<(), RuleError> {
        let _changing = self.changing.lock();
        let mut rules = Vec::clone(&self.rules.load());
        change(&mut rules)?;
        check(rules.iter().map(|it| &it.info.constraint_expression))?;
        self.rules.store(Arc::new(rules));
        Ok(())
    }

    /// Whether one of the constraints is TRUE for an event of that type.
    pub(crate) fn matches(&self, event_type: (&str, &str), subject: Subject<'_>) -> bool {
        self.first_match(event_type, subject).is_some()
    }

    /// The first constraint that is TRUE for an event of that type.
    pub(crate) fn first_match(
        &self,
        event_type: (&str, &str),
        subject: Subject<'_>,
    ) -> Option<i32> {
        let rules = self.rules.load();
        let found = rules.iter().find(|rule| {
            let types = &rule.info.constraint_expression.event_types;
            let is_of_type = types.is_empty()
                || types
                    .iter()
                    .any(|it| covers(it, event_type.0, event_type.1));
            is_of_type && self.is_true(&rule.constraint, subject)
        });
        found.map(|it| it.info.constraint_id)
    }

    fn is_true(&self, constraint: &Constraint, subject: Subject<'_>) -> bool {
        let value = constraint.evaluate(subject);
        if value.is_none() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        value == Some(true)
    }
}

impl Rule {
    fn new(info: ConstraintInfo, limits: &ConstraintLimits) -> Result<Arc<Self>, RuleError> {
        match Constraint::parse(&info.constraint_expression.constraint_expr, limits) {
            Ok(constraint) => Ok(Arc::new(Self { info, constraint })),
            Err(_) => Err(RuleError::Invalid(info.constraint_expression)),
        }
    }
}

fn find(rules: &[Arc<Rule>], id: i32) -> Option<&Rule> {
    let index = rules.binary_search_by_key(&id, |it| it.info.constraint_id);
    index.ok().map(|it| &*rules[it])
}

/// Whether a filter may have these constraints.
fn check<'e>(expressions: impl IntoIterator<Item = &'e ConstraintExp>) -> Result<(), RuleError> {
    let (mut count, mut bytes) = (0, 0);
    for it in expressions {
        let types = it.event_types.iter();
        let names = types.map(|it| it.domain_name.len() + it.type_name.len());
        count += 1;
        bytes += it.constraint_expr.len() + names.sum::<usize>();
        bytes += size_of_val(&it.event_types[..]);
        if count > MAX_RULES || bytes > MAX_BYTES || it.event_types.len() > MAX_TYPES {
            return Err(RuleError::TooMany);
        }
    }
    Ok(())
}

/// An attached filter of an object.
struct Attached {
    id: i32,
    reference: Filter,
    /// `None`: it is in another process.
    state: Option<Arc<FilterState>>,
    availability: Availability,
}

impl Attached {
    fn new(
        (id, filter, state): (i32, &Filter, Option<Arc<FilterState>>),
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
        if let Some(state) = &self.state {
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
}

impl FilterGroup {
    /// Adds a filter, and returns its number; `None` if there are too many.
    pub(crate) fn add(
        &self,
        filter: &Filter,
        state: Option<Arc<FilterState>>,
        timeout: Duration,
    ) -> Option<i32> {
        if self.filters.load().len() >= MAX_RULES {
            return None;
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let attached = Attached::new((id, filter, state), timeout);
        self.filters.rcu(|list| {
            let mut list = Vec::clone(list);
            list.push(Arc::clone(&attached));
            list
        });
        Some(id)
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
        let attached = filters
            .iter()
            .map(|(id, filter, state)| Attached::new((*id, filter, state.clone()), timeout));
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
