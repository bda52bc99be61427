// SPDX-License-Identifier: MIT OR Apache-2.0
//! The constraints of a filter object.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use orbium::lock::Mutex;

use crate::event::event_types::{MAX_TYPES, covers, key};
use crate::filter::node_count::NodeCount;
use crate::filter::{Constraint, ConstraintLimits, Subject};
use crate::idl::cos_notification::EventType;
use crate::idl::cos_notify_filter::{ConstraintExp, ConstraintInfo};

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
    /// The counts of the objects that have the filter, once for each attachment. Held while `rules`
    /// is replaced.
    attached: Mutex<Vec<Arc<NodeCount>>>,
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
pub(super) const MAX_RULES: usize = 10_000;
/// Bytes of the constraints of a filter, or of the values of a mapping filter.
pub(crate) const MAX_BYTES: usize = 16 << 20;

impl FilterState {
    /// Constraints with their numbers, and the last number.
    pub(crate) fn with(
        infos: Vec<ConstraintInfo>,
        last: i32,
        limits: &ConstraintLimits,
    ) -> Result<Self, RuleError> {
        let rules = infos.into_iter().map(|info| Rule::parsed(info, limits));
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
        parsed: Vec<ParsedConstraint>,
        limits: &ConstraintLimits,
    ) -> Result<Vec<ConstraintInfo>, RuleError> {
        let mut added = Vec::new();
        self.change(limits.filter_nodes, |rules| {
            for (constraint_expression, constraint) in parsed {
                let info = ConstraintInfo {
                    constraint_expression,
                    constraint_id: self.next.fetch_add(1, Ordering::Relaxed) + 1,
                };
                added.push(info.clone());
                rules.push(Rule::new(info, constraint));
            }
            Ok(())
        })?;
        Ok(added)
    }

    /// The constraints that replace others, parsed. Of several that replace one the last counts.
    pub(crate) fn replacing(
        &self,
        removed: &[i32],
        replaced: &[ConstraintInfo],
        limits: &ConstraintLimits,
    ) -> Result<Vec<Arc<Rule>>, RuleError> {
        let new: BTreeMap<_, _> = replaced.iter().map(|it| (it.constraint_id, it)).collect();
        self.find_all(removed.iter().chain(new.keys()))?;
        let parsed = parse(new.values().map(|it| &it.constraint_expression), limits)?;
        let rules = parsed.into_iter().zip(new.keys());
        let rules = rules.map(|((constraint_expression, constraint), id)| {
            let info = ConstraintInfo {
                constraint_expression,
                constraint_id: *id,
            };
            Rule::new(info, constraint)
        });
        Ok(rules.collect())
    }

    /// Removes constraints, and replaces others by those that [`replacing`](Self::replacing) returns,
    /// all or none.
    pub(crate) fn modify(
        &self,
        removed: &[i32],
        new: Vec<Arc<Rule>>,
        limits: &ConstraintLimits,
    ) -> Result<(), RuleError> {
        let replaced: Vec<_> = new.iter().map(|it| it.info.constraint_id).collect();
        let ids: HashSet<_> = removed.iter().chain(&replaced).copied().collect();
        self.change(limits.filter_nodes, |rules| {
            // Another thread may have removed them since.
            self.find_all(&ids)?;
            rules.retain(|it| !ids.contains(&it.info.constraint_id));
            rules.extend(new);
            rules.sort_by_key(|it| it.info.constraint_id);
            Ok(())
        })
    }

    /// Checks that there are constraints with these numbers.
    fn find_all<'i>(&self, ids: impl IntoIterator<Item = &'i i32>) -> Result<(), RuleError> {
        let rules = self.rules.load();
        let mut unknown = ids.into_iter().filter(|it| find(&rules, **it).is_none());
        unknown
            .next()
            .map_or(Ok(()), |id| Err(RuleError::NotFound(*id)))
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
        let _ = self.change(usize::MAX, |rules| {
            rules.clear();
            Ok(())
        });
    }

    /// Changes the constraints, which may have up to `most` nodes then in the filter, and in each
    /// object that has it.
    fn change(
        &self,
        most: usize,
        change: impl FnOnce(&mut Vec<Arc<Rule>>) -> Result<(), RuleError>,
    ) -> Result<(), RuleError> {
        let attached = self.attached.lock();
        let before = self.rules.load_full();
        let mut rules = Vec::clone(&before);
        change(&mut rules)?;
        check(rules.iter().map(|it| &it.info.constraint_expression))?;
        recount(&attached, (nodes(&before), nodes(&rules)), most)?;
        self.rules.store(Arc::new(rules));
        Ok(())
    }

    /// Adds its nodes to those of an object, unless these are more than `most` then.
    pub(super) fn attach(&self, count: &Arc<NodeCount>, most: usize) -> bool {
        let mut attached = self.attached.lock();
        let is_added = count.add(nodes(&self.rules.load()), most);
        if is_added {
            attached.push(Arc::clone(count));
        }
        is_added
    }

    pub(super) fn detach(&self, count: &Arc<NodeCount>) {
        let mut attached = self.attached.lock();
        if let Some(index) = attached.iter().position(|it| Arc::ptr_eq(it, count)) {
            attached.swap_remove(index);
            count.remove(nodes(&self.rules.load()));
        }
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

/// A constraint before it has its number.
pub(crate) type ParsedConstraint = (ConstraintExp, Constraint);

/// Parses constraints, without the lock of a filter.
pub(crate) fn parse<'e>(
    expressions: impl Iterator<Item = &'e ConstraintExp> + Clone,
    limits: &ConstraintLimits,
) -> Result<Vec<ParsedConstraint>, RuleError> {
    check(expressions.clone())?;
    let mut nodes = 0;
    let parsed = expressions.map(|expression| {
        let constraint = Constraint::parse(&expression.constraint_expr, limits);
        let constraint = constraint.map_err(|_| RuleError::Invalid(expression.clone()))?;
        nodes += constraint.nodes();
        if nodes > limits.filter_nodes {
            return Err(RuleError::TooMany);
        }
        Ok((expression.clone(), constraint))
    });
    parsed.collect()
}

impl Rule {
    fn new(info: ConstraintInfo, constraint: Constraint) -> Arc<Self> {
        Arc::new(Self { info, constraint })
    }

    fn parsed(info: ConstraintInfo, limits: &ConstraintLimits) -> Result<Arc<Self>, RuleError> {
        match Constraint::parse(&info.constraint_expression.constraint_expr, limits) {
            Ok(constraint) => Ok(Self::new(info, constraint)),
            Err(_) => Err(RuleError::Invalid(info.constraint_expression)),
        }
    }
}

/// The nodes of all constraints.
fn nodes(rules: &[Arc<Rule>]) -> usize {
    rules.iter().map(|it| it.constraint.nodes()).sum()
}

/// Counts the nodes of a filter before and after a change, in all objects that have it or in none.
fn recount(
    attached: &[Arc<NodeCount>],
    (before, after): (usize, usize),
    most: usize,
) -> Result<(), RuleError> {
    let Some(added) = after.checked_sub(before).filter(|it| *it > 0) else {
        attached.iter().for_each(|it| it.remove(before - after));
        return Ok(());
    };
    let refusing = attached.iter().position(|it| !it.add(added, most));
    let counted = match refusing {
        None if after <= most => return Ok(()),
        None => attached,
        Some(index) => &attached[..index],
    };
    counted.iter().for_each(|it| it.remove(added));
    Err(RuleError::TooMany)
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
