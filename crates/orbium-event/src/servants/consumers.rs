// SPDX-License-Identifier: MIT OR Apache-2.0
//! The consumer side: the admin, and a proxy for each consumer.

use std::sync::Arc;

use orbium::{Call, ExceptionKind, SystemException};

use super::peers::RemoteConsumer;
use crate::channel::Channel;
use crate::config::{ConnectError, Suspension};
use crate::consumer_connection::Subscription;
use crate::engine::Engine;
use crate::peer::{Connection, Peer, Sink};
use crate::proxies::{ProxyCount, Slot, deactivation, end_object};
use crate::rtec::orbium_event::{Replay, ReplayStart, ReplayingConsumerAdminServant};
use crate::rtec::rtec_event_channel_admin::{
    AlreadyConnected, AlreadyConnectedOrTypeErrorError, ConsumerAdminServant, ConsumerQos,
    ProxyPushSupplier, ProxyPushSupplierServant, TypeError,
};
use crate::rtec::rtec_event_comm::{PushConsumer, PushSupplierServant};
use crate::selection::ConsumerOptions;
use crate::subscription::pattern::Pattern;

pub(super) struct Consumers {
    pub(super) channel: Channel,
    pub(super) count: ProxyCount,
}

impl Consumers {
    fn obtain(
        &self,
        call: &Call<'_>,
        replays: bool,
    ) -> Result<Option<ProxyPushSupplier>, SystemException> {
        let counted = self.count.one_more(self.channel.config().consumers)?;
        let proxy = SupplierProxy {
            channel: self.channel.clone(),
            slot: Slot::new(counted),
            replays,
        };
        Ok(Some(call.poa().activate(proxy)?))
    }
}

impl ConsumerAdminServant for Consumers {
    fn obtain_push_supplier(
        &self,
        call: &Call<'_>,
    ) -> Result<Option<ProxyPushSupplier>, SystemException> {
        self.obtain(call, false)
    }
}

impl ReplayingConsumerAdminServant for Consumers {
    fn obtain_replaying_push_supplier(
        &self,
        call: &Call<'_>,
        replay: &Replay,
    ) -> Result<Option<ProxyPushSupplier>, SystemException> {
        let retains = self.channel.engine.retained.is_enabled();
        if !retains || replay.start != ReplayStart::FromLast {
            return Err(ExceptionKind::NoImplement.into());
        }
        self.obtain(call, true)
    }
}

/// The proxy of one consumer.
struct SupplierProxy {
    channel: Channel,
    slot: Slot<Connected>,
    /// Whether its consumer gets the retained events.
    replays: bool,
}

struct Connected {
    subscription: Arc<Subscription>,
    consumer: Arc<RemoteConsumer>,
}

impl SupplierProxy {
    /// The subscription, for calls without the lock: a push may call this proxy back.
    fn subscription(&self) -> Option<Arc<Subscription>> {
        let slot = self.slot.lock();
        slot.as_ref().map(|it| Arc::clone(&it.subscription))
    }

    fn connect(
        &self,
        call: &Call<'_>,
        consumer: &PushConsumer,
        qos: &ConsumerQos,
    ) -> Result<(), ConnectError> {
        let config = self.channel.config();
        let consumer = Arc::new(RemoteConsumer::new(consumer, config));
        let pattern = Pattern::from_dependencies(&qos.dependencies, &config.filter)?;
        let mut slot = self.slot.lock();
        let sink = Arc::clone(&consumer) as Arc<dyn Sink>;
        match &mut *slot {
            Some(connected) if config.consumer_reconnect => {
                connected.consumer = consumer;
                Engine::start_timers(&self.channel.engine)?;
                let subscription = &connected.subscription;
                subscription.reconnect(pattern, sink, qos.is_gateway);
                Ok(())
            }
            Some(_) => Err(ConnectError::AlreadyConnected),
            None => {
                let connection = Connection {
                    peer: sink,
                    is_gateway: qos.is_gateway,
                    on_end: deactivation(call),
                };
                let options = ConsumerOptions {
                    rt_info: rt_info_of(qos),
                    is_remote: true,
                    replays: self.replays,
                    ..ConsumerOptions::default()
                };
                let channel = &self.channel;
                let subscription = channel.connect_consumer(pattern, options, connection)?;
                let connected = Arc::clone(subscription.consumer());
                *slot = Some(Connected {
                    subscription: Arc::new(subscription),
                    consumer,
                });
                drop(slot);
                // It was paused for a replay: a push may call this proxy back.
                channel.engine.unpause(&connected);
                Ok(())
            }
        }
    }
}

impl ProxyPushSupplierServant for SupplierProxy {
    fn connect_push_consumer(
        &self,
        call: &Call<'_>,
        push_consumer: Option<&PushConsumer>,
        qos: &ConsumerQos,
    ) -> Result<(), AlreadyConnectedOrTypeErrorError> {
        let nil = SystemException::from(ExceptionKind::BadParam);
        let consumer = push_consumer.ok_or(nil)?;
        self.connect(call, consumer, qos)
            .map_err(|error| match error {
                ConnectError::AlreadyConnected => AlreadyConnected {}.into(),
                ConnectError::Filter(_) | ConnectError::RtInfo(_) => {
                    tracing::warn!(target: "orbium::event", %error, "subscription refused");
                    TypeError {}.into()
                }
                error => SystemException::from(error).into(),
            })
    }

    fn suspend_connection(&self, _: &Call<'_>) -> Result<(), SystemException> {
        if let Some(subscription) = self.subscription() {
            match self.channel.config().suspension {
                Suspension::Drop => subscription.suspend(),
                Suspension::Wait => subscription.pause(),
            }
        }
        Ok(())
    }

    fn resume_connection(&self, _: &Call<'_>) -> Result<(), SystemException> {
        if let Some(subscription) = self.subscription() {
            match self.channel.config().suspension {
                Suspension::Drop => subscription.resume(),
                Suspension::Wait => subscription.unpause(),
            }
        }
        Ok(())
    }
}

impl PushSupplierServant for SupplierProxy {
    fn disconnect_push_supplier(&self, call: &Call<'_>) -> Result<(), SystemException> {
        let connected = self.slot.lock().take();
        end_object(&call.poa(), call.object_id());
        if let Some(connected) = connected {
            let was_connected = connected.subscription.disconnect();
            if was_connected && self.channel.config().disconnect_callbacks {
                connected.consumer.disconnect();
            }
        }
        Ok(())
    }
}

/// The RT_Info of a consumer: the first nonzero one of an element of its subscription, or 0.
fn rt_info_of(qos: &ConsumerQos) -> i32 {
    let mut rt_infos = qos.dependencies.iter().map(|it| it.rt_info);
    rt_infos.find(|it| *it != 0).unwrap_or(0)
}
