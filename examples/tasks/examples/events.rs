//! A supplier, a channel and two consumers, each of which could be a process of its own:
//! `cargo run --example events`.

use std::sync::mpsc;
use std::time::Duration;

use orbium::Orb;
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{
    Channel, ChannelConfig, Pattern, connect_consumer, connect_supplier, new_event,
};

// ANCHOR: types
const TEMPERATURE: i32 = 16;
const PRESSURE: i32 = 17;
// ANCHOR_END: types

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: channel
    let server = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    let channel = Channel::new(ChannelConfig::default());
    let reference = server.object_to_string(&channel.serve(&server, "EventService")?);
    // ANCHOR_END: channel

    let (line, lines) = mpsc::channel();
    let printed = line.clone();
    // ANCHOR: consumer
    let orb = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    let channel: EventChannel = orb.resolve(&reference)?;
    let temperatures = Pattern::of(TEMPERATURE, 0);
    let consumer = connect_consumer(&orb, &channel, &temperatures, move |events: &[Event]| {
        let (header, data) = (&events[0].header, &events[0].data);
        let value: f64 = data.any_value.extract().unwrap_or(f64::NAN);
        let _ = printed.send(format!("{} of {}: {value}", header.r#type, header.source));
    })?;
    // ANCHOR_END: consumer

    // ANCHOR: supplier
    let supplier = connect_supplier(&channel, &[(TEMPERATURE, 1), (PRESSURE, 1)])?;
    let mut event = new_event(TEMPERATURE, 1);
    event.data.any_value = 21.5.into();
    supplier.push(&[event])?;
    // ANCHOR_END: supplier
    println!("{}", lines.recv()?);

    // ANCHOR: pattern
    let pair = Pattern::Conjunction(vec![Pattern::of(TEMPERATURE, 1), Pattern::of(PRESSURE, 1)]);
    let late = Pattern::Deadline(Duration::from_secs(60));
    let pattern = Pattern::Disjunction(vec![pair, late]);
    // ANCHOR_END: pattern
    consumer.disconnect()?;
    let pairs = connect_consumer(&orb, &channel, &pattern, move |events: &[Event]| {
        let types: Vec<_> = events.iter().map(|it| it.header.r#type).collect();
        let _ = line.send(format!("{} and {} together", types[0], types[1]));
    })?;
    for r#type in [TEMPERATURE, TEMPERATURE, PRESSURE] {
        supplier.push(&[new_event(r#type, 1)])?;
    }
    println!("{}", lines.recv()?);
    pairs.disconnect()?;
    supplier.disconnect()?;
    Ok(())
}
