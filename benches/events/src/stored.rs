// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events per second of a persistent channel.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use orbium::{Interface as _, Orb};
use orbium_event::Pattern;
use orbium_event::rtec::orbium_event::DurableConsumerAdmin;
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event_jetstream::{connect_consumer, connect_supplier};

use crate::rate::{Counter, per_second};
use crate::{Outcome, StoredArgs, event, orb, show};

/// Events that are pushed together.
const SET: usize = 250;

pub(crate) fn run(args: &StoredArgs) -> Outcome {
    let orb = orb()?;
    let channel: EventChannel = orb.resolve(&args.channel)?;
    let (mut stored, mut delivered) = (Vec::new(), Vec::new());
    for _ in 0..args.runs.get() {
        // The stream still contains the events of other runs.
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let source = i32::try_from(now.as_millis() & 0x3fff_ffff)? + 1;
        stored.push(store(&channel, source, args)?);
        delivered.push(deliver(&orb, &channel, source, args)?);
    }
    show("stored", "events/s", stored);
    show("delivered to one consumer", "events/s", delivered);
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a figure to read")]
fn store(channel: &EventChannel, source: i32, args: &StoredArgs) -> Outcome<f64> {
    let supplier = connect_supplier(channel)?;
    let begin = Instant::now();
    let mut left = args.events.get();
    while left > 0 {
        let count = left.min(SET);
        let set: Vec<_> = (0..count)
            .map(|_| {
                let mut event = event(args.bytes);
                event.header.source = source;
                event
            })
            .collect();
        supplier.push(&set)?;
        left -= count;
    }
    let took = begin.elapsed();
    supplier.disconnect()?;
    Ok(args.events.get() as f64 / took.as_secs_f64())
}

fn deliver(orb: &Orb, channel: &EventChannel, source: i32, args: &StoredArgs) -> Outcome<f64> {
    let name = format!("bench-{source}");
    let (counter, end) = Counter::new(args.events.get());
    let counted = Arc::clone(&counter);
    let begin = Instant::now();
    let display = (name.as_str(), &Pattern::of(16, source));
    let consumer = connect_consumer(orb, channel, display, move |_| {
        counted.count();
        Ok(())
    })?;
    let rate = per_second(args.events.get(), begin, &end)?;
    consumer.disconnect()?;
    let admin = channel.for_consumers()?.ok_or("no admin")?;
    let admin: DurableConsumerAdmin = admin.as_object().narrow()?;
    admin.forget(&name)?;
    Ok(rate)
}
