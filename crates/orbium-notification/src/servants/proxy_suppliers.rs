// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proxies of consumers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium::{Call, ExceptionKind, Interface, ObjectRef, SystemException};
use orbium_event::{PullError, reply_after_dropped};

use super::common::{Filtered, Governed, bad_param};
use super::mapping_filters::attach;
use crate::channel::{Channel, Side};
use crate::consumer::offered_events::Pulled;
use crate::consumer::sink::{numbered, sink_of};
use crate::consumer::{Consumer, SuspendError};
use crate::event::Event;
use crate::filter::filter_group::FilterGroup;
use crate::idl::cos_event_channel_admin as cos_admin;
use crate::idl::cos_event_comm as cos;
use crate::idl::cos_notification::{EventType, NamedPropertyRange, Property, UnsupportedQoS};
use crate::idl::cos_notify_channel_admin::{
    AlreadyConnectedOrTypeErrorError, ConnectionAlreadyActive,
    ConnectionAlreadyActiveOrNotConnectedError, ConnectionAlreadyInactive,
    ConnectionAlreadyInactiveOrNotConnectedError, ConsumerAdmin, NotConnected, ObtainInfoMode,
    ProxyPushSupplierServant, ProxySupplierServant, ProxyType, SequenceProxyPushSupplierServant,
    StructuredProxyPushSupplierServant, UnsupportedQoSError,
};
use crate::idl::cos_notify_comm::{self as notify, InvalidEventTypeError, NotifySubscribeServant};
use crate::idl::cos_notify_filter::MappingFilter;
use crate::qos::{Level, MESSAGE};

/// Maximum number of events of one pull, whatever the caller requests.
const MAX_PULLED: usize = 10_000;
/// Maximum time of a waiting pull, whatever the configuration: ten years.
const MAX_PULL_TIME: Duration = Duration::from_secs(10 * 365 * 86_400);
/// A tenth of the caller's time-out of a pull is reserved for the reply, and no more than this.
const MAX_REPLY_TIME: Duration = Duration::from_millis(100);

/// A proxy, without its form of events.
#[derive(Clone)]
pub(super) struct Supplied {
    pub(super) channel: Arc<Channel>,
    pub(super) consumer: Arc<Consumer>,
}

impl Supplied {
    /// Connects a consumer and records it; false if one is connected.
    pub(super) fn connect(&self, peer: Option<&ObjectRef>) -> Result<bool, SystemException> {
        if !self.connect_peer(peer)? {
            return Ok(false);
        }
        self.save()?;
        Ok(true)
    }

    /// Connects a consumer; false if one is connected. A consumer of COS Notification gets changes
    /// of offered types when it requests them.
    pub(super) fn connect_peer(&self, peer: Option<&ObjectRef>) -> Result<bool, SystemException> {
        let (channel, consumer) = (&self.channel, &self.consumer);
        let (kind, timeout) = (consumer.kind, channel.config.push_timeout);
        let sink = peer.and_then(|it| sink_of(kind.form, it, timeout));
        if !consumer.connect(peer, sink.clone()) {
            return Ok(false);
        }
        if let Some(peer) = peer.filter(|_| !kind.is_cos_event) {
            let peer = notify::NotifyPublish::from_object(peer.clone());
            consumer.subscriber.connect(peer.with_timeout(timeout));
        }
        let follows = channel.follow(consumer);
        let connected = follows.and_then(|follows| {
            if follows {
                Ok(())
            } else {
                channel.connect_to_core(consumer, sink)
            }
        });
        connected.inspect_err(|_| consumer.unconnect())?;
        Ok(true)
    }

    fn suspend(&self, suspended: bool) -> Result<(), SuspendError> {
        if suspended {
            self.consumer.suspend()?;
        } else {
            self.consumer.resume()?;
        }
        self.save().map_err(SuspendError::System)
    }

    pub(super) fn save(&self) -> Result<(), SystemException> {
        self.channel.save_consumer(&self.consumer)
    }

    pub(super) fn disconnect(&self) {
        if let Some(sink) = self.channel.end_consumer(&self.consumer) {
            sink.disconnect();
        }
    }

    /// Waits for up to so many events, and takes them in a form, the first with the number of those
    /// that were dropped before.
    pub(super) fn pull<T>(
        &self,
        call: &Call<'_>,
        most: usize,
        form: impl Fn(&Event, u64) -> Result<T, SystemException>,
    ) -> Result<Vec<T>, TakeError> {
        let now = Instant::now();
        let timeout = self.channel.config.pull_timeout;
        let mut until = now.checked_add(timeout).unwrap_or(now + MAX_PULL_TIME);
        if let Some(deadline) = call.deadline() {
            // The reply has to reach the caller before its deadline: otherwise the event is lost.
            let left = deadline.saturating_duration_since(now);
            until = until.min(deadline - (left / 10).min(MAX_REPLY_TIME));
        }
        self.take(call, (most, until), form)
    }

    /// Takes up to so many waiting events in a form.
    pub(super) fn try_pull<T>(
        &self,
        call: &Call<'_>,
        most: usize,
        form: impl Fn(&Event, u64) -> Result<T, SystemException>,
    ) -> Result<Vec<T>, TakeError> {
        match self.take(call, (most, Instant::now()), form) {
            Err(TakeError::System(exception)) if exception.kind == ExceptionKind::Timeout => {
                Ok(Vec::new())
            }
            other => other,
        }
    }

    fn take<T>(
        &self,
        call: &Call<'_>,
        (most, until): (usize, Instant),
        form: impl Fn(&Event, u64) -> Result<T, SystemException>,
    ) -> Result<Vec<T>, TakeError> {
        let most = most.min(MAX_PULLED);
        let formed: Result<Vec<T>, _> = match self.consumer.offered_events() {
            Some(_) if !self.consumer.is_connected() => return Err(TakeError::NotConnected),
            Some(offered) => {
                let by = call.connection();
                let Pulled { events, dropped } =
                    offered.pull((&by, || call.is_connected()), most, until)?;
                reply_after_dropped(call, dropped);
                let formed = numbered(&events, dropped).map(|(it, dropped)| form(it, dropped));
                let formed: Result<_, _> = formed.collect();
                let refused = |exception: &_| offered.refuse_last(&by, *exception);
                formed.inspect_err(refused)
            }
            None => {
                let (taken, dropped) = self.consumer.take(most, until)?;
                reply_after_dropped(call, dropped);
                let now = Instant::now();
                let events = taken.iter().filter_map(|it| self.channel.seen(it, now));
                let formed = numbered(events, dropped).map(|(it, dropped)| form(&it, dropped));
                formed.collect()
            }
        };
        Ok(formed?)
    }
}

/// Reason why no event is taken.
pub(super) enum TakeError {
    NotConnected,
    System(SystemException),
}

impl From<PullError> for TakeError {
    fn from(error: PullError) -> Self {
        match error {
            PullError::TimedOut => Self::System(ExceptionKind::Timeout.into()),
            PullError::Disconnected | PullError::Pushed => Self::NotConnected,
        }
    }
}

impl From<SystemException> for TakeError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<TakeError> for cos::DisconnectedError {
    fn from(error: TakeError) -> Self {
        match error {
            TakeError::NotConnected => cos::Disconnected {}.into(),
            TakeError::System(exception) => exception.into(),
        }
    }
}

impl From<TakeError> for notify::DisconnectedError {
    fn from(error: TakeError) -> Self {
        match error {
            TakeError::NotConnected => cos::Disconnected {}.into(),
            TakeError::System(exception) => exception.into(),
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

                fn save(&self) -> Result<(), SystemException> {
                    self.0.save()
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

pub(super) use proxies;

proxies!(PushAny, PushStructured, PushSequence);

pub(super) trait IsSupplied: Filtered {
    fn supplied(&self) -> &Supplied;
}

impl<T: IsSupplied> ProxySupplierServant for T {
    fn my_type(&self, _: &Call<'_>) -> Result<ProxyType, SystemException> {
        Ok(self.supplied().consumer.kind.form)
    }

    fn my_admin(&self, _: &Call<'_>) -> Result<Option<ConsumerAdmin>, SystemException> {
        let supplied = self.supplied();
        let admins = supplied.channel.admins(Side::Consumers);
        let admin = admins.get(&supplied.consumer.admin.id);
        Ok(admin.map(|(_, object)| ConsumerAdmin::from_object(object.clone())))
    }

    fn priority_filter(&self, _: &Call<'_>) -> Result<Option<MappingFilter>, SystemException> {
        Ok(self.supplied().consumer.mappings.priority.get())
    }

    fn set_priority_filter(
        &self,
        _: &Call<'_>,
        value: Option<&MappingFilter>,
    ) -> Result<(), SystemException> {
        attach(
            &self.supplied().consumer.mappings.priority,
            &self.supplied().channel,
            value,
        );
        self.save()
    }

    fn lifetime_filter(&self, _: &Call<'_>) -> Result<Option<MappingFilter>, SystemException> {
        Ok(self.supplied().consumer.mappings.lifetime.get())
    }

    fn set_lifetime_filter(
        &self,
        _: &Call<'_>,
        value: Option<&MappingFilter>,
    ) -> Result<(), SystemException> {
        attach(
            &self.supplied().consumer.mappings.lifetime,
            &self.supplied().channel,
            value,
        );
        self.save()
    }

    fn obtain_offered_types(
        &self,
        _: &Call<'_>,
        mode: ObtainInfoMode,
    ) -> Result<Vec<EventType>, SystemException> {
        let supplied = self.supplied();
        let wants_now = supplied.consumer.subscriber.obtain(mode);
        supplied.save()?;
        Ok(if wants_now {
            supplied.channel.offered()
        } else {
            Vec::new()
        })
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

impl<T: IsSupplied> NotifySubscribeServant for T {
    fn subscription_change(
        &self,
        _: &Call<'_>,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), InvalidEventTypeError> {
        let supplied = self.supplied();
        let types = &supplied.consumer.types;
        supplied
            .channel
            .change_subscription(types, added, removed)?;
        Ok(supplied.save()?)
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
                if self.0.connect(Some(consumer.as_object()))? {
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
