// SPDX-License-Identifier: MIT OR Apache-2.0
//! Filters as objects, and their factory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use orbium::lock::{Mutex, MutexGuard};
use orbium::{Any, Call, Interface, ObjectRef, SystemException, poa::PoaError};

use crate::config::NotificationConfig;
use crate::connections::key::{Key, Kind};
use crate::connections::objects::Objects;
use crate::connections::records::{Attached, FilterRecord};
use crate::connections::settings::reference;
use crate::event::updates::{Change, Updates};
use crate::filter::Subject;
use crate::filter::filter_table::{FilterTable, Made};
use crate::filter::filters::{FilterState, RuleError, parse};
use crate::filter::mapping::MappingState;
use crate::idl::cos_notification::{Property, StructuredEvent};
use crate::idl::cos_notify_comm::NotifySubscribe;
use crate::idl::cos_notify_filter::{
    CallbackNotFound, CallbackNotFoundError, ConstraintExp, ConstraintInfo, ConstraintNotFound,
    ConstraintNotFoundError, Filter, FilterFactoryServant, FilterServant, InvalidConstraint,
    InvalidConstraintError, InvalidConstraintOrConstraintNotFoundError, InvalidGrammar,
    InvalidGrammarError, MappingConstraintInfo, MappingFilter, UnsupportedFilterableDataError,
};
use crate::servants::common::{bad_param, limit};
use crate::servants::mapping_filters::MappingFilterObject;

/// The names of the grammar: that of the specification, those of the Trading Service, and none.
const GRAMMARS: [&str; 4] = ["EXTENDED_TCL", "TCL", "ETCL", ""];
/// Maximum number of objects that a filter notifies of its changes.
const MAX_CALLBACKS: usize = 1024;

#[derive(Clone)]
pub(super) struct FilterFactoryObject {
    pub(super) config: Arc<NotificationConfig>,
    pub(super) objects: Objects,
    pub(super) table: FilterTable,
    pub(super) updates: Updates,
}

impl FilterFactoryObject {
    /// A key for one more filter, unless there are too many.
    fn next(&self) -> Result<Key, SystemException> {
        if self.table.lock().len() >= self.config.filters {
            return Err(limit());
        }
        Ok(filter_key(self.objects.next_filter()?))
    }

    /// Creates a filter with constraints, and its object.
    pub(super) fn serve_filter(
        &self,
        key: Key,
        grammar: &str,
        state: FilterState,
    ) -> Result<(FilterObject, Filter), PoaError> {
        let object = FilterObject {
            grammar: grammar.to_owned(),
            key,
            factory: self.clone(),
            state: Arc::new(state),
            callbacks: Arc::default(),
        };
        let filter: Filter = self.objects.activate(key, object.clone())?;
        self.enter(&filter, Made::Filter(Arc::clone(&object.state)));
        Ok((object, filter))
    }

    /// Creates a mapping filter with constraints, and its object.
    pub(super) fn serve_mapping_filter(
        &self,
        key: Key,
        grammar: &str,
        state: MappingState,
    ) -> Result<(MappingFilterObject, MappingFilter), PoaError> {
        let object = MappingFilterObject {
            grammar: grammar.to_owned(),
            key,
            config: Arc::clone(&self.config),
            objects: self.objects.clone(),
            state: Arc::new(state),
            table: self.table.clone(),
        };
        let filter: MappingFilter = self.objects.activate(key, object.clone())?;
        self.enter(&filter, Made::Mapping(Arc::clone(&object.state)));
        Ok((object, filter))
    }

    /// Enters the state of a filter of this service by its id, for proxies.
    fn enter(&self, filter: &impl Interface, state: Made) {
        if let Some(id) = self.objects.id_of(filter) {
            self.table.lock().insert(id, state);
        }
    }
}

pub(super) fn filter_key(id: i32) -> Key {
    Key::new(Kind::Filter, 0, id)
}

/// Whether the name is that of the supported grammar.
fn is_grammar(name: &str) -> Result<(), InvalidGrammarError> {
    if GRAMMARS.contains(&name) {
        Ok(())
    } else {
        Err(InvalidGrammar {}.into())
    }
}

impl FilterFactoryServant for FilterFactoryObject {
    fn create_filter(
        &self,
        _: &Call<'_>,
        constraint_grammar: &str,
    ) -> Result<Option<Filter>, InvalidGrammarError> {
        is_grammar(constraint_grammar)?;
        let (key, state) = (self.next()?, FilterState::default());
        let made = self.serve_filter(key, constraint_grammar, state);
        let (object, filter) = made.map_err(SystemException::from)?;
        object.save()?;
        Ok(Some(filter))
    }

    fn create_mapping_filter(
        &self,
        _: &Call<'_>,
        constraint_grammar: &str,
        default_value: &Any,
    ) -> Result<Option<MappingFilter>, InvalidGrammarError> {
        is_grammar(constraint_grammar)?;
        let (key, state) = (self.next()?, MappingState::new(default_value.clone()));
        let made = self.serve_mapping_filter(key, constraint_grammar, state);
        let (object, filter) = made.map_err(SystemException::from)?;
        object.save()?;
        Ok(Some(filter))
    }
}

/// The number of the last callback, and all by their numbers.
type Callbacks = (i32, BTreeMap<i32, NotifySubscribe>);

#[derive(Clone)]
pub(super) struct FilterObject {
    grammar: String,
    key: Key,
    factory: FilterFactoryObject,
    state: Arc<FilterState>,
    callbacks: Arc<Mutex<Callbacks>>,
}

impl FilterObject {
    fn callbacks(&self) -> MutexGuard<'_, Callbacks> {
        self.callbacks.lock()
    }

    /// Sets the callbacks with their numbers, and the number of the last one.
    pub(super) fn set_callbacks(&self, all: Vec<(i32, ObjectRef)>, last: i32) {
        let timeout = self.factory.config.push_timeout;
        let peer = |it: ObjectRef| NotifySubscribe::from_object(it).with_timeout(timeout);
        let all = all.into_iter().map(|(id, it)| (id, peer(it)));
        *self.callbacks() = (last, all.collect());
    }

    fn save(&self) -> Result<(), SystemException> {
        let record = || {
            let callbacks = self.callbacks();
            let attached = callbacks.1.iter().map(|(id, it)| Attached {
                id: *id,
                reference: reference(it.as_object()),
            });
            let constraints = self
                .state
                .all()
                .into_iter()
                .map(|it| MappingConstraintInfo {
                    constraint_expression: it.constraint_expression,
                    constraint_id: it.constraint_id,
                    value: Any::default(),
                });
            FilterRecord {
                grammar: self.grammar.clone(),
                is_mapping: false,
                default_value: Any::default(),
                constraints: constraints.collect(),
                next_constraint: self.state.last(),
                callbacks: attached.collect(),
                next_callback: callbacks.0,
            }
        };
        let has_ended = || self.state.is_destroyed.load(Ordering::Acquire);
        let objects = &self.factory.objects;
        objects.save_unless(self.key, has_ended, record)
    }

    /// Changes constraints, and notifies the callbacks if that changes their types of events.
    fn changed<T>(&self, change: impl FnOnce(&FilterState) -> T) -> T {
        if self.callbacks().1.is_empty() {
            return change(&self.state);
        }
        let before = self.state.event_types();
        let result = change(&self.state);
        if let Some(change) = Change::between(&before, &self.state.event_types()) {
            for callback in self.callbacks().1.values() {
                let (callback, change) = (callback.clone(), change.clone());
                // It may not exist any more, or refuse the types.
                self.factory.updates.post(move || {
                    drop(callback.subscription_change(&change.added, &change.removed));
                });
            }
        }
        result
    }
}

impl FilterServant for FilterObject {
    fn constraint_grammar(&self, _: &Call<'_>) -> Result<String, SystemException> {
        Ok(self.grammar.clone())
    }

    fn add_constraints(
        &self,
        _: &Call<'_>,
        constraint_list: &[ConstraintExp],
    ) -> Result<Vec<ConstraintInfo>, InvalidConstraintError> {
        let limits = &self.factory.config.constraints;
        let parsed = parse(constraint_list.iter(), limits);
        let added = parsed.and_then(|parsed| self.changed(|state| state.add(parsed, limits)));
        let added = added.map_err(|error| match error {
            RuleError::Invalid(constr) => {
                InvalidConstraintError::from(InvalidConstraint { constr })
            }
            RuleError::NotFound(_) | RuleError::TooMany => limit().into(),
        })?;
        self.save()?;
        Ok(added)
    }

    fn modify_constraints(
        &self,
        _: &Call<'_>,
        del_list: &[i32],
        modify_list: &[ConstraintInfo],
    ) -> Result<(), InvalidConstraintOrConstraintNotFoundError> {
        let limits = &self.factory.config.constraints;
        let new = self.state.replacing(del_list, modify_list, limits);
        let modified =
            new.and_then(|new| self.changed(|state| state.modify(del_list, new, limits)));
        modified.map_err(|error| match error {
            RuleError::Invalid(constr) => {
                InvalidConstraintOrConstraintNotFoundError::from(InvalidConstraint { constr })
            }
            RuleError::NotFound(id) => ConstraintNotFound { id }.into(),
            RuleError::TooMany => limit().into(),
        })?;
        Ok(self.save()?)
    }

    fn get_constraints(
        &self,
        _: &Call<'_>,
        id_list: &[i32],
    ) -> Result<Vec<ConstraintInfo>, ConstraintNotFoundError> {
        self.state.get(id_list).map_err(|error| match error {
            RuleError::NotFound(id) => ConstraintNotFound { id }.into(),
            RuleError::Invalid(_) | RuleError::TooMany => limit().into(),
        })
    }

    fn get_all_constraints(&self, _: &Call<'_>) -> Result<Vec<ConstraintInfo>, SystemException> {
        Ok(self.state.all())
    }

    fn remove_all_constraints(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.changed(FilterState::clear);
        self.save()
    }

    fn destroy(&self, call: &Call<'_>) -> Result<(), SystemException> {
        self.state.is_destroyed.store(true, Ordering::Release);
        self.factory.table.lock().remove(call.object_id());
        self.factory.objects.forget(self.key);
        // It may have been deactivated already.
        let _ = call.poa().deactivate(call.object_id());
        Ok(())
    }

    fn r#match(
        &self,
        _: &Call<'_>,
        filterable_data: &Any,
    ) -> Result<bool, UnsupportedFilterableDataError> {
        // A structured event in an any is matched as one.
        let event = filterable_data.extract::<StructuredEvent>().ok();
        Ok(match &event {
            Some(event) => self.matches_structured(event),
            None => self
                .state
                .matches(("", "%ANY"), Subject::Any(filterable_data)),
        })
    }

    fn match_structured(
        &self,
        _: &Call<'_>,
        filterable_data: &StructuredEvent,
    ) -> Result<bool, UnsupportedFilterableDataError> {
        Ok(self.matches_structured(filterable_data))
    }

    fn match_typed(
        &self,
        _: &Call<'_>,
        filterable_data: &[Property],
    ) -> Result<bool, UnsupportedFilterableDataError> {
        Ok(self
            .state
            .matches(("", "%TYPED"), Subject::Properties(filterable_data)))
    }

    fn attach_callback(
        &self,
        _: &Call<'_>,
        callback: Option<&NotifySubscribe>,
    ) -> Result<i32, SystemException> {
        let callback = callback.ok_or_else(bad_param)?;
        let mut callbacks = self.callbacks();
        if callbacks.1.len() >= MAX_CALLBACKS {
            return Err(limit());
        }
        callbacks.0 += 1;
        let id = callbacks.0;
        let callback = callback.with_timeout(self.factory.config.push_timeout);
        callbacks.1.insert(id, callback);
        drop(callbacks);
        self.save()?;
        Ok(id)
    }

    fn detach_callback(&self, _: &Call<'_>, callback: i32) -> Result<(), CallbackNotFoundError> {
        let removed = self.callbacks().1.remove(&callback);
        removed.ok_or(CallbackNotFound {})?;
        Ok(self.save()?)
    }

    fn get_callbacks(&self, _: &Call<'_>) -> Result<Vec<i32>, SystemException> {
        Ok(self.callbacks().1.keys().copied().collect())
    }
}

impl FilterObject {
    fn matches_structured(&self, event: &StructuredEvent) -> bool {
        let it = &event.header.fixed_header.event_type;
        self.state
            .matches((&it.domain_name, &it.type_name), Subject::Structured(event))
    }
}
