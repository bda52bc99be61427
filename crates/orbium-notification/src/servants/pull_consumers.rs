// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proxies that pull from suppliers.

use std::sync::Arc;

use orbium::{Call, Interface, SystemException};

use super::common::{Filtered, Governed, bad_param};
use super::proxy_consumers::{Consumed, IsConsumed};
use crate::channel::Channel;
use crate::consumer::SuspendError;
use crate::filter::filter_group::FilterGroup;
use crate::idl::cos_event_channel_admin as cos_admin;
use crate::idl::cos_event_comm as cos;
use crate::idl::cos_notify_channel_admin::{
    AlreadyConnectedOrTypeErrorError, ConnectionAlreadyActive,
    ConnectionAlreadyActiveOrNotConnectedError, ConnectionAlreadyInactive,
    ConnectionAlreadyInactiveOrNotConnectedError, NotConnected, ProxyPullConsumerServant,
    SequenceProxyPullConsumerServant, StructuredProxyPullConsumerServant,
};
use crate::idl::cos_notify_comm as notify;
use crate::qos::Level;

impl Consumed {
    pub(super) fn suspend(&self, suspended: bool) -> Result<(), SuspendError> {
        if self.producer.is_connected() {
            match self.producer.pulling.suspend(suspended) {
                Some(true) => self.save().map_err(SuspendError::System),
                Some(false) => Err(SuspendError::Already),
                None => Err(SuspendError::NotConnected),
            }
        } else {
            Err(SuspendError::NotConnected)
        }
    }
}

macro_rules! pulling_proxies {
    ($($proxy:ident, $servant:path, $connect:ident, $supplier:ty;)*) => {
        $(
            pub(super) struct $proxy(pub(super) Consumed);

            impl Governed for $proxy {
                fn channel(&self) -> &Arc<Channel> {
                    &self.0.channel
                }

                fn level(&self) -> &Level {
                    &self.0.producer.level
                }

                fn save(&self) -> Result<(), SystemException> {
                    self.0.save()
                }
            }

            impl Filtered for $proxy {
                fn filters(&self) -> &FilterGroup {
                    &self.0.producer.filters
                }
            }

            impl IsConsumed for $proxy {
                fn consumed(&self) -> &Consumed {
                    &self.0
                }
            }

            impl $servant for $proxy {
                fn $connect(
                    &self,
                    _: &Call<'_>,
                    pull_supplier: Option<&$supplier>,
                ) -> Result<(), AlreadyConnectedOrTypeErrorError> {
                    let supplier = pull_supplier.ok_or_else(bad_param)?;
                    if self.0.connect(Some(supplier.as_object()))? {
                        Ok(())
                    } else {
                        Err(cos_admin::AlreadyConnected {}.into())
                    }
                }

                fn suspend_connection(
                    &self,
                    _: &Call<'_>,
                ) -> Result<(), ConnectionAlreadyInactiveOrNotConnectedError> {
                    self.0.suspend(true).map_err(|error| match error {
                        SuspendError::Already => ConnectionAlreadyInactive {}.into(),
                        SuspendError::NotConnected => NotConnected {}.into(),
                        SuspendError::System(exception) => exception.into(),
                    })
                }

                fn resume_connection(
                    &self,
                    _: &Call<'_>,
                ) -> Result<(), ConnectionAlreadyActiveOrNotConnectedError> {
                    self.0.suspend(false).map_err(|error| match error {
                        SuspendError::Already => ConnectionAlreadyActive {}.into(),
                        SuspendError::NotConnected => NotConnected {}.into(),
                        SuspendError::System(exception) => exception.into(),
                    })
                }
            }
        )*
    };
}

pulling_proxies! {
    PullAny, ProxyPullConsumerServant, connect_any_pull_supplier, cos::PullSupplier;
    PullStructured, StructuredProxyPullConsumerServant, connect_structured_pull_supplier,
        notify::StructuredPullSupplier;
    PullSequence, SequenceProxyPullConsumerServant, connect_sequence_pull_supplier,
        notify::SequencePullSupplier;
}

impl notify::PullConsumerServant for PullAny {}

impl cos::PullConsumerServant for PullAny {
    fn disconnect_pull_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}

impl notify::StructuredPullConsumerServant for PullStructured {
    fn disconnect_structured_pull_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}

impl notify::SequencePullConsumerServant for PullSequence {
    fn disconnect_sequence_pull_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}

/// The proxy with COS Event's interface.
pub(super) struct CosPull(pub(super) Consumed);

impl cos_admin::ProxyPullConsumerServant for CosPull {
    fn connect_pull_supplier(
        &self,
        _: &Call<'_>,
        pull_supplier: Option<&cos::PullSupplier>,
    ) -> Result<(), cos_admin::AlreadyConnectedOrTypeErrorError> {
        let supplier = pull_supplier.ok_or_else(bad_param)?;
        if self.0.connect(Some(supplier.as_object()))? {
            Ok(())
        } else {
            Err(cos_admin::AlreadyConnected {}.into())
        }
    }
}

impl cos::PullConsumerServant for CosPull {
    fn disconnect_pull_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}
