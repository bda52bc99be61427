// SPDX-License-Identifier: MIT OR Apache-2.0
//! The side of COS consumers: those that are pushed to, and those that pull.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium::lock::{Condvar, Mutex, MutexGuard};
use orbium::{Any, Call, ExceptionKind, SystemException};

use super::peers::{Consumer, Puller, any_of};
use crate::channel::Channel;
use crate::consumer_connection::Subscription;
use crate::cos_event::cos_event_channel_admin::{
    AlreadyConnected, AlreadyConnectedError, AlreadyConnectedOrTypeErrorError,
    ConsumerAdminServant, ProxyPullSupplier, ProxyPullSupplierServant, ProxyPushSupplier,
    ProxyPushSupplierServant,
};
use crate::cos_event::cos_event_comm::{
    Disconnected, DisconnectedError, PullConsumer, PullSupplierServant, PullSupplierTryPullResults,
    PushConsumer, PushSupplierServant,
};
use crate::delivery::health::DeliveryError;
use crate::event::SharedEvent;
use crate::peer::{Anonymous, Connection, Peer, Sink};
use crate::proxies::{ProxyCount, Slot, deactivation, end_object};
use crate::selection::ConsumerOptions;
use crate::subscription::pattern::Pattern;

/// How long `pull` waits for an event, unless the caller's deadline is earlier: TIMEOUT.
const PULL_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) struct Consumers {
    pub(super) channel: Channel,
    pub(super) count: ProxyCount,
}

impl ConsumerAdminServant for Consumers {
    fn obtain_push_supplier(
        &self,
        call: &Call<'_>,
    ) -> Result<Option<ProxyPushSupplier>, SystemException> {
        let proxy = PushProxy(self.proxy()?);
        Ok(Some(call.poa().activate(proxy)?))
    }

    fn obtain_pull_supplier(
        &self,
        call: &Call<'_>,
    ) -> Result<Option<ProxyPullSupplier>, SystemException> {
        let proxy = PullProxy {
            proxy: self.proxy()?,
            waiting: Arc::default(),
        };
        Ok(Some(call.poa().activate(proxy)?))
    }
}

impl Consumers {
    fn proxy(&self) -> Result<Proxy, SystemException> {
        Ok(Proxy {
            channel: self.channel.clone(),
            slot: Slot::new(self.count.one_more(self.channel.config().consumers)?),
        })
    }
}

/// What stands for the channel before one consumer.
struct Proxy {
    channel: Channel,
    slot: Slot<(Subscription, Arc<dyn Sink>)>,
}

impl Proxy {
    /// Connects a consumer; false if one is connected.
    fn connect(&self, call: &Call<'_>, sink: &Arc<dyn Sink>) -> Result<bool, SystemException> {
        let mut slot = self.slot.lock();
        if slot.is_some() {
            return Ok(false);
        }
        let connection = Connection {
            peer: Arc::clone(sink),
            is_gateway: false,
            on_end: deactivation(call),
        };
        let options = ConsumerOptions {
            is_remote: true,
            ..ConsumerOptions::default()
        };
        let channel = &self.channel;
        let connected = channel.connect_consumer(Pattern::Null, options, connection);
        *slot = Some((connected?, Arc::clone(sink)));
        Ok(true)
    }

    fn disconnect(&self, call: &Call<'_>) {
        let connected = self.slot.lock().take();
        end_object(&call.poa(), call.object_id());
        if let Some((subscription, sink)) = connected
            && subscription.disconnect()
        {
            sink.disconnect();
        }
    }
}

struct PushProxy(Proxy);

impl ProxyPushSupplierServant for PushProxy {
    fn connect_push_consumer(
        &self,
        call: &Call<'_>,
        push_consumer: Option<&PushConsumer>,
    ) -> Result<(), AlreadyConnectedOrTypeErrorError> {
        let nil = SystemException::from(ExceptionKind::BadParam);
        let consumer = push_consumer.ok_or(nil)?;
        let sink: Arc<dyn Sink> = Arc::new(Consumer::new(consumer, self.0.channel.config()));
        if self.0.connect(call, &sink)? {
            Ok(())
        } else {
            Err(AlreadyConnected {}.into())
        }
    }
}

impl PushSupplierServant for PushProxy {
    fn disconnect_push_supplier(&self, call: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect(call);
        Ok(())
    }
}

/// Events that wait to be pulled; bounded as the queues of other consumers.
#[derive(Default)]
struct Waiting {
    events: Mutex<VecDeque<Any>>,
    arrived: Condvar,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Any>> {
        self.events.lock()
    }
}

/// Where events wait for a consumer that pulls, and the consumer itself.
struct PullSink {
    waiting: Arc<Waiting>,
    most: usize,
    consumer: Box<dyn Peer>,
}

impl Peer for PullSink {
    fn ping(&self) -> Result<(), DeliveryError> {
        self.consumer.ping()
    }

    fn disconnect(&self) {
        self.consumer.disconnect();
    }
}

impl Sink for PullSink {
    fn push(&self, events: &[SharedEvent]) -> Result<(), DeliveryError> {
        for event in events {
            let any = any_of(event)?;
            let mut waiting = self.waiting.lock();
            if waiting.len() >= self.most {
                waiting.pop_front();
            }
            waiting.push_back(any);
            self.waiting.arrived.notify_one();
        }
        Ok(())
    }
}

struct PullProxy {
    proxy: Proxy,
    waiting: Arc<Waiting>,
}

impl PullProxy {
    fn check(&self) -> Result<(), DisconnectedError> {
        match self.proxy.slot.lock().is_some() {
            true => Ok(()),
            false => Err(Disconnected {}.into()),
        }
    }
}

impl ProxyPullSupplierServant for PullProxy {
    fn connect_pull_consumer(
        &self,
        call: &Call<'_>,
        pull_consumer: Option<&PullConsumer>,
    ) -> Result<(), AlreadyConnectedError> {
        let config = self.proxy.channel.config();
        let consumer: Box<dyn Peer> = match pull_consumer {
            Some(consumer) => Box::new(Puller::new(consumer, config)),
            None => Box::new(Anonymous),
        };
        let sink: Arc<dyn Sink> = Arc::new(PullSink {
            waiting: Arc::clone(&self.waiting),
            most: config.queue.sets.max(1),
            consumer,
        });
        if self.proxy.connect(call, &sink)? {
            Ok(())
        } else {
            Err(AlreadyConnected {}.into())
        }
    }
}

impl PullSupplierServant for PullProxy {
    fn pull(&self, call: &Call<'_>) -> Result<Any, DisconnectedError> {
        let until = Instant::now() + PULL_TIMEOUT;
        let until = call
            .deadline()
            .map_or(until, |deadline| until.min(deadline));
        loop {
            self.check()?;
            let mut waiting = self.waiting.lock();
            if let Some(any) = waiting.pop_front() {
                return Ok(any);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(SystemException::from(ExceptionKind::Timeout).into());
            }
            // At times the connection is checked.
            let left = left.min(Duration::from_secs(1));
            drop(self.waiting.arrived.wait_timeout(waiting, left));
        }
    }

    fn try_pull(&self, _: &Call<'_>) -> Result<PullSupplierTryPullResults, DisconnectedError> {
        self.check()?;
        let any = self.waiting.lock().pop_front();
        Ok(PullSupplierTryPullResults {
            has_event: any.is_some(),
            result: any.unwrap_or_default(),
        })
    }

    fn disconnect_pull_supplier(&self, call: &Call<'_>) -> Result<(), SystemException> {
        self.proxy.disconnect(call);
        Ok(())
    }
}
