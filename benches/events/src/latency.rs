// SPDX-License-Identifier: MIT OR Apache-2.0
//! The latency of one event at a time.

use std::sync::{Mutex, mpsc};
use std::time::Instant;

use orbium::{Call, Orb, SystemException};
use orbium_event::rtec::rtec_event_channel_admin::{ConsumerQos, EventChannel, ProxyPushSupplier};
use orbium_event::rtec::rtec_event_comm::{Event, PushConsumer, PushConsumerServant};
use orbium_event::{Pattern, connect_consumer, connect_supplier};

use crate::{Outcome, PATIENCE, RunArgs, event, median, orb, show};

/// Events before the first measured one.
const WARM_UP: usize = 500;

pub(crate) fn run(args: &RunArgs) -> Outcome {
    let orb = orb()?;
    let set = [event(args.bytes)];
    let mut ways: Vec<(&str, Way)> = Vec::new();
    if let Some([suppliers, consumers]) = args.relay.as_deref() {
        ways.push(("two calls", two_calls(&orb, suppliers, consumers)?));
    }
    if let Some(channel) = &args.channel {
        ways.push(("event", through_channel(&orb, channel)?));
    }
    let mut figures = vec![Vec::new(); ways.len()];
    // The paths alternate, so that disturbances affect both.
    for _ in 0..args.runs.get() {
        for ((_, way), figures) in ways.iter().zip(&mut figures) {
            figures.push(way.median(&set, args.events.get())?);
        }
    }
    for ((name, _), figures) in ways.iter().zip(figures) {
        show(name, "us", figures);
    }
    Ok(())
}

type Push = Box<dyn Fn(&[Event]) -> Result<(), SystemException>>;

/// A path from a supplier to a consumer.
struct Way {
    push: Push,
    arrived: mpsc::Receiver<Instant>,
}

impl Way {
    /// The median latency of successive events, in microseconds.
    fn median(&self, set: &[Event], events: usize) -> Outcome<f64> {
        let mut times = Vec::with_capacity(events);
        for number in 0..WARM_UP + events {
            let begin = Instant::now();
            (self.push)(set)?;
            let end = self.arrived.recv_timeout(PATIENCE)?;
            if number >= WARM_UP {
                times.push(end.duration_since(begin));
            }
        }
        Ok(median(times))
    }
}

/// Reports its calls.
struct Arrivals(Mutex<mpsc::Sender<Instant>>);

impl Arrivals {
    fn report(&self) {
        let now = Instant::now();
        if let Ok(send) = self.0.lock() {
            let _ = send.send(now);
        }
    }
}

impl PushConsumerServant for Arrivals {
    fn push(&self, _: &Call<'_>, _: &[Event]) -> Result<(), SystemException> {
        self.report();
        Ok(())
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}

fn through_channel(orb: &Orb, channel: &str) -> Outcome<Way> {
    let channel: EventChannel = orb.resolve(channel)?;
    let (send, arrived) = mpsc::channel();
    let arrivals = Arrivals(Mutex::new(send));
    connect_consumer(orb, &channel, &Pattern::of(16, 0), move |_| {
        arrivals.report();
    })?;
    let supplier = connect_supplier(&channel, &[(16, 1)])?;
    Ok(Way {
        push: Box::new(move |set| supplier.push(set)),
        arrived,
    })
}

fn two_calls(orb: &Orb, suppliers: &str, consumers: &str) -> Outcome<Way> {
    let (send, arrived) = mpsc::channel();
    let consumer: PushConsumer = orb.root_poa().activate(Arrivals(Mutex::new(send)))?;
    let proxy: ProxyPushSupplier = orb.resolve(consumers)?;
    proxy.connect_push_consumer(Some(&consumer), &ConsumerQos::default())?;
    let relay: PushConsumer = orb.resolve(suppliers)?;
    Ok(Way {
        push: Box::new(move |set| relay.push(set)),
        arrived,
    })
}
