// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connections of a gateway, while both ends are reachable.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium::{Call, Orb, SystemException, poa::PoaError, reference::ResolveError};
use orbium_event::rtec::rtec_event_channel_admin::{
    ConsumerQos, EventChannel, Observer, ObserverServant, SupplierQos,
};
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{
    Pattern, RemoteConsumer, RemoteError, RemoteSupplier, connect_gateway_consumer,
    connect_gateway_supplier,
};

use crate::gateway_config::{End, Forwards, GatewayConfig};
use crate::group::GroupSender;
use crate::sender::DatagramSender;
use crate::shared::{Headers, Shared, Task};

/// The number of a disjunction in a subscription.
const DISJUNCTION: i32 = 9;
/// The first type of applications: lower ones are designators.
const FIRST_APPLICATION_TYPE: i32 = 16;
/// A day, so that the next check is at a representable time.
const MAX_CHECK_PERIOD: Duration = Duration::from_secs(24 * 3600);
/// Maximum number of types and sources that a gateway subscribes to individually: with the
/// disjunction the default limit of a subscription's elements.
const MAX_HEADERS: usize = 1023;

/// The destination of events.
pub(crate) enum Target {
    Channel(String),
    Datagrams(DatagramSender),
    Group(GroupSender),
}

/// The ends and the state of a gateway.
pub(crate) struct Parts {
    pub(crate) orb: Orb,
    pub(crate) from: End,
    pub(crate) to: Target,
    pub(crate) config: GatewayConfig,
    pub(crate) shared: Arc<Shared>,
}

/// Reason why a connection ended, or was not established.
pub(crate) enum Failure {
    Resolve(ResolveError),
    Remote(RemoteError),
    /// The other channel refuses observers.
    NoObservers,
    /// A channel has disconnected the gateway.
    Disconnected,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resolve(error) => error.fmt(f),
            Self::Remote(error) => error.fmt(f),
            Self::NoObservers => f.write_str("the channel takes no observer"),
            Self::Disconnected => f.write_str("the channel has disconnected the gateway"),
        }
    }
}

impl From<RemoteError> for Failure {
    fn from(error: RemoteError) -> Self {
        Self::Remote(error)
    }
}

impl From<SystemException> for Failure {
    fn from(exception: SystemException) -> Self {
        Self::Remote(exception.into())
    }
}

impl From<PoaError> for Failure {
    fn from(error: PoaError) -> Self {
        Self::Remote(error.into())
    }
}

/// The connections to both ends.
pub(crate) struct Link<'p> {
    parts: &'p Parts,
    supplier: Option<RemoteSupplier>,
    observed: Option<(EventChannel, Observer, u32)>,
    subscribed: Option<(Headers, RemoteConsumer)>,
    /// Replaced subscriptions, for which events may still wait in the channel.
    replaced: Vec<RemoteConsumer>,
    /// Subscriptions that were replaced before the last check.
    ending: Vec<RemoteConsumer>,
}

impl<'p> Link<'p> {
    /// Connects to both ends.
    ///
    /// # Errors
    /// [`Failure`]; no connection remains then.
    pub(crate) fn connect(parts: &'p Parts) -> Result<Self, Failure> {
        let mut link = Self {
            parts,
            supplier: None,
            observed: None,
            subscribed: None,
            replaced: Vec::new(),
            ending: Vec::new(),
        };
        match link.begin() {
            Ok(()) => Ok(link),
            Err(failure) => {
                parts.shared.disconnected();
                link.disconnect();
                Err(failure)
            }
        }
    }

    fn begin(&mut self) -> Result<(), Failure> {
        let Parts { orb, from, to, .. } = self.parts;
        orb.root_poa().manager().activate()?;
        let observed = match to {
            Target::Datagrams(_) | Target::Group(_) => None,
            Target::Channel(reference) => {
                let channel = resolve(orb, reference)?;
                self.supplier = Some(connect_gateway_supplier(orb, &channel)?);
                Some(channel)
            }
        };
        self.parts.shared.connected();
        let End::Channel(_) = from else {
            return Ok(());
        };
        match (&self.parts.config.forwards, observed) {
            (Forwards::Pattern(pattern), _) => {
                let consumer = self.connect_consumer(pattern)?;
                self.subscribed = Some((Headers::new(), consumer));
            }
            (Forwards::Subscribed, None) => self.subscribe([(0, 0)].into())?,
            (Forwards::Subscribed, Some(channel)) => self.observe(channel)?,
        }
        Ok(())
    }

    fn observe(&mut self, channel: EventChannel) -> Result<(), Failure> {
        let shared = Arc::clone(&self.parts.shared);
        let root = self.parts.orb.root_poa();
        let observer: Observer = root.activate(Subscriptions(shared))?;
        match channel.append_observer(Some(&observer)) {
            Ok(handle) => {
                self.observed = Some((channel, observer, handle));
                Ok(())
            }
            Err(_) => {
                end_object(&self.parts.orb, &observer);
                Err(Failure::NoObservers)
            }
        }
    }

    fn connect_consumer(&self, pattern: &Pattern) -> Result<RemoteConsumer, Failure> {
        let End::Channel(reference) = &self.parts.from else {
            return Err(Failure::Disconnected);
        };
        let channel = resolve(&self.parts.orb, reference)?;
        let shared = Arc::clone(&self.parts.shared);
        let on_events = move |events: &[Event]| shared.offer(events);
        Ok(connect_gateway_consumer(
            &self.parts.orb,
            &channel,
            pattern,
            on_events,
        )?)
    }

    /// Replaces the subscription. The previous one ends a check period later, so that no event is
    /// missed; duplicates are dropped by a channel of orbium's.
    fn subscribe(&mut self, headers: Headers) -> Result<(), Failure> {
        if matches!(&self.subscribed, Some((present, _)) if *present == headers) {
            return Ok(());
        }
        let next = match pattern_of(&headers) {
            Some(pattern) => Some((headers, self.connect_consumer(&pattern)?)),
            None => None,
        };
        let previous = std::mem::replace(&mut self.subscribed, next);
        self.replaced.extend(previous.map(|(_, consumer)| consumer));
        Ok(())
    }

    /// Forwards events until the gateway ends.
    ///
    /// # Errors
    /// [`Failure`]: an end has failed.
    pub(crate) fn serve(&mut self, mut checked: impl FnMut()) -> Result<(), Failure> {
        let period = self.parts.config.check_period.min(MAX_CHECK_PERIOD);
        let mut check_at = Instant::now() + period;
        loop {
            match self.parts.shared.next(check_at) {
                Task::End => return Ok(()),
                Task::Subscribe(headers) => self.subscribe(headers)?,
                Task::Push(set) => self.push(&set)?,
                Task::Check => {
                    self.check()?;
                    self.end_replaced()?;
                    checked();
                    check_at = Instant::now() + period;
                }
            }
        }
    }

    fn push(&self, set: &[Event]) -> Result<(), Failure> {
        let pushed = match (&self.parts.to, &self.supplier) {
            (Target::Channel(_), Some(supplier)) => supplier.push(set).map_err(Failure::from),
            (Target::Channel(_), None) => Err(Failure::Disconnected),
            (Target::Datagrams(sender), _) => {
                // Datagrams may be lost; so may this one.
                let sent = set
                    .iter()
                    .filter(|event| sender.send(event).is_ok())
                    .count();
                self.parts.shared.pushed(sent, true);
                self.parts.shared.pushed(set.len() - sent, false);
                return Ok(());
            }
            (Target::Group(sender), _) => {
                // Packets may be lost; so may these.
                let is_sent = sender.send(set).is_ok();
                self.parts.shared.pushed(set.len(), is_sent);
                return Ok(());
            }
        };
        self.parts.shared.pushed(set.len(), pushed.is_ok());
        pushed
    }

    fn end_replaced(&mut self) -> Result<(), Failure> {
        for consumer in self.ending.drain(..) {
            consumer.disconnect()?;
        }
        std::mem::swap(&mut self.ending, &mut self.replaced);
        Ok(())
    }

    fn check(&self) -> Result<(), Failure> {
        let supplier = self.supplier.as_ref();
        let consumer = self.subscribed.as_ref().map(|(_, consumer)| consumer);
        let is_there = supplier.map_or(Ok(true), RemoteSupplier::is_connected)?
            && consumer.map_or(Ok(true), RemoteConsumer::is_connected)?;
        if is_there {
            Ok(())
        } else {
            Err(Failure::Disconnected)
        }
    }

    /// Ends the connections, as far as the ends are reachable.
    pub(crate) fn disconnect(self) {
        if let Some((channel, observer, handle)) = self.observed {
            let _ = channel.remove_observer(handle);
            end_object(&self.parts.orb, &observer);
        }
        let subscribed = self.subscribed.map(|(_, consumer)| consumer);
        let replaced = self.replaced.into_iter().chain(self.ending);
        for consumer in replaced.chain(subscribed) {
            let _ = consumer.disconnect();
        }
        if let Some(supplier) = self.supplier {
            let _ = supplier.disconnect();
        }
    }
}

fn resolve(orb: &Orb, reference: &str) -> Result<EventChannel, Failure> {
    orb.resolve(reference).map_err(Failure::Resolve)
}

fn end_object(orb: &Orb, observer: &Observer) {
    let root = orb.root_poa();
    if let Ok(id) = root.reference_to_id(observer) {
        let _ = root.deactivate(&id);
    }
}

/// Passes the subscriptions of the other channel's consumers to the gateway's thread.
struct Subscriptions(Arc<Shared>);

impl ObserverServant for Subscriptions {
    fn update_consumer(&self, _: &Call<'_>, sub: &ConsumerQos) -> Result<(), SystemException> {
        self.0.want(headers_of(sub));
        Ok(())
    }

    fn update_supplier(&self, _: &Call<'_>, _: &SupplierQos) -> Result<(), SystemException> {
        Ok(())
    }
}

/// The types and sources in a sum of subscriptions: a disjunction; its designator has their number.
fn headers_of(sums: &ConsumerQos) -> Headers {
    let mut headers = sums.dependencies.iter().map(|it| &it.event.header);
    let first = headers.next();
    let first = first.filter(|it| it.r#type != DISJUNCTION);
    let all = first.into_iter().chain(headers);
    let all = all.map(|it| (it.r#type, it.source));
    all.filter(|(r#type, _)| *r#type == 0 || *r#type >= FIRST_APPLICATION_TYPE)
        .collect()
}

/// `None` without subscriptions; every event if there are too many types and sources for a
/// subscription.
fn pattern_of(headers: &Headers) -> Option<Pattern> {
    let leaf = |(r#type, source): &(i32, i32)| Pattern::of(*r#type, *source);
    match headers.len() {
        0 => None,
        1 => headers.first().map(leaf),
        2..=MAX_HEADERS => Some(Pattern::Disjunction(headers.iter().map(leaf).collect())),
        _ => Some(Pattern::of(0, 0)),
    }
}

#[cfg(test)]
mod tests {
    use orbium_event::FilterLimits;

    use super::*;

    #[test]
    fn sums_are_types_and_sources_behind_a_disjunction() {
        let leaves = [(16, 1), (17, 0), (5, 0)].map(|(r#type, source)| Pattern::of(r#type, source));
        let sums = Pattern::Disjunction(leaves.to_vec()).to_qos();
        assert_eq!(headers_of(&sums), [(16, 1), (17, 0)].into());
        let nothing = Pattern::Disjunction(Vec::new()).to_qos();
        assert_eq!(pattern_of(&headers_of(&nothing)), None);
    }

    /// Regression: the channel refused the subscription, and the gateway reconnected repeatedly.
    #[test]
    fn more_types_than_a_subscription_may_have_are_all_of_them() {
        let pattern = |types| {
            let headers: Headers = (16..16 + types).map(|it| (it, 0)).collect();
            pattern_of(&headers).unwrap()
        };
        let limits = FilterLimits::default();
        let most = pattern(1023).to_qos();
        assert_eq!(most.dependencies.len(), limits.elements);
        assert!(Pattern::from_dependencies(&most.dependencies, &limits).is_ok());
        assert_eq!(pattern(1024), Pattern::of(0, 0));
    }
}
