// SPDX-License-Identifier: MIT OR Apache-2.0
//! The consumer side: the admin, and a proxy for each consumer.

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
                connection: Mutex::default(),
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
    connection: Mutex<Option<Connection>>,
}

/// Its object.
struct ProxyObject(Arc<SupplierProxy>);

struct Connection {
    name: Option<String>,
    recipient: Arc<Recipient>,
    pattern: Pattern,
    is_gateway: bool,
    /// `None` while it is suspended.
    following: Option<Following>,
    /// The position at which it continues after a suspension.
    suspended: Option<Arc<Replayed>>,
}

/// Error of connecting a consumer.
enum Refusal {
    AlreadyConnected,
    Subscription(String),
    Stream(JetStreamError),
}

impl From<JetStreamError> for Refusal {
    fn from(error: JetStreamError) -> Self {
        Self::Stream(error)
    }
}

impl SupplierProxy {
    fn connection(&self) -> MutexGuard<'_, Option<Connection>> {
        self.connection.lock()
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
        let mut connection = self.connection();
        if connection.is_some() {
            return Err(Refusal::AlreadyConnected);
        }
        if let Some(name) = &name {
            let before = self.shared.names.claim(name, Arc::clone(self) as _);
            if let Some(before) = before {
                before.end();
            }
        }
        let recipient = Recipient::new(&self.shared, name.is_some(), consumer, &pattern);
        let recipient = Arc::new(recipient);
        let following = self.follow(&recipient, (name.as_deref(), None), &pattern);
        if let (Err(_), Some(name)) = (&following, &name) {
            self.shared.names.release_if(name, self.number);
        }
        let following = following?;
        *connection = Some(Connection {
            name,
            recipient,
            pattern,
            is_gateway: qos.is_gateway,
            following: Some(following),
            suspended: None,
        });
        drop(connection);
        self.shared.observation.changed();
        Ok(())
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
            let correlator = Correlator::new(pattern, push);
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
        let connection = self.connection();
        let connection = connection.as_ref()?;
        let progress = connection.following.as_ref().map(|it| &it.progress);
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
        let connection = self.connection();
        let connection = connection.as_ref().filter(|it| !it.is_gateway)?;
        Some(connection.pattern.clone())
    }

    fn end(&self) {
        self.shared.consumers.remove(self.number);
        self.place.end();
        let connection = self.connection().take();
        if let Some(name) = connection.and_then(|it| it.name) {
            self.shared.names.release_if(&name, self.number);
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
            Refusal::Subscription(why) => {
                tracing::warn!(target: "orbium::event", %why, "subscription refused");
                TypeError {}.into()
            }
            Refusal::Stream(error) => SystemException::from(error).into(),
        })
    }

    /// Events wait in the stream until the connection is resumed.
    fn suspend_connection(&self, _: &Call<'_>) -> Result<(), SystemException> {
        if let Some(connection) = &mut *self.0.connection()
            && let Some(following) = connection.following.take()
        {
            // The collected events of a conjunction are discarded: it restarts from its beginning.
            let goes_on = is_stateless(&connection.pattern);
            connection.suspended = goes_on.then(|| Arc::clone(&following.replayed));
        }
        Ok(())
    }

    fn resume_connection(&self, _: &Call<'_>) -> Result<(), SystemException> {
        if let Some(connection) = &mut *self.0.connection()
            && connection.following.is_none()
        {
            let position = (connection.name.as_deref(), connection.suspended.clone());
            let (recipient, pattern) = (&connection.recipient, &connection.pattern);
            let following = self.0.follow(recipient, position, pattern)?;
            connection.following = Some(following);
        }
        Ok(())
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
