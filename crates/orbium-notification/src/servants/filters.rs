// SPDX-License-Identifier: MIT OR Apache-2.0
//! Filters as objects, and the factory of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use orbium::lock::{Mutex, MutexGuard};
use orbium::{Any, Call, Interface, Poa, PoaError, SystemException};

use crate::config::NotificationConfig;
use crate::event::updates::{Change, Updates};
use crate::filter::Subject;
use crate::filter::filter_table::{FilterTable, Made};
use crate::filter::filters::{FilterState, RuleError};
use crate::filter::mapping::MappingState;
use crate::idl::cos_notification::{Property, StructuredEvent};
use crate::idl::cos_notify_comm::NotifySubscribe;
use crate::idl::cos_notify_filter::{
    CallbackNotFound, CallbackNotFoundError, ConstraintExp, ConstraintInfo, ConstraintNotFound,
    ConstraintNotFoundError, Filter, FilterFactoryServant, FilterServant, InvalidConstraint,
    InvalidConstraintError, InvalidConstraintOrConstraintNotFoundError, InvalidGrammar,
    InvalidGrammarError, MappingFilter, UnsupportedFilterableDataError,
};
use crate::servants::common::{bad_param, limit};
use crate::servants::mapping_filters::MappingFilterObject;

/// The names of the grammar: that of the specification, those of the Trading Service, and none.
const GRAMMARS: [&str; 4] = ["EXTENDED_TCL", "TCL", "ETCL", ""];
/// Objects that a filter notifies of its changes.
const MAX_CALLBACKS: usize = 1024;

pub(super) struct FilterFactoryObject {
    pub(super) config: Arc<NotificationConfig>,
    pub(super) table: FilterTable,
    pub(super) updates: Updates,
}

impl FilterFactoryObject {
    /// Activates a filter with its state, unless there are too many.
    fn made<I: Interface>(
        &self,
        call: &Call<'_>,
        state: Made,
        activate: impl FnOnce(&Poa) -> Result<I, PoaError>,
    ) -> Result<I, SystemException> {
        let mut table = self.table.lock();
        if table.len() >= self.config.filters {
            return Err(limit());
        }
        let poa = call.poa();
        let filter = activate(&poa)?;
        table.insert(poa.reference_to_id(&filter)?, state);
        Ok(filter)
    }
}

/// Whether it names the grammar that there is.
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
        call: &Call<'_>,
        constraint_grammar: &str,
    ) -> Result<Option<Filter>, InvalidGrammarError> {
        is_grammar(constraint_grammar)?;
        let state = Arc::new(FilterState::default());
        let object = FilterObject {
            grammar: constraint_grammar.to_owned(),
            config: Arc::clone(&self.config),
            state: Arc::clone(&state),
            table: self.table.clone(),
            callbacks: Mutex::default(),
            updates: self.updates.clone(),
        };
        let filter = self.made(call, Made::Filter(state), |poa| poa.activate(object))?;
        Ok(Some(filter))
    }

    fn create_mapping_filter(
        &self,
        call: &Call<'_>,
        constraint_grammar: &str,
        default_value: &Any,
    ) -> Result<Option<MappingFilter>, InvalidGrammarError> {
        is_grammar(constraint_grammar)?;
        let state = Arc::new(MappingState::new(default_value.clone()));
        let object = MappingFilterObject {
            grammar: constraint_grammar.to_owned(),
            config: Arc::clone(&self.config),
            state: Arc::clone(&state),
            table: self.table.clone(),
        };
        let filter = self.made(call, Made::Mapping(state), |poa| poa.activate(object))?;
        Ok(Some(filter))
    }
}

struct FilterObject {
    grammar: String,
    config: Arc<NotificationConfig>,
    state: Arc<FilterState>,
    table: FilterTable,
    callbacks: Mutex<(i32, BTreeMap<i32, NotifySubscribe>)>,
    updates: Updates,
}

impl FilterObject {
    fn callbacks(&self) -> MutexGuard<'_, (i32, BTreeMap<i32, NotifySubscribe>)> {
        self.callbacks.lock()
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
                // It may be gone, or refuse the types.
                self.updates.post(move || {
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
        let limits = &self.config.constraints;
        let added = self.changed(|state| state.add(constraint_list, limits));
        added.map_err(|error| match error {
            RuleError::Invalid(constr) => InvalidConstraint { constr }.into(),
            RuleError::NotFound(_) | RuleError::TooMany => limit().into(),
        })
    }

    fn modify_constraints(
        &self,
        _: &Call<'_>,
        del_list: &[i32],
        modify_list: &[ConstraintInfo],
    ) -> Result<(), InvalidConstraintOrConstraintNotFoundError> {
        let limits = &self.config.constraints;
        let modified = self.changed(|state| state.modify(del_list, modify_list, limits));
        modified.map_err(|error| match error {
            RuleError::Invalid(constr) => InvalidConstraint { constr }.into(),
            RuleError::NotFound(id) => ConstraintNotFound { id }.into(),
            RuleError::TooMany => limit().into(),
        })
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
        Ok(())
    }

    fn destroy(&self, call: &Call<'_>) -> Result<(), SystemException> {
        self.state.is_destroyed.store(true, Ordering::Release);
        self.table.lock().remove(call.object_id());
        // It may have ended already.
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
        let callback = callback.with_timeout(self.config.push_timeout);
        callbacks.1.insert(id, callback);
        Ok(id)
    }

    fn detach_callback(&self, _: &Call<'_>, callback: i32) -> Result<(), CallbackNotFoundError> {
        match self.callbacks().1.remove(&callback) {
            Some(_) => Ok(()),
            None => Err(CallbackNotFound {}.into()),
        }
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
