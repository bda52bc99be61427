// SPDX-License-Identifier: MIT OR Apache-2.0
//! Activation of proxies as objects, each with the interface of its kind.

use std::sync::Arc;

use orbium::stub::ServedBy;
use orbium::{ExceptionKind, Interface, ObjectRef, Servant, SystemException, poa::PoaError};
use orbium_event::Receiving;

use super::proxy_consumers::Consumed;
use super::proxy_consumers::push_receiver::{Form, Pushed};
use super::proxy_suppliers::Supplied;
use super::{cos_event, proxy_consumers, proxy_suppliers, pull_consumers, pull_suppliers};
use crate::channel::Side;
use crate::connections::key::Key;
use crate::idl::cos_event_channel_admin as cos;
use crate::idl::cos_notify_channel_admin as notify;
use crate::idl::cos_notify_channel_admin::ProxyType;

/// Activates a servant as an object of an interface.
macro_rules! object {
    ($base:expr, $interface:ty, $servant:expr) => {{
        let base = $base.clone();
        let object: $interface = base
            .channel
            .objects
            .activate(base.key(), $servant(base.clone()))?;
        Ok(object.as_object().clone())
    }};
}

/// Activates a servant that takes ownership of the events which are pushed to it.
macro_rules! receiving {
    ($base:expr, $interface:ty, $servant:expr, $form:expr) => {{
        let servant: Arc<dyn Servant> = Arc::new(Receiving {
            skeleton: <$interface>::skeleton($servant($base.clone())),
            receiver: Pushed {
                consumed: $base.clone(),
                form: $form,
            },
        });
        $base
            .channel
            .objects
            .activate_servant($base.key(), &servant)
    }};
}

/// There are no typed channels.
fn no_typed() -> PoaError {
    SystemException::from(ExceptionKind::NoImplement).into()
}

impl Supplied {
    /// Activates it as an object.
    pub(super) fn activate(&self) -> Result<ObjectRef, PoaError> {
        use ProxyType::{
            PullAny, PullSequence, PullStructured, PushAny, PushSequence, PushStructured,
        };
        let kind = self.consumer.kind;
        match (kind.form, kind.is_cos_event) {
            (PushAny, true) => object!(self, cos::ProxyPushSupplier, cos_event::PushSupplier),
            (PullAny, true) => object!(self, cos::ProxyPullSupplier, cos_event::PullSupplier),
            (PushAny, false) => object!(self, notify::ProxyPushSupplier, proxy_suppliers::PushAny),
            (PushStructured, false) => object!(
                self,
                notify::StructuredProxyPushSupplier,
                proxy_suppliers::PushStructured
            ),
            (PushSequence, false) => object!(
                self,
                notify::SequenceProxyPushSupplier,
                proxy_suppliers::PushSequence
            ),
            (PullAny, false) => object!(self, notify::ProxyPullSupplier, pull_suppliers::PullAny),
            (PullStructured, false) => object!(
                self,
                notify::StructuredProxyPullSupplier,
                pull_suppliers::PullStructured
            ),
            (PullSequence, false) => object!(
                self,
                notify::SequenceProxyPullSupplier,
                pull_suppliers::PullSequence
            ),
            _ => Err(no_typed()),
        }
    }

    fn key(&self) -> Key {
        self.channel.proxy_key(self.consumer.id, Side::Consumers)
    }
}

impl Consumed {
    /// Activates it as an object.
    pub(super) fn activate(&self) -> Result<ObjectRef, PoaError> {
        use ProxyType::{
            PullAny, PullSequence, PullStructured, PushAny, PushSequence, PushStructured,
        };
        let kind = self.producer.kind;
        match (kind.form, kind.is_cos_event) {
            (PushAny, true) => object!(self, cos::ProxyPushConsumer, cos_event::PushConsumer),
            (PullAny, true) => object!(self, cos::ProxyPullConsumer, pull_consumers::CosPull),
            (PushAny, false) => receiving!(
                self,
                notify::ProxyPushConsumer,
                proxy_consumers::PushAny,
                Form::Any
            ),
            (PushStructured, false) => receiving!(
                self,
                notify::StructuredProxyPushConsumer,
                proxy_consumers::PushStructured,
                Form::Structured
            ),
            (PushSequence, false) => receiving!(
                self,
                notify::SequenceProxyPushConsumer,
                proxy_consumers::PushSequence,
                Form::Sequence
            ),
            (PullAny, false) => object!(self, notify::ProxyPullConsumer, pull_consumers::PullAny),
            (PullStructured, false) => object!(
                self,
                notify::StructuredProxyPullConsumer,
                pull_consumers::PullStructured
            ),
            (PullSequence, false) => object!(
                self,
                notify::SequenceProxyPullConsumer,
                pull_consumers::PullSequence
            ),
            _ => Err(no_typed()),
        }
    }

    fn key(&self) -> Key {
        self.channel.proxy_key(self.producer.id, Side::Suppliers)
    }
}
