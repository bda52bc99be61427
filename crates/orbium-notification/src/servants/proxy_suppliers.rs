// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proxies that stand for the channel before consumers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium::{Call, ExceptionKind, Interface, SystemException};

use super::common::{Filtered, Governed, bad_param};
use crate::channel::{Channel, Side};
use crate::consumer::{Consumer, SuspendError, TakeError};
use crate::event::Event;
use crate::filters::FilterGroup;
use crate::idl::cos_event_channel_admin as cos_admin;
use crate::idl::cos_event_comm as cos;
use crate::idl::cos_notification::{
    EventType, NamedPropertyRange, Property, StructuredEvent, UnsupportedQoS,
};
use crate::idl::cos_notify_channel_admin::{
    AlreadyConnectedError, AlreadyConnectedOrTypeErrorError, ConnectionAlreadyActive,
    ConnectionAlreadyActiveOrNotConnectedError, ConnectionAlreadyInactive,
    ConnectionAlreadyInactiveOrNotConnectedError, ConsumerAdmin, NotConnected, ObtainInfoMode,
    ProxyPullSupplierServant, ProxyPushSupplierServant, ProxySupplierServant, ProxyType,
    SequenceProxyPullSupplierServant, SequenceProxyPushSupplierServant,
    StructuredProxyPullSupplierServant, StructuredProxyPushSupplierServant, UnsupportedQoSError,
};
use crate::idl::cos_notify_comm::{self as notify, InvalidEventTypeError, NotifySubscribeServant};
use crate::idl::cos_notify_filter::MappingFilter;
use crate::qos::{Level, MESSAGE};
use crate::sink::Sink;

/// Events that one pull returns at most, whatever the caller asks for.
const MAX_PULLED: usize = 10_000;

/// A proxy, without its form of events.
#[derive(Clone)]
pub(super) struct Supplied {
    pub(super) channel: Arc<Channel>,
    pub(super) consumer: Arc<Consumer>,
    pub(super) kind: ProxyType,
}

impl Supplied {
    /// Connects a consumer that is pushed to; false if one is connected.
    pub(super) fn connect(&self, sink: Option<Arc<dyn Sink>>) -> Result<bool, SystemException> {
        let pushes = sink.is_some();
        let is_connected = self.consumer.connect(sink);
        if is_connected && pushes {
            self.channel.start(&self.consumer)?;
        }
        Ok(is_connected)
    }

    pub(super) fn disconnect(&self) {
        if let Some(sink) = self.channel.end_consumer(&self.consumer) {
            sink.disconnect();
        }
    }

    /// Waits for up to so many events.
    pub(super) fn pull(&self, call: &Call<'_>, most: usize) -> Result<Vec<Arc<Event>>, TakeError> {
        let until = Instant::now() + self.channel.config.pull_timeout;
        let until = call
            .deadline()
            .map_or(until, |deadline| until.min(deadline));
        self.consumer.take(most.min(MAX_PULLED), until)
    }

    /// Takes up to so many events that are there.
    pub(super) fn try_pull(&self, most: usize) -> Result<Vec<Arc<Event>>, TakeError> {
        let taken = self.consumer.take(most.min(MAX_PULLED), Instant::now());
        match taken {
            Err(TakeError::TimedOut) => Ok(Vec::new()),
            other => other,
        }
    }

    pub(super) fn push_timeout(&self) -> Duration {
        self.channel.config.push_timeout
    }
}

impl From<TakeError> for cos::DisconnectedError {
    fn from(error: TakeError) -> Self {
        match error {
            TakeError::NotConnected => cos::Disconnected {}.into(),
            TakeError::TimedOut => SystemException::from(ExceptionKind::Timeout).into(),
        }
    }
}

impl From<TakeError> for notify::DisconnectedError {
    fn from(error: TakeError) -> Self {
        match error {
            TakeError::NotConnected => cos::Disconnected {}.into(),
            TakeError::TimedOut => SystemException::from(ExceptionKind::Timeout).into(),
        }
    }
}

macro_rules! proxies {
    ($($proxy:ident),*) => {
        $(
            pub(super) struct $proxy(pub(super) Supplied);

            impl Governed for $proxy {
                fn channel(&self) -> &Arc<Channel> {
                    &self.0.channel
                }

                fn level(&self) -> &Level {
                    &self.0.consumer.level
                }
            }

            impl Filtered for $proxy {
                fn filters(&self) -> &FilterGroup {
                    &self.0.consumer.filters
                }
            }

            impl IsSupplied for $proxy {
                fn supplied(&self) -> &Supplied {
                    &self.0
                }
            }
        )*
    };
}

proxies!(
    PushAny,
    PullAny,
    PushStructured,
    PullStructured,
    PushSequence,
    PullSequence
);

pub(super) trait IsSupplied: Filtered {
    fn supplied(&self) -> &Supplied;
}

impl<T: IsSupplied> ProxySupplierServant for T {
    fn my_type(&self, _: &Call<'_>) -> Result<ProxyType, SystemException> {
        Ok(self.supplied().kind)
    }

    fn my_admin(&self, _: &Call<'_>) -> Result<Option<ConsumerAdmin>, SystemException> {
        let supplied = self.supplied();
        let admins = supplied.channel.admins(Side::Consumers);
        let admin = admins.get(&supplied.consumer.admin.id);
        Ok(admin.map(|(_, object)| ConsumerAdmin::from_object(object.clone())))
    }

    fn priority_filter(&self, _: &Call<'_>) -> Result<Option<MappingFilter>, SystemException> {
        Ok(None)
    }

    fn set_priority_filter(
        &self,
        _: &Call<'_>,
        value: Option<&MappingFilter>,
    ) -> Result<(), SystemException> {
        no_mapping_filter(value)
    }

    fn lifetime_filter(&self, _: &Call<'_>) -> Result<Option<MappingFilter>, SystemException> {
        Ok(None)
    }

    fn set_lifetime_filter(
        &self,
        _: &Call<'_>,
        value: Option<&MappingFilter>,
    ) -> Result<(), SystemException> {
        no_mapping_filter(value)
    }

    fn obtain_offered_types(
        &self,
        _: &Call<'_>,
        mode: ObtainInfoMode,
    ) -> Result<Vec<EventType>, SystemException> {
        obtained(mode, || self.supplied().channel.offered())
    }

    fn validate_event_qos(
        &self,
        _: &Call<'_>,
        required_qos: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, UnsupportedQoSError> {
        let validated = self.level().validate(MESSAGE, required_qos);
        Ok(validated.map_err(|qos_err| UnsupportedQoS { qos_err })?)
    }
}

/// There are no mapping filters: nil alone can be set.
pub(super) fn no_mapping_filter(value: Option<&MappingFilter>) -> Result<(), SystemException> {
    match value {
        None => Ok(()),
        Some(_) => Err(ExceptionKind::NoImplement.into()),
    }
}

/// The types that are asked for. Updates are not sent: NO_IMPLEMENT for the modes that want them.
pub(super) fn obtained(
    mode: ObtainInfoMode,
    types: impl FnOnce() -> Vec<EventType>,
) -> Result<Vec<EventType>, SystemException> {
    match mode {
        ObtainInfoMode::AllNowUpdatesOff => Ok(types()),
        ObtainInfoMode::NoneNowUpdatesOff => Ok(Vec::new()),
        ObtainInfoMode::AllNowUpdatesOn | ObtainInfoMode::NoneNowUpdatesOn => {
            Err(ExceptionKind::NoImplement.into())
        }
    }
}

impl<T: IsSupplied> NotifySubscribeServant for T {
    fn subscription_change(
        &self,
        _: &Call<'_>,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), InvalidEventTypeError> {
        self.supplied().consumer.types.change(added, removed);
        Ok(())
    }
}

macro_rules! push_proxy {
    ($proxy:ident, $servant:ident, $connect:ident, $consumer:ty) => {
        impl $servant for $proxy {
            fn $connect(
                &self,
                _: &Call<'_>,
                push_consumer: Option<&$consumer>,
            ) -> Result<(), AlreadyConnectedOrTypeErrorError> {
                let consumer = push_consumer.ok_or_else(bad_param)?;
                let consumer = consumer.with_timeout(self.0.push_timeout());
                match self.0.connect(Some(Arc::new(consumer)))? {
                    true => Ok(()),
                    false => Err(cos_admin::AlreadyConnected {}.into()),
                }
            }

            fn suspend_connection(
                &self,
                _: &Call<'_>,
            ) -> Result<(), ConnectionAlreadyInactiveOrNotConnectedError> {
                self.0.consumer.suspend().map_err(|error| match error {
                    SuspendError::Already => ConnectionAlreadyInactive {}.into(),
                    SuspendError::NotConnected => NotConnected {}.into(),
                })
            }

            fn resume_connection(
                &self,
                _: &Call<'_>,
            ) -> Result<(), ConnectionAlreadyActiveOrNotConnectedError> {
                self.0.consumer.resume().map_err(|error| match error {
                    SuspendError::Already => ConnectionAlreadyActive {}.into(),
                    SuspendError::NotConnected => NotConnected {}.into(),
                })
            }
        }
    };
}

push_proxy!(
    PushAny,
    ProxyPushSupplierServant,
    connect_any_push_consumer,
    cos::PushConsumer
);
push_proxy!(
    PushStructured,
    StructuredProxyPushSupplierServant,
    connect_structured_push_consumer,
    notify::StructuredPushConsumer
);
push_proxy!(
    PushSequence,
    SequenceProxyPushSupplierServant,
    connect_sequence_push_consumer,
    notify::SequencePushConsumer
);

macro_rules! pull_proxy {
    ($proxy:ident, $servant:ident, $connect:ident, $consumer:ty) => {
        impl $servant for $proxy {
            fn $connect(
                &self,
                _: &Call<'_>,
                _: Option<&$consumer>,
            ) -> Result<(), AlreadyConnectedError> {
                match self.0.connect(None)? {
                    true => Ok(()),
                    false => Err(cos_admin::AlreadyConnected {}.into()),
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

macro_rules! disconnects {
    ($($proxy:ident: $servant:path, $disconnect:ident;)*) => {
        $(
            impl $servant for $proxy {
                fn $disconnect(&self, _: &Call<'_>) -> Result<(), SystemException> {
                    self.0.disconnect();
                    Ok(())
                }
            }
        )*
    };
}

disconnects! {
    PushAny: cos::PushSupplierServant, disconnect_push_supplier;
    PushStructured: notify::StructuredPushSupplierServant, disconnect_structured_push_supplier;
    PushSequence: notify::SequencePushSupplierServant, disconnect_sequence_push_supplier;
}

impl notify::PushSupplierServant for PushAny {}
impl notify::PullSupplierServant for PullAny {}

impl cos::PullSupplierServant for PullAny {
    fn pull(&self, call: &Call<'_>) -> Result<orbium::Any, cos::DisconnectedError> {
        let events = self.0.pull(call, 1)?;
        any_of(&events).map_err(Into::into)
    }

    fn try_pull(
        &self,
        _: &Call<'_>,
    ) -> Result<cos::PullSupplierTryPullResults, cos::DisconnectedError> {
        let events = self.0.try_pull(1)?;
        Ok(cos::PullSupplierTryPullResults {
            has_event: !events.is_empty(),
            result: any_of(&events)?,
        })
    }

    fn disconnect_pull_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}

/// The first event as an any, or an empty one.
pub(super) fn any_of(events: &[Arc<Event>]) -> Result<orbium::Any, SystemException> {
    match events.first() {
        Some(event) => Ok(event.any()?.into_owned()),
        None => Ok(orbium::Any::default()),
    }
}

fn structured_of(events: &[Arc<Event>]) -> StructuredEvent {
    let first = events.first();
    first.map_or_else(StructuredEvent::default, |it| it.structured().into_owned())
}

impl notify::StructuredPullSupplierServant for PullStructured {
    fn pull_structured_event(
        &self,
        call: &Call<'_>,
    ) -> Result<StructuredEvent, notify::DisconnectedError> {
        let events = self.0.pull(call, 1)?;
        Ok(structured_of(&events))
    }

    fn try_pull_structured_event(
        &self,
        _: &Call<'_>,
    ) -> Result<
        notify::StructuredPullSupplierTryPullStructuredEventResults,
        notify::DisconnectedError,
    > {
        let events = self.0.try_pull(1)?;
        Ok(
            notify::StructuredPullSupplierTryPullStructuredEventResults {
                has_event: !events.is_empty(),
                result: structured_of(&events),
            },
        )
    }

    fn disconnect_structured_pull_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}

/// So many events, of which there must be one at least.
fn batch(max_number: i32) -> Result<usize, SystemException> {
    usize::try_from(max_number)
        .ok()
        .filter(|it| *it > 0)
        .ok_or_else(bad_param)
}

fn batch_of(events: &[Arc<Event>]) -> Vec<StructuredEvent> {
    events
        .iter()
        .map(|it| it.structured().into_owned())
        .collect()
}

impl notify::SequencePullSupplierServant for PullSequence {
    fn pull_structured_events(
        &self,
        call: &Call<'_>,
        max_number: i32,
    ) -> Result<Vec<StructuredEvent>, notify::DisconnectedError> {
        let events = self.0.pull(call, batch(max_number)?)?;
        Ok(batch_of(&events))
    }

    fn try_pull_structured_events(
        &self,
        _: &Call<'_>,
        max_number: i32,
    ) -> Result<notify::SequencePullSupplierTryPullStructuredEventsResults, notify::DisconnectedError>
    {
        let events = self.0.try_pull(batch(max_number)?)?;
        Ok(notify::SequencePullSupplierTryPullStructuredEventsResults {
            has_event: !events.is_empty(),
            result: batch_of(&events),
        })
    }

    fn disconnect_sequence_pull_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect();
        Ok(())
    }
}
