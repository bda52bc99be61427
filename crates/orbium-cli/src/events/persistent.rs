// SPDX-License-Identifier: MIT OR Apache-2.0
//! Commands on channels that store their events.

use orbium::{Interface as _, Orb};
use orbium_event::persistent::{
    Delivery, connect_consumer, connect_replaying_consumer, connect_supplier,
};
use orbium_event::rtec::orbium_event::DurableConsumerAdmin;
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{Pattern, RemoteError, Replay};
use serde_json::{Value, json};

use super::described::described;
use super::printer::{ConsumerPrinter, Printer};
use crate::failure::Failure;
use crate::serving::{Ending, because};

/// The position at which a consumer begins.
#[derive(Clone, Copy)]
pub(super) enum Begin<'a> {
    /// The position of the last consumer of that name.
    AtName(&'a str),
    At(Replay),
}

/// Prints each event before the channel gets its acknowledgement.
pub(super) fn tail(
    (orb, channel): (&Orb, &EventChannel),
    (begin, pattern): (Begin<'_>, &Pattern),
    count: Option<u64>,
) -> Result<(), Failure> {
    let (printer, end) = Printer::new(count);
    let printed = ConsumerPrinter(printer.clone());
    let print = move |event: &Event| printed.print(&line(event).to_string());
    let consumer = match begin {
        Begin::AtName(name) => connect_consumer(orb, channel, (name, pattern), print),
        Begin::At(replay) => connect_replaying_consumer(orb, channel, (replay, pattern), print),
    };
    let consumer = consumer.map_err(|error| match error {
        RemoteError::Refused => Failure::because(
            "the channel refuses the name: it stores no events, or the name is none",
        ),
        error => because(error),
    })?;
    Ending::new()?.then(move || printer.end())?;
    end.then_disconnect(orb, || consumer.is_connected(), || consumer.disconnect())
}

fn line(event: &Event) -> Value {
    let delivery = Delivery::of(event);
    let mut line = described(event);
    if let Value::Object(members) = &mut line {
        members.insert("sequence".to_owned(), json!(delivery.id.sequence));
        members.insert("delivery".to_owned(), json!(delivery.number));
        if delivery.is_replayed {
            members.insert("replayed".to_owned(), json!(true));
        }
    }
    line
}

/// Whether a channel stores its events.
pub(super) fn stores_events(channel: &EventChannel) -> Result<bool, Failure> {
    let Some(admin) = channel.for_consumers().map_err(because)? else {
        return Ok(false);
    };
    let is_durable = admin.as_object().is_a(DurableConsumerAdmin::REPOSITORY_ID);
    is_durable.map_err(because)
}

/// Returns when the event is stored.
pub(super) fn push(channel: &EventChannel, event: &Event) -> Result<(), Failure> {
    let supplier = connect_supplier(channel).map_err(because)?;
    supplier
        .push(std::slice::from_ref(event))
        .map_err(because)?;
    supplier.disconnect().map_err(because)
}
