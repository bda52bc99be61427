// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object groups of MIOP as ends of a gateway: oneway pushes of sets of events, with separate ORBs.

mod receiver;
mod sender;

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, LazyLock};

use orbium::giop::{ObjectAddress, ObjectUrl};
use orbium::lock::Mutex;
use orbium::{Config, Interface, Orb};
use orbium_event::rtec::rtec_event_comm::PushConsumer;

use crate::gateway_config::{GatewayError, GroupConfig};
use crate::sequence::Origin;

pub(crate) use receiver::GroupReceiver;
pub(crate) use sender::GroupSender;

/// The origin of a gateway's channel for the receivers of a group: that of all gateways of this
/// process with the same reference.
pub(crate) fn origin_of(channel: &str) -> Origin {
    static PROCESS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    Origin(PROCESS.hash_one(channel))
}

/// The number of the last request with events of a channel to the groups at an address. All gateways of this process count together, as
/// receivers take them for one sender.
pub(crate) fn requests_to(address: SocketAddr, origin: Origin) -> Arc<AtomicU64> {
    static SENT: Mutex<BTreeMap<(SocketAddr, Origin), Arc<AtomicU64>>> =
        Mutex::new(BTreeMap::new());
    Arc::clone(SENT.lock().entry((address, origin)).or_default())
}

/// The group that an ORB calls or joins.
fn group_of(orb: &Orb, reference: &str) -> Result<PushConsumer, GatewayError> {
    let object = orb.string_to_object(reference).map_err(|it| refused(&it))?;
    let object = object.ok_or_else(|| refused(&"a nil reference"))?;
    Ok(PushConsumer::from_object(object))
}

/// The address of a group's datagrams.
fn address_of(reference: &str) -> Result<SocketAddr, GatewayError> {
    let addresses = match ObjectUrl::parse(reference).map_err(|it| refused(&it))? {
        ObjectUrl::Corbaloc(url) => url.addresses,
        _ => Vec::new(),
    };
    let mut groups = addresses.into_iter().filter_map(|it| match it {
        ObjectAddress::Miop(group) => Some(SocketAddr::new(group.address, group.port)),
        _ => None,
    });
    groups
        .next()
        .ok_or_else(|| refused(&"no reference of a group"))
}

/// The configuration of an ORB that sends to a group, or receives from it.
fn config_of(group: &GroupConfig) -> Result<Config, GatewayError> {
    let mut config = Config::default();
    let properties = &mut config.properties;
    if let Some(interface) = &group.interface {
        let set = properties.set("multicast_interface", interface);
        set.map_err(|_| GatewayError::Interface(interface.clone()))?;
    }
    let set = properties.set("multicast_ttl", &group.hops.to_string());
    set.map_err(|_| refused(&"no time to live"))?;
    Ok(config)
}

fn refused(why: &dyn fmt::Display) -> GatewayError {
    GatewayError::Group(why.to_string())
}
