// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proxies of pull consumers.

use std::sync::Arc;

use orbium::{Call, Interface, SystemException};

use super::common::{Filtered, Governed, bad_param};
use super::proxy_suppliers::{IsSupplied, Supplied, proxies};
use crate::channel::Channel;
use crate::consumer::sink::structured;
use crate::event::Event;
use crate::filter::filter_group::FilterGroup;
use crate::idl::cos_event_channel_admin as cos_admin;
use crate::idl::cos_event_comm as cos;
use crate::idl::cos_notification::StructuredEvent;
use crate::idl::cos_notify_channel_admin::{
    AlreadyConnectedError, ProxyPullSupplierServant, SequenceProxyPullSupplierServant,
    StructuredProxyPullSupplierServant,
};
use crate::idl::cos_notify_comm as notify;
use crate::qos::Level;

proxies!(PullAny, PullStructured, PullSequence);

impl notify::PullSupplierServant for PullAny {}

macro_rules! pull_proxy {
    ($proxy:ident, $servant:ident, $connect:ident, $consumer:ty) => {
        impl $servant for $proxy {
            fn $connect(
                &self,
                _: &Call<'_>,
                pull_consumer: Option<&$consumer>,
            ) -> Result<(), AlreadyConnectedError> {
                if self.0.connect(pull_consumer.map(Interface::as_object))? {
                    Ok(())
                } else {
                    Err(cos_admin::AlreadyConnected {}.into())
                }
            }
        }
    };
}

pull_proxy!(
    PullAny,
    ProxyPullSupplierServant,
    connect_any_pull_consumer,
    cos::PullConsumer
);
pull_proxy!(
    PullStructured,
    StructuredProxyPullSupplierServant,
    connect_structured_pull_consumer,
    notify::StructuredPullConsumer
);
pull_proxy!(
    PullSequence,
    SequenceProxyPullSupplierServant,
    connect_sequence_pull_consumer,
    notify::SequencePullConsumer
);

impl cos::PullSupplierServant for PullAny {
    fn pull(&self, call: &Call<'_>) -> Result<orbium::Any, cos::DisconnectedError> {
        Ok(first(self.0.pull(call, 1, any_of)?))
    }

    fn try_pull(
        &self,
        call: &Call<'_>,
    ) -> Result<cos::PullSupplierTryPullResults, cos::DisconnectedError> {
        let events = self.0.try_pull(call, 1, any_of)?;
        Ok(cos::PullSupplierTryPullResults {
            has_event: !events.is_empty(),
            result: first(events),
        })
    }

    fn disconnect_pull_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}

pub(super) fn any_of(event: &Event, _: u64) -> Result<orbium::Any, SystemException> {
    Ok(event.any()?.into_owned())
}

// The conversions of all forms of events can fail.
fn structured_of(event: &Event, dropped: u64) -> Result<StructuredEvent, SystemException> {
    Ok(structured(event, dropped).into_owned())
}

/// The first event, or an empty one.
pub(super) fn first<T: Default>(events: Vec<T>) -> T {
    events.into_iter().next().unwrap_or_default()
}

impl notify::StructuredPullSupplierServant for PullStructured {
    fn pull_structured_event(
        &self,
        call: &Call<'_>,
    ) -> Result<StructuredEvent, notify::DisconnectedError> {
        Ok(first(self.0.pull(call, 1, structured_of)?))
    }

    fn try_pull_structured_event(
        &self,
        call: &Call<'_>,
    ) -> Result<
        notify::StructuredPullSupplierTryPullStructuredEventResults,
        notify::DisconnectedError,
    > {
        let events = self.0.try_pull(call, 1, structured_of)?;
        Ok(
            notify::StructuredPullSupplierTryPullStructuredEventResults {
                has_event: !events.is_empty(),
                result: first(events),
            },
        )
    }

    fn disconnect_structured_pull_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}

/// The number of events of a request, which must be at least one.
fn batch(max_number: i32) -> Result<usize, SystemException> {
    usize::try_from(max_number)
        .ok()
        .filter(|it| *it > 0)
        .ok_or_else(bad_param)
}

impl notify::SequencePullSupplierServant for PullSequence {
    fn pull_structured_events(
        &self,
        call: &Call<'_>,
        max_number: i32,
    ) -> Result<Vec<StructuredEvent>, notify::DisconnectedError> {
        Ok(self.0.pull(call, batch(max_number)?, structured_of)?)
    }

    fn try_pull_structured_events(
        &self,
        call: &Call<'_>,
        max_number: i32,
    ) -> Result<notify::SequencePullSupplierTryPullStructuredEventsResults, notify::DisconnectedError>
    {
        let events = self.0.try_pull(call, batch(max_number)?, structured_of)?;
        Ok(notify::SequencePullSupplierTryPullStructuredEventsResults {
            has_event: !events.is_empty(),
            result: events,
        })
    }

    fn disconnect_sequence_pull_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}
