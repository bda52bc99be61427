// SPDX-License-Identifier: MIT OR Apache-2.0
//! Admins of consumers with positions in a journal.

use orbium::{Call, ExceptionKind, Interface, SystemException};

use super::admins::ConsumerAdminObject;
use crate::idl::cos_notify_channel_admin::{
    AdminLimitExceededError, ClientType, StructuredProxyPushSupplier,
};
use crate::idl::orbium_notification::durable_consumer_admin::InvalidName;
use crate::idl::orbium_notification::{
    AdminLimitExceededOrInvalidNameError, DurableConsumerAdminServant,
};
use crate::proxy_kind::ProxyKind;

impl DurableConsumerAdminServant for ConsumerAdminObject {
    fn obtain_durable_push_supplier(
        &self,
        _: &Call<'_>,
        name: &str,
    ) -> Result<Option<StructuredProxyPushSupplier>, AdminLimitExceededOrInvalidNameError> {
        let no_journal = SystemException::from(ExceptionKind::NoImplement);
        let journal = self.channel.journal.as_ref().ok_or(no_journal)?;
        if !journal.is_name(name) {
            return Err(InvalidName {}.into());
        }
        let kind = ProxyKind::pushed(ClientType::StructuredEvent);
        let (object, _) = self.proxy(kind, Some(name)).map_err(|error| match error {
            AdminLimitExceededError::AdminLimitExceeded(it) => it.into(),
            AdminLimitExceededError::System(it) => AdminLimitExceededOrInvalidNameError::System(it),
        })?;
        Ok(Some(StructuredProxyPushSupplier::from_object(object)))
    }
}
