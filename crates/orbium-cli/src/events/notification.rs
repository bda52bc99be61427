// SPDX-License-Identifier: MIT OR Apache-2.0
//! Commands on notification channels.

use std::fmt::Write as _;

use orbium::{Any, Interface as _, Orb, SystemException, cdr::Typed as _};
use orbium_dynamic::{JsonOptions, from_json, to_json};
use orbium_notification::idl::cos_notification::{EventType, StructuredEvent};
use orbium_notification::idl::cos_notify_channel_admin::{
    ClientType, EventChannel, StructuredProxyPushConsumer, StructuredProxyPushSupplier,
};
use orbium_notification::idl::cos_notify_comm::StructuredPushConsumer;
use orbium_notification::idl::cos_notify_filter::{ConstraintExp, Filter};
use orbium_notification::idl::orbium_notification::{
    ChannelState, DurableConsumerAdmin, MonitoredChannel,
};
use orbium_notification::{StructuredConsumer, structured_event};
use serde_json::json;

use super::args::{HeaderArgs, PushArgs, TailArgs};
use super::printer::Printer;
use crate::failure::Failure;
use crate::object::given::text;
use crate::output;
use crate::serving::{Ending, because};

/// Prints structured events, a line of JSON each.
pub(super) fn tail(args: &TailArgs, (orb, channel): (&Orb, &EventChannel)) -> Result<(), Failure> {
    refuse_headers(&args.header)?;
    if args.rt_info != 0 {
        return Err(Failure::wrong_usage("--rt-info is for event channels"));
    }
    let proxy = match &args.name {
        Some(name) => durable_proxy(channel, name)?,
        None => proxy_supplier(channel)?,
    };
    if let Some(constraint) = &args.filter {
        let filter = filter(channel, constraint)?;
        proxy.add_filter(Some(&filter)).map_err(because)?;
    }
    let root = orb.root_poa();
    root.manager().activate().map_err(because)?;
    let (printer, end) = Printer::new(args.count);
    let consumer = root.activate(printing(printer.clone()));
    let consumer: StructuredPushConsumer = consumer.map_err(because)?;
    let connected = proxy.connect_structured_push_consumer(Some(&consumer));
    connected.map_err(because)?;
    Ending::new()?.then(move || printer.end())?;
    end.then_disconnect(
        orb,
        || Ok(!proxy.as_object().non_existent()?),
        || proxy.disconnect_structured_push_supplier(),
    )
}

fn refuse_headers(header: &HeaderArgs) -> Result<(), Failure> {
    match (header.r#type, header.source) {
        (0, 0) => Ok(()),
        _ => Err(Failure::wrong_usage(
            "--type and --source are for event channels",
        )),
    }
}

fn nil(what: &str) -> Failure {
    Failure::because(format!("the channel returned no {what}"))
}

fn proxy_supplier(channel: &EventChannel) -> Result<StructuredProxyPushSupplier, Failure> {
    let admin = channel.default_consumer_admin().map_err(because)?;
    let admin = admin.ok_or_else(|| nil("admin"))?;
    let obtained = admin.obtain_notification_push_supplier(ClientType::StructuredEvent);
    let proxy = obtained.map_err(because)?.result;
    let proxy = proxy.ok_or_else(|| nil("proxy"))?;
    proxy.as_object().narrow().map_err(because)
}

/// A proxy that continues where the last consumer of that name ended.
fn durable_proxy(
    channel: &EventChannel,
    name: &str,
) -> Result<StructuredProxyPushSupplier, Failure> {
    let admin = channel.default_consumer_admin().map_err(because)?;
    let admin = admin.ok_or_else(|| nil("admin"))?;
    let admin: DurableConsumerAdmin = admin.as_object().narrow().map_err(|error| {
        Failure::because(format!(
            "the channel refuses the name: it stores no events: {error}"
        ))
    })?;
    let proxy = admin.obtain_durable_push_supplier(name).map_err(because)?;
    proxy.ok_or_else(|| nil("proxy"))
}

fn filter(channel: &EventChannel, constraint: &str) -> Result<Filter, Failure> {
    let factory = channel.default_filter_factory().map_err(because)?;
    let factory = factory.ok_or_else(|| nil("factory of filters"))?;
    let filter = factory.create_filter("EXTENDED_TCL").map_err(because)?;
    let filter = filter.ok_or_else(|| nil("filter"))?;
    let added = filter.add_constraints(&[ConstraintExp {
        event_types: vec![EventType {
            domain_name: "*".to_owned(),
            type_name: "*".to_owned(),
        }],
        constraint_expr: constraint.to_owned(),
    }]);
    added.map_err(because)?;
    Ok(filter)
}

/// The consumer of `tail`: an event is printed before the channel gets the reply.
fn printing(printer: Printer) -> StructuredConsumer {
    let disconnected = printer.clone();
    let print = move |event: &StructuredEvent| {
        let any = Any::new(event).map_err(SystemException::from)?;
        let line = to_json(&any, &JsonOptions::default());
        let line = line.unwrap_or_else(|error| json!({ "error": error.to_string() }).to_string());
        printer.print(&line)
    };
    StructuredConsumer::new(print).on_disconnect(move || disconnected.disconnected())
}

/// Pushes a structured event.
pub(super) fn push(args: &PushArgs, channel: &EventChannel) -> Result<(), Failure> {
    refuse_headers(&args.header)?;
    if args.payload.is_some() {
        return Err(Failure::wrong_usage("--payload is for event channels"));
    }
    let event = event(args)?;
    let admin = channel.default_supplier_admin().map_err(because)?;
    let admin = admin.ok_or_else(|| nil("admin"))?;
    let obtained = admin.obtain_notification_push_consumer(ClientType::StructuredEvent);
    let proxy = obtained.map_err(because)?.result;
    let proxy = proxy.ok_or_else(|| nil("proxy"))?;
    let proxy: StructuredProxyPushConsumer = proxy.as_object().narrow().map_err(because)?;
    proxy
        .connect_structured_push_supplier(None)
        .map_err(because)?;
    let pushed = proxy.push_structured_event(&event).map_err(because);
    let disconnected = proxy.disconnect_structured_push_consumer();
    pushed.and(disconnected.map_err(because))
}

fn event(args: &PushArgs) -> Result<StructuredEvent, Failure> {
    if let Some(given) = &args.json {
        let text = text(given)?;
        let options = JsonOptions {
            guess_types: true,
            ..JsonOptions::default()
        };
        let any = from_json(&StructuredEvent::type_code(), &text, &options);
        let any = any.map_err(|error| Failure::because(format!("no structured event: {error}")))?;
        return any.extract().map_err(because);
    }
    let mut event = structured_event("", "", "");
    if let Some(text) = &args.text {
        event.remainder_of_body = text.as_str().into();
    }
    Ok(event)
}

/// Prints the counts of a channel.
pub(super) fn stat(channel: &EventChannel, as_json: bool) -> Result<(), Failure> {
    let monitored: MonitoredChannel = channel.as_object().narrow().map_err(|error| {
        Failure::because(format!("not a channel of orbium's, which counts: {error}"))
    })?;
    let state = monitored.state().map_err(because)?;
    if as_json {
        print_json(&state)
    } else {
        print_text(&state)
    }
}

fn print_json(state: &ChannelState) -> Result<(), Failure> {
    let consumers = state.consumers.iter().map(|it| {
        json!({
            "id": it.id, "delivered": it.delivered, "discarded": it.discarded,
            "expired": it.expired, "lost": it.lost, "queued": it.queued,
        })
    });
    let consumers: Vec<_> = consumers.collect();
    output::print_json(&json!({
        "received": state.received, "suppliers": state.suppliers, "consumers": consumers,
    }))
}

fn print_text(state: &ChannelState) -> Result<(), Failure> {
    let mut text = format!(
        "{} events received; {} suppliers, {} consumers\n",
        state.received,
        state.suppliers,
        state.consumers.len()
    );
    for it in &state.consumers {
        let _ = writeln!(
            text,
            "consumer {}: {} delivered, {} waiting, {} discarded, {} expired, {} lost",
            it.id, it.delivered, it.queued, it.discarded, it.expired, it.lost
        );
    }
    output::print(&text)
}
