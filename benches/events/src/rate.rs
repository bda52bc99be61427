// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events per second.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Instant;

use orbium::{Any, Call, Orb, SystemException};
use orbium_event::cos_event::cos_event_channel_admin::EventChannel as CosChannel;
use orbium_event::cos_event::cos_event_comm::{
    DisconnectedError, PushConsumer, PushConsumerServant,
};
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::{Pattern, connect_consumer, connect_supplier};

use crate::{Outcome, PATIENCE, RunArgs, event, orb, show};

pub(crate) fn run(args: &RunArgs) -> Outcome {
    let orb = orb()?;
    let mut figures = Vec::new();
    for _ in 0..args.runs.get() {
        figures.push(match (&args.channel, &args.cos) {
            (Some(channel), _) => real_time(&orb, channel, args)?,
            (None, Some(channel)) => cos(&orb, channel, args)?,
            (None, None) => return Err("--channel or --cos".into()),
        });
    }
    show("rate", "events/s", figures);
    Ok(())
}

/// Counts events, and reports the last.
pub(crate) struct Counter {
    left: AtomicUsize,
    end: Mutex<mpsc::Sender<Instant>>,
}

impl Counter {
    pub(crate) fn new(events: usize) -> (Arc<Self>, mpsc::Receiver<Instant>) {
        let (send, received) = mpsc::channel();
        let counter = Self {
            left: AtomicUsize::new(events),
            end: Mutex::new(send),
        };
        (Arc::new(counter), received)
    }

    pub(crate) fn count(&self) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1
            && let Ok(end) = self.end.lock()
        {
            let _ = end.send(Instant::now());
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure to read")]
pub(crate) fn per_second(
    events: usize,
    begin: Instant,
    end: &mpsc::Receiver<Instant>,
) -> Outcome<f64> {
    let end = end.recv_timeout(PATIENCE)?;
    Ok(events as f64 / end.duration_since(begin).as_secs_f64())
}

fn real_time(orb: &Orb, channel: &str, args: &RunArgs) -> Outcome<f64> {
    let channel: EventChannel = orb.resolve(channel)?;
    let (counter, end) = Counter::new(args.events.get());
    let consumer = connect_consumer(orb, &channel, &Pattern::of(16, 0), move |events| {
        events.iter().for_each(|_| counter.count());
    })?;
    let supplier = connect_supplier(&channel, &[(16, 1)])?;
    let set = [event(args.bytes)];
    let begin = Instant::now();
    for _ in 0..args.events.get() {
        supplier.push(&set)?;
    }
    let rate = per_second(args.events.get(), begin, &end)?;
    supplier.disconnect()?;
    consumer.disconnect()?;
    Ok(rate)
}

impl PushConsumerServant for Counter {
    fn push(&self, _: &Call<'_>, _: &Any) -> Result<(), DisconnectedError> {
        self.count();
        Ok(())
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}

fn cos(orb: &Orb, channel: &str, args: &RunArgs) -> Outcome<f64> {
    let channel: CosChannel = orb.resolve(channel)?;
    let (counter, end) = Counter::new(args.events.get());
    let consumer: PushConsumer = orb.root_poa().activate(counter)?;
    let consumers = channel.for_consumers()?.ok_or("no admin")?;
    let push = consumers.obtain_push_supplier()?.ok_or("no proxy")?;
    push.connect_push_consumer(Some(&consumer))?;
    let suppliers = channel.for_suppliers()?.ok_or("no admin")?;
    let supplier = suppliers.obtain_push_consumer()?.ok_or("no proxy")?;
    supplier.connect_push_supplier(None)?;
    let any = Any::new(&vec![7u8; args.bytes])?;
    let begin = Instant::now();
    for _ in 0..args.events.get() {
        supplier.push(&any)?;
    }
    let rate = per_second(args.events.get(), begin, &end)?;
    supplier.disconnect_push_consumer()?;
    push.disconnect_push_supplier()?;
    Ok(rate)
}
