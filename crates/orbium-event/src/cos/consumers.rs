// SPDX-License-Identifier: MIT OR Apache-2.0
//! The consumer side of COS Event: push consumers and pull consumers.

use std::sync::Arc;
use std::time::{Duration, Instant};

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
use crate::delivery::dropped::reply_after_dropped;
use crate::delivery::pull_error::PullError;
use crate::delivery::queue::limits::Rank;
use crate::event::SharedEvent;
use crate::peer::{Anonymous, Connection, Peer, Sink};
use crate::proxies::{ProxyCount, Slot, deactivation, end_object};
use crate::selection::ConsumerOptions;
use crate::subscription::pattern::Pattern;

/// The time for which `pull` waits for an event, unless the caller's deadline is earlier: TIMEOUT.
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
        let proxy = PullProxy(self.proxy()?);
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

/// The proxy of one consumer.
struct Proxy {
    channel: Channel,
    slot: Slot<Connected>,
}

/// A connected consumer, and its peer, which is notified when the channel disconnects it.
struct Connected {
    subscription: Arc<Subscription>,
    peer: Arc<dyn Peer>,
}

impl Proxy {
    /// Connects a consumer; false if one is connected.
    fn connect(
        &self,
        connect: impl FnOnce(
            &Channel,
            ConsumerOptions,
        ) -> Result<(Subscription, Arc<dyn Peer>), SystemException>,
    ) -> Result<bool, SystemException> {
        let mut slot = self.slot.lock();
        if slot.is_some() {
            return Ok(false);
        }
        let options = ConsumerOptions {
            is_remote: true,
            ..ConsumerOptions::default()
        };
        let (subscription, peer) = connect(&self.channel, options)?;
        *slot = Some(Connected {
            subscription: Arc::new(subscription),
            peer,
        });
        Ok(true)
    }

    fn disconnect(&self, call: &Call<'_>) {
        let connected = self.slot.lock().take();
        end_object(&call.poa(), call.object_id());
        if let Some(Connected { subscription, peer }) = connected
            && subscription.disconnect()
        {
            peer.disconnect();
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
        let sink = Arc::new(Consumer::new(consumer, self.0.channel.config()));
        let connected = self.0.connect(|channel, options| {
            let connection: Connection<dyn Sink> = Connection {
                peer: Arc::clone(&sink) as _,
                is_gateway: false,
                on_end: deactivation(call),
            };
            let pushed = channel.connect_consumer(Pattern::Null, options, connection)?;
            Ok((pushed, sink as Arc<dyn Peer>))
        })?;
        if connected {
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

struct PullProxy(Proxy);

fn every(_: &SharedEvent, _: Instant) -> Option<Rank> {
    Some(Rank::default())
}

impl PullProxy {
    /// Takes the next event, and waits for it until `until`; `None` if there is none.
    fn take(&self, call: &Call<'_>, until: Instant) -> Result<Option<Any>, DisconnectedError> {
        let slot = self.0.slot.lock();
        let connected = slot.as_ref().map(|it| Arc::clone(&it.subscription));
        drop(slot);
        let subscription = connected.ok_or(Disconnected {})?;
        let (taken, dropped) = match subscription.pull_counting(1, until) {
            Ok(taken) => taken,
            Err(PullError::TimedOut) => return Ok(None),
            Err(_) => return Err(Disconnected {}.into()),
        };
        let Some(event) = taken.first() else {
            return Ok(None);
        };
        let any = any_of(event).map_err(|_| SystemException::from(ExceptionKind::Marshal))?;
        reply_after_dropped(call, dropped);
        Ok(Some(any))
    }
}

impl ProxyPullSupplierServant for PullProxy {
    fn connect_pull_consumer(
        &self,
        call: &Call<'_>,
        pull_consumer: Option<&PullConsumer>,
    ) -> Result<(), AlreadyConnectedError> {
        let config = self.0.channel.config();
        let peer: Arc<dyn Peer> = match pull_consumer {
            Some(consumer) => Arc::new(Puller::new(consumer, config)),
            None => Arc::new(Anonymous),
        };
        let connected = self.0.connect(|channel, options| {
            let options = ConsumerOptions {
                // One event of a set is pulled at a time.
                selection: Some(Arc::new(every)),
                waits_for_suspect: true,
                ..options
            };
            let on_end = deactivation(call);
            let pulled = channel.connect_puller(Pattern::Null, options, Arc::clone(&peer), on_end);
            Ok((pulled?, peer))
        })?;
        if connected {
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
        let timeout = SystemException::from(ExceptionKind::Timeout);
        self.take(call, until)?.ok_or_else(|| timeout.into())
    }

    fn try_pull(&self, call: &Call<'_>) -> Result<PullSupplierTryPullResults, DisconnectedError> {
        let any = self.take(call, Instant::now())?;
        Ok(PullSupplierTryPullResults {
            has_event: any.is_some(),
            result: any.unwrap_or_default(),
        })
    }

    fn disconnect_pull_supplier(&self, call: &Call<'_>) -> Result<(), SystemException> {
        self.0.disconnect(call);
        Ok(())
    }
}
