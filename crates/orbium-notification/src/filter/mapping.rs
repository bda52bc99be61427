// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mapping filters: the priority and the lifetime of an event for one consumer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use orbium::lock::Mutex;
use orbium::{Any, Interface, TypeCode};

use crate::event::{Body, Event};
use crate::filter::availability::Availability;
use crate::filter::filters::{FilterState, MAX_BYTES, RuleError, parse};
use crate::filter::{ConstraintLimits, Subject};
use crate::idl::cos_notify_filter::{
    ConstraintInfo, MappingConstraintInfo, MappingConstraintPair, MappingFilter,
};
use crate::qos;

/// The constraints of a mapping filter, and the value of each.
pub(crate) struct MappingState {
    pub(crate) default: Any,
    pub(crate) filter: FilterState,
    values: ArcSwap<BTreeMap<i32, Any>>,
    /// Held while constraints and values change together.
    changing: Mutex<()>,
}

/// Error of changing the constraints of a mapping filter.
pub(crate) enum MappingError {
    Rule(RuleError),
    /// The value has another type than the default.
    Value(Box<MappingConstraintPair>),
}

impl From<RuleError> for MappingError {
    fn from(error: RuleError) -> Self {
        Self::Rule(error)
    }
}

impl MappingState {
    pub(crate) fn new(default: Any) -> Self {
        Self {
            default,
            filter: FilterState::default(),
            values: ArcSwap::default(),
            changing: Mutex::default(),
        }
    }

    /// Constraints with their numbers and values, and the last number.
    pub(crate) fn with(
        default: Any,
        infos: &[MappingConstraintInfo],
        last: i32,
        limits: &ConstraintLimits,
    ) -> Result<Self, RuleError> {
        let rules = infos.iter().map(rule);
        let values = infos.iter().map(|it| (it.constraint_id, it.value.clone()));
        Ok(Self {
            default,
            filter: FilterState::with(rules.collect(), last, limits)?,
            values: ArcSwap::from_pointee(values.collect()),
            changing: Mutex::default(),
        })
    }

    pub(crate) fn value_type(&self) -> &TypeCode {
        self.default.type_code()
    }

    fn check(&self, pair: MappingConstraintPair) -> Result<(), MappingError> {
        if pair.result_to_set.type_code() == self.value_type() {
            Ok(())
        } else {
            Err(MappingError::Value(Box::new(pair)))
        }
    }

    /// Adds all constraints, or none.
    pub(crate) fn add(
        &self,
        pairs: &[MappingConstraintPair],
        limits: &ConstraintLimits,
    ) -> Result<Vec<MappingConstraintInfo>, MappingError> {
        for pair in pairs {
            self.check(pair.clone())?;
        }
        let parsed = parse(pairs.iter().map(|it| &it.constraint_expression), limits)?;
        let _changing = self.changing.lock();
        let new = pairs.iter().map(|it| &it.result_to_set);
        check_values(self.values.load().values().chain(new))?;
        let added = self.filter.add(parsed, limits)?;
        let with_values = added.into_iter().zip(pairs);
        let infos: Vec<_> = with_values
            .map(|(info, pair)| mapped(info, pair.result_to_set.clone()))
            .collect();
        self.change(|values| {
            let new = infos.iter().map(|it| (it.constraint_id, it.value.clone()));
            values.extend(new);
        });
        Ok(infos)
    }

    /// Removes and replaces constraints, all or none.
    pub(crate) fn modify(
        &self,
        removed: &[i32],
        replaced: &[MappingConstraintInfo],
        limits: &ConstraintLimits,
    ) -> Result<(), MappingError> {
        for info in replaced {
            self.check(MappingConstraintPair {
                constraint_expression: info.constraint_expression.clone(),
                result_to_set: info.value.clone(),
            })?;
        }
        let rules: Vec<_> = replaced.iter().map(rule).collect();
        let rules = self.filter.replacing(removed, &rules, limits)?;
        let _changing = self.changing.lock();
        let mut values = BTreeMap::clone(&self.values.load());
        for id in removed {
            values.remove(id);
        }
        let new = replaced.iter();
        values.extend(new.map(|it| (it.constraint_id, it.value.clone())));
        check_values(values.values())?;
        self.filter.modify(removed, rules, limits)?;
        self.values.store(Arc::new(values));
        Ok(())
    }

    pub(crate) fn get(&self, ids: &[i32]) -> Result<Vec<MappingConstraintInfo>, RuleError> {
        Ok(self.with_values(self.filter.get(ids)?))
    }

    pub(crate) fn all(&self) -> Vec<MappingConstraintInfo> {
        self.with_values(self.filter.all())
    }

    pub(crate) fn clear(&self) {
        let _changing = self.changing.lock();
        self.filter.clear();
        self.change(BTreeMap::clear);
    }

    /// The value of the first constraint that is TRUE for an event of that type.
    pub(crate) fn find(&self, event_type: (&str, &str), subject: Subject<'_>) -> Option<Any> {
        let id = self.filter.first_match(event_type, subject)?;
        self.values.load().get(&id).cloned()
    }

    fn with_values(&self, infos: Vec<ConstraintInfo>) -> Vec<MappingConstraintInfo> {
        let values = self.values.load();
        let with_value = infos.into_iter().map(|info| {
            let value = values.get(&info.constraint_id).cloned();
            mapped(info, value.unwrap_or_default())
        });
        with_value.collect()
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<i32, Any>)) {
        let mut values = BTreeMap::clone(&self.values.load());
        change(&mut values);
        self.values.store(Arc::new(values));
    }
}

/// Whether a mapping filter may have these values.
fn check_values<'v>(values: impl Iterator<Item = &'v Any>) -> Result<(), RuleError> {
    let bytes = values.map(|it| it.value_octets().len() + it.type_code().memory_size());
    if bytes.sum::<usize>() > MAX_BYTES {
        return Err(RuleError::TooMany);
    }
    Ok(())
}

/// A constraint without its value.
fn rule(info: &MappingConstraintInfo) -> ConstraintInfo {
    ConstraintInfo {
        constraint_expression: info.constraint_expression.clone(),
        constraint_id: info.constraint_id,
    }
}

fn mapped(info: ConstraintInfo, value: Any) -> MappingConstraintInfo {
    MappingConstraintInfo {
        constraint_expression: info.constraint_expression,
        constraint_id: info.constraint_id,
        value,
    }
}

/// An attached mapping filter of a proxy or an admin.
struct Attached {
    reference: MappingFilter,
    /// `None`: it is in another process.
    state: Option<Arc<MappingState>>,
    availability: Availability,
}

impl Attached {
    /// The value of the first constraint that is TRUE, else the default; `None` if the filter
    /// cannot be called.
    fn value(&self, event: &Event) -> Option<Any> {
        if let Some(state) = &self.state {
            let found = state.find(event.event_type(), event.subject());
            return Some(found.unwrap_or_else(|| state.default.clone()));
        }
        self.availability.call(|| match &event.body {
            Body::Structured(event) => {
                let matched = self.reference.match_structured(event)?;
                Ok(matched.result_to_set)
            }
            Body::Any(any) => Ok(self.reference.r#match(any)?.result_to_set),
        })
    }
}

/// An attachment point of a mapping filter.
#[derive(Default)]
pub(crate) struct Slot(ArcSwapOption<Attached>);

impl Slot {
    pub(crate) fn get(&self) -> Option<MappingFilter> {
        let attached = self.0.load();
        attached.as_ref().map(|it| it.reference.clone())
    }

    /// Attaches a filter, with its state if it is of this process, or detaches it.
    pub(crate) fn set(
        &self,
        filter: Option<(&MappingFilter, Option<Arc<MappingState>>)>,
        timeout: Duration,
    ) {
        let attached = filter.map(|(filter, state)| {
            Arc::new(Attached {
                reference: filter.with_timeout(timeout),
                state,
                availability: Availability::default(),
            })
        });
        self.0.store(attached);
    }

    fn value(&self, event: &Event) -> Option<Any> {
        self.0.load().as_ref()?.value(event)
    }

    fn is_remote(&self) -> bool {
        let attached = self.0.load();
        attached.as_ref().is_some_and(|it| it.state.is_none())
    }
}

/// The mapping filters of a proxy or an admin.
#[derive(Default)]
pub(crate) struct Mappings {
    pub(crate) priority: Slot,
    pub(crate) lifetime: Slot,
}

/// Priority and lifetime of an event for one consumer, in place of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overrides {
    pub(crate) priority: Option<i16>,
    pub(crate) lifetime: Option<Duration>,
}

impl Mappings {
    /// Whether one of the filters is of another process.
    pub(crate) fn have_remote(&self) -> bool {
        self.priority.is_remote() || self.lifetime.is_remote()
    }

    /// The values of a proxy's filters, or of its admin's where it has none. Values of types other
    /// than `short` and `TimeBase::TimeT` are ignored.
    pub(crate) fn overrides(&self, admin: &Self, event: &Event) -> Overrides {
        let of = |own: &Slot, other: &Slot| own.value(event).or_else(|| other.value(event));
        let priority = of(&self.priority, &admin.priority);
        let lifetime = of(&self.lifetime, &admin.lifetime);
        let units = lifetime.and_then(|it| it.extract::<u64>().ok());
        Overrides {
            priority: priority.and_then(|it| it.extract::<i16>().ok()),
            lifetime: units.map(|it| qos::duration(i64::try_from(it).unwrap_or(i64::MAX))),
        }
    }
}
