// SPDX-License-Identifier: MIT OR Apache-2.0
//! The consumer side: the admin, and a proxy for each consumer.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use orbium::lock::{Mutex, MutexGuard};
use orbium::{Call, ExceptionKind, Interface, SystemException};
use orbium_event::rtec::orbium_event::durable_consumer_admin::InvalidName;
use orbium_event::rtec::orbium_event::{
    ConsumerState, DurableConsumerAdminServant, InvalidNameError, Replay as IdlReplay,
    ReplayingConsumerAdminServant,
};
use orbium_event::rtec::rtec_event_channel_admin::{
    AlreadyConnected, AlreadyConnectedOrTypeErrorError, ConsumerAdminServant, ConsumerQos,
    ProxyPushSupplier, ProxyPushSupplierServant, TypeError,
};
use orbium_event::rtec::rtec_event_comm::{PushConsumer, PushSupplierServant};
use orbium_event::{Pattern, Replay};

use crate::config::is_name;
use crate::delivery::recipient::{Recipient, is_stateless};
use crate::error::JetStreamError;
use crate::servants::channel_state::Shared;
use crate::servants::proxies::Proxy;
use crate::servants::proxy_object::Place;
use crate::stream::correlator::{Correlator, PushSet, most_open};
use crate::stream::follow::{Deliver, Following, follow};
use crate::stream::message::{subject_filter, subjects};
use crate::stream::replayed::Replayed;
use crate::stream::server_consumer::{Subscription, forget};

pub(crate) struct Consumers {
    pub(crate) shared: Arc<Shared>,
}

impl Consumers {
    fn obtain(
        &self,
        call: &Call<'_>,
        (name, replay): (Option<&str>, Option<Replay>),
    ) -> Result<Option<ProxyPushSupplier>, SystemException> {
        let proxy = self.shared.consumers.add(|number| {
            Arc::new(SupplierProxy {
                number,
                name: name.map(str::to_owned),
                replay,
                shared: Arc::clone(&self.shared),
                place: Place::default(),
                phase: Mutex::default(),
            })
        })?;
        let object: ProxyPushSupplier = call.poa().activate(ProxyObject(Arc::clone(&proxy)))?;
        proxy.place.set(&call.poa(), object.as_object());
        Ok(Some(object))
    }
}

impl ConsumerAdminServant for Consumers {
    fn obtain_push_supplier(
        &self,
        call: &Call<'_>,
    ) -> Result<Option<ProxyPushSupplier>, SystemException> {
        self.obtain(call, (None, None))
    }
}

impl ReplayingConsumerAdminServant for Consumers {
    fn obtain_replaying_push_supplier(
        &self,
        call: &Call<'_>,
        replay: &IdlReplay,
    ) -> Result<Option<ProxyPushSupplier>, SystemException> {
        let replay = Replay::from_idl(*replay);
        self.obtain(call, (None, Some(replay)))
    }
}

impl DurableConsumerAdminServant for Consumers {
    fn obtain_durable_push_supplier(
        &self,
        call: &Call<'_>,
        name: &str,
    ) -> Result<Option<ProxyPushSupplier>, InvalidNameError> {
        if is_name(name) {
            Ok(self.obtain(call, (Some(name), None))?)
        } else {
            Err(InvalidName {}.into())
        }
    }

    fn forget(&self, _: &Call<'_>, name: &str) -> Result<(), InvalidNameError> {
        if !is_name(name) {
            return Err(InvalidName {}.into());
        }
        if let Some(proxy) = self.shared.names.release(name) {
            proxy.end();
        }
        Ok(forget(&self.shared.stream, name).map_err(SystemException::from)?)
    }
}

/// The proxy of one consumer.
struct SupplierProxy {
    number: u64,
    /// Set by the client. Without one the RT_Info of its subscription is the name.
    name: Option<String>,
    /// The position at which its consumer begins, which has no name then.
    replay: Option<Replay>,
    shared: Arc<Shared>,
    place: Place,
    /// Not locked while the server is waited for.
    phase: Mutex<Phase>,
}

/// Its object.
struct ProxyObject(Arc<SupplierProxy>);

/// The phase of a proxy.
#[derive(Default)]
enum Phase {
    #[default]
    Free,
    /// The server makes the consumer.
    Connecting,
    Connected(Connection),
    Ended,
}

struct Connection {
    name: Option<String>,
    recipient: Arc<Recipient>,
    pattern: Pattern,
    is_gateway: bool,
    service: Service,
}

/// Whether a consumer that is connected gets events.
enum Service {
    Following(Following),
    /// The place of resumption, if it does not begin as before.
    Suspended(Option<Arc<Replayed>>),
    /// The server makes the consumer once more.
    Resuming(Option<Arc<Replayed>>),
}

impl Phase {
    fn connection(&self) -> Option<&Connection> {
        match self {
            Self::Connected(connection) => Some(connection),
            Self::Free | Self::Connecting | Self::Ended => None,
        }
    }

    fn connection_mut(&mut self) -> Option<&mut Connection> {
        match self {
            Self::Connected(connection) => Some(connection),
            Self::Free | Self::Connecting | Self::Ended => None,
        }
    }
}

impl Connection {
    fn following(&self) -> Option<&Following> {
        match &self.service {
            Service::Following(following) => Some(following),
            Service::Suspended(_) | Service::Resuming(_) => None,
        }
    }

    /// Returns what ends with the suspension.
    fn suspend(&mut self) -> Option<Service> {
        let goes_on = match &self.service {
            Service::Suspended(_) => return None,
            Service::Resuming(goes_on) => goes_on.clone(),
            // The collected events of a conjunction are discarded: it restarts from its beginning.
            Service::Following(following) => {
                is_stateless(&self.pattern).then(|| Arc::clone(&following.replayed))
            }
        };
        Some(mem::replace(&mut self.service, Service::Suspended(goes_on)))
    }
}

/// Error of connecting a consumer.
enum Refusal {
    AlreadyConnected,
    /// The proxy has ended.
    Ended,
    Subscription(String),
    Stream(JetStreamError),
}

impl From<JetStreamError> for Refusal {
    fn from(error: JetStreamError) -> Self {
        Self::Stream(error)
    }
}

impl SupplierProxy {
    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock()
    }

    fn connect(
        self: &Arc<Self>,
        consumer: &PushConsumer,
        qos: &ConsumerQos,
    ) -> Result<(), Refusal> {
        let limits = &self.shared.stream.config.filter;
        let pattern = Pattern::from_dependencies(&qos.dependencies, limits);
        let pattern = pattern.map_err(|error| Refusal::Subscription(error.to_string()))?;
        let of_rt_info = || name_of_rt_info(qos).filter(|_| self.replay.is_none());
        let name = self.name.clone().or_else(of_rt_info);
        self.begin()?;
        self.claim(name.as_deref());
        let recipient = Recipient::new(&self.shared, name.is_some(), consumer, &pattern);
        let recipient = Arc::new(recipient);
        let following = self.follow(&recipient, (name.as_deref(), None), &pattern);
        let connected = following.map_err(Refusal::Stream).and_then(|following| {
            self.set_connected(Connection {
                name: name.clone(),
                recipient,
                pattern,
                is_gateway: qos.is_gateway,
                service: Service::Following(following),
            })
        });
        if let Err(refusal) = connected {
            self.release(name.as_deref());
            return Err(refusal);
        }
        self.shared.observation.changed();
        Ok(())
    }

    /// The connection of a consumer begins. Nothing else may connect one until it has succeeded or failed.
    fn begin(&self) -> Result<(), Refusal> {
        let mut phase = self.phase();
        match *phase {
            Phase::Free => *phase = Phase::Connecting,
            Phase::Connecting | Phase::Connected(_) => return Err(Refusal::AlreadyConnected),
            Phase::Ended => return Err(Refusal::Ended),
        }
        Ok(())
    }

    /// Ends the proxy that has the name.
    fn claim(self: &Arc<Self>, name: Option<&str>) {
        let Some(name) = name else { return };
        let before = self.shared.names.claim(name, Arc::clone(self) as _);
        if let Some(before) = before.filter(|it| it.number() != self.number) {
            before.end();
        }
    }

    fn set_connected(&self, connection: Connection) -> Result<(), Refusal> {
        let mut phase = self.phase();
        match *phase {
            Phase::Connecting => *phase = Phase::Connected(connection),
            _ => return Err(Refusal::Ended),
        }
        Ok(())
    }

    /// A connection has failed: another one may begin, unless the proxy has ended.
    fn release(&self, name: Option<&str>) {
        if let Some(name) = name {
            self.shared.names.release_if(name, self.number);
        }
        let mut phase = self.phase();
        if let Phase::Connecting = *phase {
            *phase = Phase::Free;
        }
    }

    fn resume(self: &Arc<Self>) -> Result<(), JetStreamError> {
        let mut phase = self.phase();
        let Some(connection) = phase.connection_mut() else {
            return Ok(());
        };
        let Service::Suspended(goes_on) = &connection.service else {
            return Ok(());
        };
        let goes_on = goes_on.clone();
        connection.service = Service::Resuming(goes_on.clone());
        let (name, pattern) = (connection.name.clone(), connection.pattern.clone());
        let recipient = Arc::clone(&connection.recipient);
        drop(phase);
        let following = self.follow(&recipient, (name.as_deref(), goes_on.clone()), &pattern);
        let mut phase = self.phase();
        let (service, resumed) = match following {
            Ok(following) => (Service::Following(following), Ok(())),
            Err(error) => (Service::Suspended(goes_on), Err(error)),
        };
        // It may have been suspended again, or ended.
        match phase.connection_mut().map(|it| &mut it.service) {
            Some(current @ Service::Resuming(_)) => *current = service,
            _ => drop((phase, service)),
        }
        resumed
    }

    fn follow(
        self: &Arc<Self>,
        recipient: &Arc<Recipient>,
        (name, replayed): (Option<&str>, Option<Arc<Replayed>>),
        pattern: &Pattern,
    ) -> Result<Following, JetStreamError> {
        let proxy = Arc::downgrade(self);
        let gone = move || {
            if let Some(proxy) = proxy.upgrade() {
                tracing::warn!(target: "orbium::event", consumer = proxy.number, "consumer disconnected: it cannot be reached");
                proxy.end();
            }
        };
        let recipient = Arc::clone(recipient);
        let (deliver, open) = if is_stateless(pattern) {
            let deliver = move |set: &[_]| recipient.receive(set);
            (Deliver::Sets(Arc::new(deliver)), 0)
        } else {
            let push: Arc<PushSet> = Arc::new(move |set| recipient.push_as_one(set));
            let max_bytes = self.shared.stream.config.conjunction_bytes;
            let correlator = Correlator::new(pattern, max_bytes, push);
            (
                Deliver::Correlated(Box::new(correlator)),
                most_open(pattern),
            )
        };
        let stream = &self.shared.stream;
        let subscription = Subscription {
            name,
            subjects: subjects_of(pattern, &stream.config.stream),
            open,
            replay: self.replay,
            replayed,
            is_connection: false,
        };
        follow(stream, subscription, deliver, Box::new(gone))
    }
}

impl Proxy for SupplierProxy {
    fn state(&self) -> Option<ConsumerState> {
        let phase = self.phase();
        let connection = phase.connection()?;
        let progress = connection.following().map(|it| &it.progress);
        let recipient = &connection.recipient;
        Some(ConsumerState {
            id: self.number,
            delivered: recipient.delivered.load(Ordering::Relaxed),
            discarded: progress.map_or(0, |it| it.discarded.load(Ordering::Relaxed)),
            queued: progress.map_or(0, |it| it.pending.load(Ordering::Relaxed)),
            is_suspended: progress.is_none(),
            is_suspect: recipient.is_suspect(),
            ..ConsumerState::default()
        })
    }

    fn subscription(&self) -> Option<Pattern> {
        let phase = self.phase();
        let connection = phase.connection().filter(|it| !it.is_gateway)?;
        Some(connection.pattern.clone())
    }

    fn end(&self) {
        self.shared.consumers.remove(self.number);
        self.place.end();
        let before = mem::replace(&mut *self.phase(), Phase::Ended);
        let name = before.connection().and_then(|it| it.name.as_deref());
        if let Some(name) = name {
            self.shared.names.release_if(name, self.number);
        }
        self.shared.observation.changed();
    }

    fn number(&self) -> u64 {
        self.number
    }
}

impl ProxyPushSupplierServant for ProxyObject {
    fn connect_push_consumer(
        &self,
        _: &Call<'_>,
        push_consumer: Option<&PushConsumer>,
        qos: &ConsumerQos,
    ) -> Result<(), AlreadyConnectedOrTypeErrorError> {
        let nil = SystemException::from(ExceptionKind::BadParam);
        let consumer = push_consumer.ok_or(nil)?;
        let connected = self.0.connect(consumer, qos);
        connected.map_err(|refusal| match refusal {
            Refusal::AlreadyConnected => AlreadyConnected {}.into(),
            Refusal::Ended => SystemException::from(ExceptionKind::ObjectNotExist).into(),
            Refusal::Subscription(why) => {
                tracing::warn!(target: "orbium::event", %why, "subscription refused");
                TypeError {}.into()
            }
            Refusal::Stream(error) => SystemException::from(error).into(),
        })
    }

    /// Events wait in the stream until the connection is resumed.
    fn suspend_connection(&self, _: &Call<'_>) -> Result<(), SystemException> {
        let ended = self.0.phase().connection_mut().map(Connection::suspend);
        drop(ended);
        Ok(())
    }

    fn resume_connection(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(self.0.resume()?)
    }
}

impl PushSupplierServant for ProxyObject {
    fn disconnect_push_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.end();
        Ok(())
    }
}

/// The name of consumers of TAO, which cannot set one: the operation of the consumer in a schedule.
fn name_of_rt_info(qos: &ConsumerQos) -> Option<String> {
    let mut rt_infos = qos.dependencies.iter().map(|it| it.rt_info);
    let rt_info = rt_infos.find(|it| *it != 0)?;
    Some(format!("rt_info_{rt_info}"))
}

/// The subjects of the events that a pattern may pass: the server filters by them.
fn subjects_of(pattern: &Pattern, stream: &str) -> String {
    match pattern {
        Pattern::Leaf { r#type, source } => subject_filter(stream, *r#type, *source),
        _ => subjects(stream),
    }
}
