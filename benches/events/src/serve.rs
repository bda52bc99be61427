// SPDX-License-Identifier: MIT OR Apache-2.0
//! The process of the channel.

use std::io::{self, Read};
use std::sync::{Arc, OnceLock};

use orbium::{
    Call, Interface, SystemException,
    lane::{Scheduling, set_thread_scheduling},
};
use orbium_event::rtec::rtec_event_channel_admin::{
    AlreadyConnected, AlreadyConnectedOrTypeErrorError, ConsumerQos, ProxyPushSupplier,
    ProxyPushSupplierServant,
};
use orbium_event::rtec::rtec_event_comm::{
    Event, PushConsumer, PushConsumerServant, PushSupplierServant,
};
use orbium_event::{Channel, ChannelConfig, CosHeader, Dispatching};
use orbium_sched::{Dispatching as Order, Entry, Queue, Table};

use crate::{Outcome, orb};

/// Native priorities of both queues, and of the threads that receive events: below the first queue,
/// which serves its consumer before an event is offered to the others.
pub(crate) const URGENT: i32 = 50;
const BACKGROUND: i32 = 10;
const RECEIVING: i32 = 30;

/// A queue for one consumer, and one for all others.
static SCHEDULE: Table = Table {
    entries: &[
        Entry::new("high", (0, 0, URGENT), 500_000, 0),
        Entry::new("low", (1, 0, BACKGROUND), 10_000_000, 0),
    ],
    queues: &[
        Queue {
            priority: URGENT,
            dispatching: Order::Static,
        },
        Queue {
            priority: BACKGROUND,
            dispatching: Order::Static,
        },
    ],
    ..Table::EMPTY
};

/// RT_Infos of the schedule.
pub(crate) const HIGH: i32 = 1;
pub(crate) const LOW: i32 = 2;

/// The dispatching of the options.
pub(crate) fn dispatching(reactive: bool, scheduled: bool) -> Dispatching {
    match (reactive, scheduled) {
        (true, _) => Dispatching::Reactive,
        (false, true) => Dispatching::Scheduled(&SCHEDULE),
        (false, false) => Dispatching::PerConsumer,
    }
}

pub(crate) fn run(dispatching: Dispatching) -> Outcome {
    if dispatching == Dispatching::Scheduled(&SCHEDULE)
        && let Err(error) = set_thread_scheduling(Scheduling::fifo(RECEIVING))
    {
        eprintln!("without native priorities: {error}");
    }
    // Its threads inherit the scheduling of this one.
    let orb = orb()?;
    let mut config = ChannelConfig {
        dispatching,
        soft: true,
        ..ChannelConfig::default()
    };
    // A run waits for all its events.
    config.queue.sets = 1 << 20;
    config.queue.bytes = 1 << 30;
    let channel = Channel::new(config);
    let header = CosHeader {
        r#type: 16,
        source: 1,
    };
    println!(
        "channel {}",
        orb.object_to_string(&channel.serve(&orb, "EventService")?)
    );
    println!(
        "cos {}",
        orb.object_to_string(&channel.serve_cos(&orb, "CosEventService", header)?)
    );
    let relay = Arc::new(Relay::default());
    let suppliers: PushConsumer = orb.root_poa().activate(Arc::clone(&relay))?;
    let consumers: ProxyPushSupplier = orb.root_poa().activate(Consumers(relay))?;
    println!(
        "relay {} {}",
        orb.object_to_string(&suppliers),
        orb.object_to_string(&consumers)
    );
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Forwards its arguments to its consumer: measures the cost of two calls.
#[derive(Default)]
struct Relay(OnceLock<PushConsumer>);

impl PushConsumerServant for Relay {
    fn push(&self, _: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        self.0.get().map_or(Ok(()), |consumer| consumer.push(data))
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}

/// The object to which the consumer of a relay connects.
struct Consumers(Arc<Relay>);

impl ProxyPushSupplierServant for Consumers {
    fn connect_push_consumer(
        &self,
        _: &Call<'_>,
        push_consumer: Option<&PushConsumer>,
        _: &ConsumerQos,
    ) -> Result<(), AlreadyConnectedOrTypeErrorError> {
        let consumer =
            push_consumer.ok_or(SystemException::from(orbium::ExceptionKind::BadParam))?;
        let object = consumer.as_object().with_one_connection(None);
        let connected = self.0.0.set(PushConsumer::from_object(object));
        connected.map_err(|_| AlreadyConnected {}.into())
    }

    fn suspend_connection(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    fn resume_connection(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}

impl PushSupplierServant for Consumers {
    fn disconnect_push_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}
