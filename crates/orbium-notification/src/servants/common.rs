// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common part of the service's objects: properties of quality of service, and filters.

use std::sync::Arc;

use orbium::{Call, ExceptionKind, SystemException};

use crate::channel::Channel;
use crate::filter::filter_group::FilterGroup;
use crate::idl::cos_notification::{
    NamedPropertyRange, Property, QoSAdminServant, UnsupportedQoS, UnsupportedQoSError,
};
use crate::idl::cos_notify_filter::{
    Filter, FilterAdminServant, FilterNotFound, FilterNotFoundError,
};
use crate::qos::{Level, PROXY};

/// An object with properties of quality of service.
pub(super) trait Governed: Send + Sync + 'static {
    fn channel(&self) -> &Arc<Channel>;
    fn level(&self) -> &Level;

    /// Records a change, if connections are persistent.
    ///
    /// # Errors
    /// `PERSIST_STORE`.
    fn save(&self) -> Result<(), SystemException>;
}

/// An object with filters.
pub(super) trait Filtered: Governed {
    fn filters(&self) -> &FilterGroup;
}

pub(super) fn bad_param() -> SystemException {
    ExceptionKind::BadParam.into()
}

/// The exception if the configured maximum is reached.
pub(super) fn limit() -> SystemException {
    ExceptionKind::ImpLimit.into()
}

impl<T: Governed> QoSAdminServant for T {
    fn get_qos(&self, _: &Call<'_>) -> Result<Vec<Property>, SystemException> {
        Ok(self.level().properties())
    }

    fn set_qos(&self, _: &Call<'_>, qos: &[Property]) -> Result<(), UnsupportedQoSError> {
        let set = self.level().set(qos);
        set.map_err(|qos_err| UnsupportedQoS { qos_err })?;
        let channel = self.channel();
        channel.refresh();
        self.save()?;
        if self.level().level != PROXY {
            channel.save_proxies()?;
        }
        Ok(())
    }

    fn validate_qos(
        &self,
        _: &Call<'_>,
        required_qos: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, UnsupportedQoSError> {
        let level = self.level();
        let validated = level.validate(level.level, required_qos);
        Ok(validated.map_err(|qos_err| UnsupportedQoS { qos_err })?)
    }
}

impl<T: Filtered> FilterAdminServant for T {
    fn add_filter(
        &self,
        _: &Call<'_>,
        new_filter: Option<&Filter>,
    ) -> Result<i32, SystemException> {
        let filter = new_filter.ok_or_else(bad_param)?;
        let channel = self.channel();
        let state = channel.filter_state(filter);
        let added = self.filters().add(filter, state, &channel.config);
        let added = added.ok_or_else(limit)?;
        self.save()?;
        Ok(added)
    }

    fn remove_filter(&self, _: &Call<'_>, filter: i32) -> Result<(), FilterNotFoundError> {
        if self.filters().remove(filter) {
            Ok(self.save()?)
        } else {
            Err(FilterNotFound {}.into())
        }
    }

    fn get_filter(&self, _: &Call<'_>, filter: i32) -> Result<Option<Filter>, FilterNotFoundError> {
        match self.filters().get(filter) {
            Some(filter) => Ok(Some(filter)),
            None => Err(FilterNotFound {}.into()),
        }
    }

    fn get_all_filters(&self, _: &Call<'_>) -> Result<Vec<i32>, SystemException> {
        Ok(self.filters().ids())
    }

    fn remove_all_filters(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.filters().clear();
        self.save()
    }
}
