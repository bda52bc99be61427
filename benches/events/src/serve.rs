// SPDX-License-Identifier: MIT OR Apache-2.0
//! The process of the channel.

use std::io::{self, Read};
use std::sync::{Arc, OnceLock};

use orbium::{Call, Interface, SystemException};
use orbium_event::rtec::rtec_event_channel_admin::{
    AlreadyConnected, AlreadyConnectedOrTypeErrorError, ConsumerQos, ProxyPushSupplier,
    ProxyPushSupplierServant,
};
use orbium_event::rtec::rtec_event_comm::{
    Event, PushConsumer, PushConsumerServant, PushSupplierServant,
};
use orbium_event::{Channel, ChannelConfig, CosHeader, Dispatching};

use crate::{Outcome, orb};

pub(crate) fn run(reactive: bool) -> Outcome {
    let orb = orb()?;
    let dispatching = match reactive {
        true => Dispatching::Reactive,
        false => Dispatching::PerConsumer,
    };
    let mut config = ChannelConfig {
        dispatching,
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

/// Calls its consumer with what it is called with: what two calls cost.
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

/// Where the consumer of a relay connects.
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
