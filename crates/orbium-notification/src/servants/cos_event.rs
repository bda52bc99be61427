// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proxies of COS Event's own interfaces, for clients that do not know the Notification Service.

use orbium::{Any, Call, Interface, SystemException};

use super::common::bad_param;
use super::proxy_consumers::Consumed;
use super::proxy_suppliers::Supplied;
use super::pull_suppliers::{any_of, first};
use crate::event::Body;
use crate::idl::cos_event_channel_admin::{
    AlreadyConnected, AlreadyConnectedError, AlreadyConnectedOrTypeErrorError,
    ProxyPullSupplierServant, ProxyPushConsumerServant, ProxyPushSupplierServant,
};
use crate::idl::cos_event_comm as cos;

pub(super) struct PushSupplier(pub(super) Supplied);

impl ProxyPushSupplierServant for PushSupplier {
    fn connect_push_consumer(
        &self,
        _: &Call<'_>,
        push_consumer: Option<&cos::PushConsumer>,
    ) -> Result<(), AlreadyConnectedOrTypeErrorError> {
        let consumer = push_consumer.ok_or_else(bad_param)?;
        if self.0.connect(Some(consumer.as_object()))? {
            Ok(())
        } else {
            Err(AlreadyConnected {}.into())
        }
    }
}

impl cos::PushSupplierServant for PushSupplier {
    fn disconnect_push_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}

pub(super) struct PullSupplier(pub(super) Supplied);

impl ProxyPullSupplierServant for PullSupplier {
    fn connect_pull_consumer(
        &self,
        _: &Call<'_>,
        pull_consumer: Option<&cos::PullConsumer>,
    ) -> Result<(), AlreadyConnectedError> {
        if self.0.connect(pull_consumer.map(Interface::as_object))? {
            Ok(())
        } else {
            Err(AlreadyConnected {}.into())
        }
    }
}

impl cos::PullSupplierServant for PullSupplier {
    fn pull(&self, call: &Call<'_>) -> Result<Any, cos::DisconnectedError> {
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

pub(super) struct PushConsumer(pub(super) Consumed);

impl ProxyPushConsumerServant for PushConsumer {
    fn connect_push_supplier(
        &self,
        _: &Call<'_>,
        push_supplier: Option<&cos::PushSupplier>,
    ) -> Result<(), AlreadyConnectedError> {
        if self.0.connect(push_supplier.map(Interface::as_object))? {
            Ok(())
        } else {
            Err(AlreadyConnected {}.into())
        }
    }
}

impl cos::PushConsumerServant for PushConsumer {
    fn push(&self, _: &Call<'_>, data: &Any) -> Result<(), cos::DisconnectedError> {
        if self.0.publish(|| Body::Any(data.clone()))? {
            Ok(())
        } else {
            Err(cos::Disconnected {}.into())
        }
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}
