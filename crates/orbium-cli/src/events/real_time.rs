// SPDX-License-Identifier: MIT OR Apache-2.0
//! Commands on real-time event channels.

use std::fmt::Write as _;

use orbium::{Interface as _, Orb};
use orbium_event::rtec::orbium_event::MonitoredChannel;
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{
    Pattern, connect_counting_consumer, connect_replaying_consumer, connect_supplier, new_event,
};
use serde_json::json;

use super::args::{PushArgs, TailArgs};
use super::described::described;
use super::persistent::{self, Begin};
use super::printer::{ConsumerPrinter, Printer};
use crate::failure::Failure;
use crate::output;
use crate::serving::{Ending, because};

pub(super) fn tail(args: &TailArgs, (orb, channel): (&Orb, &EventChannel)) -> Result<(), Failure> {
    if args.filter.is_some() {
        return Err(Failure::wrong_usage(
            "--filter is for notification channels",
        ));
    }
    let pattern = Pattern::of(args.header.r#type, args.header.source);
    if let Some(name) = &args.name {
        let begin = Begin::AtName(name);
        return persistent::tail((orb, channel), (begin, &pattern), args.count);
    }
    if let Some(replay) = args.replay
        && persistent::stores_events(channel)?
    {
        let begin = Begin::At(replay);
        return persistent::tail((orb, channel), (begin, &pattern), args.count);
    }
    let (printer, end) = Printer::new(args.count);
    let printed = ConsumerPrinter(printer.clone());
    let on_events = move |set: &[Event], mut dropped| {
        for event in set {
            let mut line = described(event);
            if dropped > 0 {
                line["dropped"] = json!(std::mem::take(&mut dropped));
            }
            // It fails when printing has ended.
            let _ = printed.print(&line.to_string());
        }
    };
    let consumer = match args.replay {
        Some(replay) => {
            let replayed = (replay, &pattern);
            connect_replaying_consumer(orb, channel, replayed, move |set| on_events(set, 0))
        }
        None => connect_counting_consumer(orb, channel, (&pattern, args.rt_info), on_events),
    };
    let consumer = consumer.map_err(because)?;
    Ending::new()?.then(move || printer.end())?;
    end.then_disconnect(orb, || consumer.is_connected(), || consumer.disconnect())
}

pub(super) fn push(args: &PushArgs, channel: &EventChannel) -> Result<(), Failure> {
    if args.json.is_some() {
        return Err(Failure::wrong_usage("--json is for notification channels"));
    }
    let header = (args.header.r#type, args.header.source);
    let mut event = new_event(header.0, header.1);
    event.header.ttl = args.ttl;
    if let Some(text) = &args.text {
        event.data.any_value = text.as_str().into();
    }
    if let Some(payload) = &args.payload {
        event.data.payload = payload.clone().into_bytes();
    }
    if persistent::stores_events(channel)? {
        return persistent::push(channel, &event);
    }
    let supplier = connect_supplier(channel, &[header]).map_err(because)?;
    supplier.push(&[event]).map_err(because)?;
    // The push has no reply. The channel serves requests of a connection in order.
    supplier.flush().map_err(because)?;
    supplier.disconnect().map_err(because)
}

pub(super) fn stat(channel: &EventChannel, as_json: bool) -> Result<(), Failure> {
    let monitored: MonitoredChannel = channel.as_object().narrow().map_err(|error| {
        Failure::because(format!("not a channel of orbium's, which counts: {error}"))
    })?;
    let state = monitored.state().map_err(because)?;
    if as_json {
        let consumers = state.consumers.iter().map(|it| {
            json!({
                "id": it.id, "delivered": it.delivered, "discarded": it.discarded,
                "suspended": it.suspended, "lost": it.lost, "queued": it.queued,
                "is_suspended": it.is_suspended, "is_suspect": it.is_suspect,
            })
        });
        let consumers: Vec<_> = consumers.collect();
        return output::print_json(&json!({
            "received": state.received, "refused": state.refused,
            "dropped_consumers": state.dropped_consumers,
            "refused_priorities": state.refused_priorities, "suppliers": state.suppliers,
            "consumers": consumers,
        }));
    }
    let mut text = format!(
        "{} events received, {} refused; {} suppliers, {} consumers, {} consumers dropped\n",
        state.received,
        state.refused,
        state.suppliers,
        state.consumers.len(),
        state.dropped_consumers
    );
    if state.refused_priorities > 0 {
        let _ = writeln!(
            text,
            "queues without their native priority, which the host refused: {}",
            state.refused_priorities
        );
    }
    for it in &state.consumers {
        let is = match (it.is_suspect, it.is_suspended) {
            (true, _) => ", suspect",
            (_, true) => ", suspended",
            _ => "",
        };
        let _ = writeln!(
            text,
            "consumer {}: {} delivered, {} waiting, {} discarded, {} suspended, {} lost{is}",
            it.id, it.delivered, it.queued, it.discarded, it.suspended, it.lost
        );
    }
    output::print(&text)
}
