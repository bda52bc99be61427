// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a reference offers: for each profile, the ways to reach the object.

use std::fmt;

use orbium_giop::component::{self, Component};
use orbium_giop::{Ior, Profile, TaggedComponent, TaggedProfile, Version};
use orbium_transport::HostPort;

/// A messaging stack over a transport, and the address it leads to: what
/// connections must have in common to be used for one another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// The scheme of the transport.
    pub scheme: String,
    /// Messaging halves, outermost first; none for GIOP alone.
    pub messaging: Vec<String>,
    /// The address, as the transport understands it.
    pub address: String,
}

impl Channel {
    /// GIOP over a transport.
    pub(crate) fn giop(scheme: &str, address: impl Into<String>) -> Self {
        Self {
            scheme: scheme.to_owned(),
            messaging: Vec::new(),
            address: address.into(),
        }
    }
}

impl fmt::Display for Channel {
    /// As an endpoint is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.address)?;
        match self.messaging.as_slice() {
            [] => Ok(()),
            names => write!(f, "?messaging={}", names.join(",")),
        }
    }
}

/// One way to an object.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) channel: Channel,
    pub(crate) version: Version,
    pub(crate) object_key: Vec<u8>,
    pub(crate) components: Vec<TaggedComponent>,
}

/// All ways that a reference offers, nearest first: those within this host,
/// then the others as the reference has them. Profiles that are not understood
/// offer nothing.
pub(crate) fn offers(ior: &Ior) -> Vec<Offer> {
    let mut offers: Vec<_> = ior.profiles.iter().flat_map(profile_offers).collect();
    offers.sort_by_key(|offer| distance(&offer.channel.scheme));
    offers
}

fn distance(scheme: &str) -> u8 {
    match scheme {
        "inproc" => 0,
        "shmiop" => 1,
        "uiop" => 2,
        _ => 3,
    }
}

fn profile_offers(profile: &TaggedProfile) -> Vec<Offer> {
    match Profile::parse(profile) {
        Ok(Profile::Iiop(body)) => {
            let addresses = internet_channels(&body.host, body.port, &body.components);
            let offer = |channel| Offer {
                channel,
                version: body.version,
                object_key: body.object_key.clone(),
                components: body.components.clone(),
            };
            addresses.into_iter().map(offer).collect()
        }
        Ok(Profile::Uiop(body)) => vec![Offer {
            channel: Channel::giop("uiop", body.rendezvous_point),
            version: body.version,
            object_key: body.object_key,
            components: body.components,
        }],
        _ => Vec::new(),
    }
}

/// The channels of an IIOP profile: its own address unless the port is 0, which
/// says that nothing is served over plain TCP, and those of its components.
fn internet_channels(host: &str, port: u16, components: &[TaggedComponent]) -> Vec<Channel> {
    let iiop = |host: &str, port| {
        let host = host.to_owned();
        Channel::giop("iiop", HostPort { host, port }.to_string())
    };
    let mut channels = vec![(port, iiop(host, port))];
    for component in components {
        if component.tag == component::TAG_ALTERNATE_IIOP_ADDRESS
            && let Ok(Component::AlternateAddress(at)) = Component::parse(component)
        {
            channels.push((at.port, iiop(&at.host, at.port)));
        }
    }
    let usable = channels.into_iter().filter(|(port, _)| *port != 0);
    usable.map(|(_, channel)| channel).collect()
}
