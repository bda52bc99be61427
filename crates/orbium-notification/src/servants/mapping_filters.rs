// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mapping filters as objects, and their attachment.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use orbium::{Any, Call, SystemException, TypeCode};

use super::common::limit;
use crate::channel::Channel;
use crate::config::NotificationConfig;
use crate::connections::key::Key;
use crate::connections::objects::Objects;
use crate::connections::records::FilterRecord;
use crate::filter::Subject;
use crate::filter::filter_table::FilterTable;
use crate::filter::filters::RuleError;
use crate::filter::mapping::{MappingError, MappingState, Slot};
use crate::idl::cos_notification::{Property, StructuredEvent};
use crate::idl::cos_notify_filter::{
    ConstraintNotFound, ConstraintNotFoundError, InvalidConstraint,
    InvalidConstraintOrInvalidValueError, InvalidValue, MappingConstraintInfo,
    MappingConstraintPair, MappingFilter, MappingFilterMatchResults,
    MappingFilterMatchStructuredResults, MappingFilterMatchTypedResults,
    MappingFilterModifyMappingConstraintsError, MappingFilterServant,
    UnsupportedFilterableDataError,
};

/// Attaches a mapping filter to a proxy or an admin; nil detaches it.
pub(super) fn attach(slot: &Slot, channel: &Channel, filter: Option<&MappingFilter>) {
    let with_state = filter.map(|it| (it, channel.mapping_state(it)));
    slot.set(with_state, channel.config.filter_timeout);
}

#[derive(Clone)]
pub(super) struct MappingFilterObject {
    pub(super) grammar: String,
    pub(super) key: Key,
    pub(super) config: Arc<NotificationConfig>,
    pub(super) objects: Objects,
    pub(super) state: Arc<MappingState>,
    pub(super) table: FilterTable,
}

impl MappingFilterObject {
    pub(super) fn save(&self) -> Result<(), SystemException> {
        let record = || FilterRecord {
            grammar: self.grammar.clone(),
            is_mapping: true,
            default_value: self.state.default.clone(),
            constraints: self.state.all(),
            next_constraint: self.state.filter.last(),
            ..FilterRecord::default()
        };
        let has_ended = || self.state.filter.is_destroyed.load(Ordering::Acquire);
        self.objects.save_unless(self.key, has_ended, record)
    }

    /// Whether a constraint is TRUE, and the value for the event.
    fn mapped(&self, event_type: (&str, &str), subject: Subject<'_>) -> (bool, Any) {
        match self.state.find(event_type, subject) {
            Some(value) => (true, value),
            None => (false, self.state.default.clone()),
        }
    }

    fn mapped_structured(&self, event: &StructuredEvent) -> (bool, Any) {
        let it = &event.header.fixed_header.event_type;
        self.mapped((&it.domain_name, &it.type_name), Subject::Structured(event))
    }
}

fn invalid_value(pair: MappingConstraintPair) -> InvalidValue {
    InvalidValue {
        constr: pair.constraint_expression,
        value: pair.result_to_set,
    }
}

impl MappingFilterServant for MappingFilterObject {
    fn constraint_grammar(&self, _: &Call<'_>) -> Result<String, SystemException> {
        Ok(self.grammar.clone())
    }

    fn value_type(&self, _: &Call<'_>) -> Result<TypeCode, SystemException> {
        Ok(self.state.value_type().clone())
    }

    fn default_value(&self, _: &Call<'_>) -> Result<Any, SystemException> {
        Ok(self.state.default.clone())
    }

    fn add_mapping_constraints(
        &self,
        _: &Call<'_>,
        pair_list: &[MappingConstraintPair],
    ) -> Result<Vec<MappingConstraintInfo>, InvalidConstraintOrInvalidValueError> {
        let added = self.state.add(pair_list, &self.config.constraints);
        let added = added.map_err(|error| match error {
            MappingError::Value(pair) => {
                InvalidConstraintOrInvalidValueError::from(invalid_value(*pair))
            }
            MappingError::Rule(RuleError::Invalid(constr)) => InvalidConstraint { constr }.into(),
            MappingError::Rule(RuleError::NotFound(_) | RuleError::TooMany) => limit().into(),
        })?;
        self.save()?;
        Ok(added)
    }

    fn modify_mapping_constraints(
        &self,
        _: &Call<'_>,
        del_list: &[i32],
        modify_list: &[MappingConstraintInfo],
    ) -> Result<(), MappingFilterModifyMappingConstraintsError> {
        let limits = &self.config.constraints;
        let modified = self.state.modify(del_list, modify_list, limits);
        modified.map_err(|error| match error {
            MappingError::Value(pair) => {
                MappingFilterModifyMappingConstraintsError::from(invalid_value(*pair))
            }
            MappingError::Rule(RuleError::Invalid(constr)) => InvalidConstraint { constr }.into(),
            MappingError::Rule(RuleError::NotFound(id)) => ConstraintNotFound { id }.into(),
            MappingError::Rule(RuleError::TooMany) => limit().into(),
        })?;
        Ok(self.save()?)
    }

    fn get_mapping_constraints(
        &self,
        _: &Call<'_>,
        id_list: &[i32],
    ) -> Result<Vec<MappingConstraintInfo>, ConstraintNotFoundError> {
        self.state.get(id_list).map_err(|error| match error {
            RuleError::NotFound(id) => ConstraintNotFound { id }.into(),
            RuleError::Invalid(_) | RuleError::TooMany => limit().into(),
        })
    }

    fn get_all_mapping_constraints(
        &self,
        _: &Call<'_>,
    ) -> Result<Vec<MappingConstraintInfo>, SystemException> {
        Ok(self.state.all())
    }

    fn remove_all_mapping_constraints(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.state.clear();
        self.save()
    }

    fn destroy(&self, call: &Call<'_>) -> Result<(), SystemException> {
        self.state
            .filter
            .is_destroyed
            .store(true, Ordering::Release);
        // Proxies to which it is attached continue with its default.
        self.state.clear();
        self.table.lock().remove(call.object_id());
        self.objects.forget(self.key);
        // It may have been deactivated already.
        let _ = call.poa().deactivate(call.object_id());
        Ok(())
    }

    fn r#match(
        &self,
        _: &Call<'_>,
        filterable_data: &Any,
    ) -> Result<MappingFilterMatchResults, UnsupportedFilterableDataError> {
        // A structured event in an any is matched as one.
        let (result, result_to_set) = match filterable_data.extract::<StructuredEvent>() {
            Ok(event) => self.mapped_structured(&event),
            Err(_) => self.mapped(("", "%ANY"), Subject::Any(filterable_data)),
        };
        Ok(MappingFilterMatchResults {
            result,
            result_to_set,
        })
    }

    fn match_structured(
        &self,
        _: &Call<'_>,
        filterable_data: &StructuredEvent,
    ) -> Result<MappingFilterMatchStructuredResults, UnsupportedFilterableDataError> {
        let (result, result_to_set) = self.mapped_structured(filterable_data);
        Ok(MappingFilterMatchStructuredResults {
            result,
            result_to_set,
        })
    }

    fn match_typed(
        &self,
        _: &Call<'_>,
        filterable_data: &[Property],
    ) -> Result<MappingFilterMatchTypedResults, UnsupportedFilterableDataError> {
        let subject = Subject::Properties(filterable_data);
        let (result, result_to_set) = self.mapped(("", "%TYPED"), subject);
        Ok(MappingFilterMatchTypedResults {
            result,
            result_to_set,
        })
    }
}
