// SPDX-License-Identifier: MIT OR Apache-2.0
//! The public handle of a channel.

mod threads;

use std::sync::Arc;

use orbium_sched::{Repository, SchedError};

use crate::config::{ChannelConfig, ConnectError, Dispatching};
use crate::consumer_connection::Subscription;
use crate::delivery::consumer::Service;
use crate::delivery::serving::serve_in_context;
use crate::engine::Engine;
use crate::observers::{Observer, Sums};
use crate::peer::{Anonymous, Connection, OnEnd, Peer, Pulled, Sink};
use crate::selection::{Batches, ConsumerOptions};
use crate::statistics::ChannelStatistics;
use crate::subscription::filter::Filter;
use crate::subscription::pattern::Pattern;
use crate::supply::publication::Publication;
use crate::supply::publisher::Publisher;
use crate::thread::start;

/// An event channel. Cheap to clone; the channel and its servants end with the last clone.
///
/// Consumers and suppliers are in this process ([`subscribe`](Self::subscribe),
/// [`connect_supplier`](Self::connect_supplier)) or call from others ([`serve`](Self::serve)).
///
/// ```
/// use orbium_event::{Channel, ChannelConfig, Pattern, SharedEvent, new_event};
/// use std::sync::mpsc;
///
/// let channel = Channel::new(ChannelConfig::default());
/// let (send, received) = mpsc::channel();
/// let pattern = Pattern::of(16, 0);
/// let subscription = channel.subscribe(&pattern, move |events: &[SharedEvent]| {
///     let _ = send.send(events[0].header.source);
/// })?;
/// let supplier = channel.connect_supplier(&[(16, 7)])?;
/// supplier.push(&[new_event(16, 7)]);
/// assert_eq!(received.recv()?, 7);
/// # drop(subscription);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Channel {
    pub(crate) engine: Arc<Engine>,
}

impl Channel {
    /// A channel without peers. Its threads start when they are needed.
    #[must_use]
    pub fn new(config: ChannelConfig) -> Self {
        Self {
            engine: Arc::new(Engine::new(config, None)),
        }
    }

    /// The configuration of the channel.
    #[must_use]
    pub fn config(&self) -> &ChannelConfig {
        &self.engine.config
    }

    /// Connects a consumer of this process.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn subscribe(
        &self,
        pattern: &Pattern,
        sink: impl Sink,
    ) -> Result<Subscription, ConnectError> {
        self.subscribe_scheduled(pattern, 0, sink)
    }

    /// Connects a consumer of this process with the handle of its operation in the schedule of the
    /// channel, or 0. Channels that dispatch without a schedule ignore it.
    ///
    /// # Errors
    /// [`ConnectError`].
    ///
    /// ```
    /// use orbium_event::{Channel, ChannelConfig, Dispatching, Pattern, SharedEvent};
    /// use orbium_sched::{Dispatching as Order, Entry, Queue, Table};
    ///
    /// static SCHEDULE: Table = Table {
    ///     entries: &[Entry::new("Display::show", (0, 0, 20), 500_000, 10_000)],
    ///     queues: &[Queue { priority: 20, dispatching: Order::Deadline }],
    ///     ..Table::EMPTY
    /// };
    /// let channel = Channel::new(ChannelConfig {
    ///     dispatching: Dispatching::Scheduled(&SCHEDULE),
    ///     soft: true,
    ///     ..ChannelConfig::default()
    /// });
    /// let show = |events: &[SharedEvent]| println!("{} events", events.len());
    /// let subscription = channel.subscribe_scheduled(&Pattern::of(16, 0), 1, show)?;
    /// # drop(subscription);
    /// # Ok::<(), orbium_event::ConnectError>(())
    /// ```
    pub fn subscribe_scheduled(
        &self,
        pattern: &Pattern,
        rt_info: i32,
        sink: impl Sink,
    ) -> Result<Subscription, ConnectError> {
        let options = ConsumerOptions {
            rt_info,
            ..ConsumerOptions::default()
        };
        self.subscribe_with(pattern, options, Arc::new(sink), || {})
    }

    /// Connects a consumer of this process with a selection of events by their content, its own
    /// queue limits, or a notification of its end: `on_end` is called once when the connection
    /// ends, for whatever reason.
    ///
    /// ```
    /// use std::sync::{Arc, mpsc};
    /// use std::time::Instant;
    /// use orbium_event::{
    ///     Channel, ChannelConfig, ConsumerOptions, Pattern, QueueLimits, QueueOrder, Rank, SharedEvent, new_event,
    /// };
    ///
    /// let channel = Channel::new(ChannelConfig::default());
    /// let (send, received) = mpsc::channel();
    /// let sink = move |events: &[SharedEvent]| drop(send.send(events[0].header.source));
    /// // Those with a payload, by the first byte of it.
    /// let select = |event: &SharedEvent, _: Instant| {
    ///     let priority = i16::from(*event.data.payload.first()?);
    ///     Some(Rank { priority, ..Rank::default() })
    /// };
    /// let options = ConsumerOptions {
    ///     selection: Some(Arc::new(select)),
    ///     queue: Some(QueueLimits { order: QueueOrder::Priority, ..QueueLimits::default() }),
    ///     ..ConsumerOptions::default()
    /// };
    /// let subscription = channel.subscribe_with(&Pattern::Null, options, Arc::new(sink), || {})?;
    /// let supplier = channel.connect_supplier(&[])?;
    /// let mut event = new_event(16, 8);
    /// event.data.payload = vec![3];
    /// supplier.push(&[new_event(16, 7), event]);
    /// assert_eq!(received.recv()?, 8);
    /// # drop(subscription);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn subscribe_with(
        &self,
        pattern: &Pattern,
        options: ConsumerOptions,
        sink: Arc<dyn Sink>,
        on_end: impl FnOnce() + Send + 'static,
    ) -> Result<Subscription, ConnectError> {
        let qos = pattern.to_qos();
        let pattern = Pattern::from_dependencies(&qos.dependencies, &self.config().filter)?;
        let connection = Connection {
            peer: sink,
            is_gateway: false,
            on_end: Box::new(on_end),
        };
        let subscription = self.connect_consumer(pattern, options, connection)?;
        // It was paused for a replay.
        subscription.unpause();
        Ok(subscription)
    }

    /// Connects a consumer of this process that pulls its events by [`Subscription::pull`]; they
    /// wait in its queue until then. The channel pings `peer`, and notifies it when it disconnects
    /// the consumer.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::{Duration, Instant};
    /// use orbium_event::{Channel, ChannelConfig, ConsumerOptions, Pattern, Peer, new_event};
    ///
    /// struct Display;
    /// impl Peer for Display {}
    ///
    /// let channel = Channel::new(ChannelConfig::default());
    /// let (pattern, options) = (Pattern::of(16, 0), ConsumerOptions::default());
    /// let display = channel.subscribe_pulled(&pattern, options, Arc::new(Display), || {})?;
    /// let supplier = channel.connect_supplier(&[(16, 7)])?;
    /// supplier.push(&[new_event(16, 7)]);
    /// let events = display.pull(10, Instant::now() + Duration::from_secs(1))?;
    /// assert_eq!(events[0].header.source, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn subscribe_pulled(
        &self,
        pattern: &Pattern,
        options: ConsumerOptions,
        peer: Arc<dyn Peer>,
        on_end: impl FnOnce() + Send + 'static,
    ) -> Result<Subscription, ConnectError> {
        let qos = pattern.to_qos();
        let pattern = Pattern::from_dependencies(&qos.dependencies, &self.config().filter)?;
        self.connect_puller(pattern, options, peer, Box::new(on_end))
    }

    pub(crate) fn connect_puller(
        &self,
        pattern: Pattern,
        options: ConsumerOptions,
        peer: Arc<dyn Peer>,
        on_end: OnEnd,
    ) -> Result<Subscription, ConnectError> {
        let connection: Connection<dyn Sink> = Connection {
            peer: Arc::new(Pulled(peer)),
            is_gateway: false,
            on_end,
        };
        let options = ConsumerOptions {
            batches: Batches::default(),
            ..options
        };
        let subscription = self.connect(pattern, options, Service::Pulled, connection)?;
        // It was paused for a replay.
        subscription.unpause();
        Ok(subscription)
    }

    pub(crate) fn connect_consumer(
        &self,
        pattern: Pattern,
        options: ConsumerOptions,
        connection: Connection<dyn Sink>,
    ) -> Result<Subscription, ConnectError> {
        let engine = &self.engine;
        let place = match engine.config.dispatching {
            Dispatching::Scheduled(_) => Some(engine.dispatch.place(options.rt_info)?),
            _ => None,
        };
        if let Some(place) = place {
            self.start_dispatch_queue(place.queue)?;
        }
        if !options.batches.pacing.is_zero() {
            Engine::start_timers(&self.engine)?;
        }
        let service = Service::Pushed(place);
        let subscription = self.connect(pattern, options, service, connection)?;
        let (engine, consumer) = (Arc::downgrade(engine), Arc::clone(subscription.consumer()));
        match self.config().dispatching {
            Dispatching::PerConsumer => start("orbium-consumer", move || {
                Engine::serve_queue(&engine, &consumer);
            })?,
            Dispatching::Contexts => serve_in_context(engine, consumer)?,
            Dispatching::Reactive | Dispatching::Scheduled(_) => {}
        }
        Ok(subscription)
    }

    fn connect(
        &self,
        pattern: Pattern,
        options: ConsumerOptions,
        service: Service,
        connection: Connection<dyn Sink>,
    ) -> Result<Subscription, ConnectError> {
        self.start_control()?;
        if !Filter::new(&pattern).timers().is_empty() {
            Engine::start_timers(&self.engine)?;
        }
        let engine = &self.engine;
        let consumer = engine.add_consumer((pattern, options), service, connection)?;
        Ok(Subscription::new(engine, consumer))
    }

    /// Connects a supplier of this process that publishes events of these types and sources.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn connect_supplier(&self, published: &[(i32, i32)]) -> Result<Publisher, ConnectError> {
        let published = published.iter();
        let published = published.map(|(r#type, source)| Publication::of(*r#type, *source));
        self.connect_scheduled_supplier(&published.collect::<Vec<_>>())
    }

    /// Connects a supplier of this process with publications that name the operations of its events,
    /// for [`register_operations`](Self::register_operations).
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn connect_scheduled_supplier(
        &self,
        published: &[Publication],
    ) -> Result<Publisher, ConnectError> {
        let connection = Connection {
            peer: Arc::new(Anonymous) as Arc<dyn Peer>,
            is_gateway: false,
            on_end: Box::new(|| {}),
        };
        self.connect_publisher(published.to_vec(), connection)
    }

    pub(crate) fn connect_publisher(
        &self,
        published: Vec<Publication>,
        connection: Connection<dyn Peer>,
    ) -> Result<Publisher, ConnectError> {
        self.start_control()?;
        let Connection {
            peer,
            is_gateway,
            on_end,
        } = connection;
        let supplier = self
            .engine
            .add_supplier(peer, published, is_gateway, on_end)?;
        Ok(Publisher::new(&self.engine, supplier))
    }

    /// Registers the operations of the channel between the suppliers and consumers that are
    /// connected and have named their operations, so that none of them has to declare a dependency:
    /// an operation that dispatches to each consumer (`Display::show#dispatch`), with one for each
    /// further group and timer of its subscription. Conjunctions run at the lowest rate of their
    /// children, all other groups at the sum of the rates. Each takes
    /// [`ChannelConfig::dispatch_time`].
    ///
    /// A dispatching operation calls the consumer's, which therefore runs in its queue of the
    /// schedule; a consumer of another process, or with threads of its own, is supplied by it.
    ///
    /// To be called once, with the same peers in the configuration run and at run time, before the
    /// program is scheduled.
    ///
    /// # Errors
    /// `UnknownTask`: the repository does not have an operation that a peer has named. `PeriodTooLong`:
    /// a timer of a subscription exceeds 214.7 s.
    ///
    /// ```
    /// use orbium_event::{Channel, ChannelConfig, Pattern, Publication, SharedEvent};
    /// use orbium_sched::{Repository, Time, Timing};
    ///
    /// let mut repository = Repository::new();
    /// let timing = Timing { period: Time::from_millis(50), ..Timing::default() };
    /// repository.register("INS::update", timing)?;
    /// repository.create("Display::show")?;
    ///
    /// let channel = Channel::new(ChannelConfig::default());
    /// let update = Publication { rt_info: 1, ..Publication::of(16, 1) };
    /// let supplier = channel.connect_scheduled_supplier(&[update])?;
    /// let show = |_: &[SharedEvent]| {};
    /// let consumer = channel.subscribe_scheduled(&Pattern::of(16, 0), 2, show)?;
    /// channel.register_operations(&mut repository)?;
    /// assert!(repository.lookup("Display::show#dispatch").is_ok());
    /// # drop((supplier, consumer));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn register_operations(&self, repository: &mut Repository) -> Result<(), SchedError> {
        self.engine.register_operations(repository)
    }

    /// Registers an observer, calls it with the present sums, and returns its handle.
    ///
    /// # Errors
    /// [`ConnectError`]: the configured maximum is reached.
    pub fn append_observer(&self, observer: impl Observer) -> Result<u32, ConnectError> {
        self.start_control()?;
        let observer: Arc<dyn Observer> = Arc::new(observer);
        let handle = self.engine.append_observer(&observer);
        handle.ok_or(ConnectError::TooMany)
    }

    /// Removes an observer; false if there is none with this handle.
    pub fn remove_observer(&self, handle: u32) -> bool {
        self.engine.remove_observer(handle)
    }

    /// The sums of the consumers' subscriptions, and of the suppliers' publications.
    #[must_use]
    pub fn sums(&self) -> Sums {
        self.engine.sums()
    }

    /// The counts of the channel.
    #[must_use]
    pub fn statistics(&self) -> ChannelStatistics {
        self.engine.statistics()
    }

    /// Disconnects every peer, and notifies it. The channel refuses all peers from then on.
    pub fn destroy(&self) {
        self.engine.destroy();
    }
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Channel")
            .field("statistics", &self.statistics())
            .finish_non_exhaustive()
    }
}
