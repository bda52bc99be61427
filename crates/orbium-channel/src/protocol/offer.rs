// SPDX-License-Identifier: MIT OR Apache-2.0
//! Offers of a reference: the channels to its object, profile by profile.

use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use orbium_giop::component::{self, Component, PriorityEndpoint};
use orbium_giop::profile::{TAG_TAO_DIOP, TAG_UIPMC};
use orbium_giop::{
    Ior, ObjectGroup, OrbiumProfile, Profile, TaggedComponent, TaggedProfile, Version,
};
use orbium_transport::{Acceptor, Endpoint, EndpointError, HostPort};

use super::host;
use super::protocol_names::listed;

/// A messaging stack over a transport, and an address: the properties that connections must share
/// to be interchangeable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// The scheme of the transport.
    pub scheme: String,
    /// Messaging protocols, outermost first; empty for GIOP alone.
    pub messaging: Vec<String>,
    /// The address, as the transport understands it.
    pub address: String,
}

impl Channel {
    /// GIOP over a transport.
    pub fn giop(scheme: &str, address: String) -> Self {
        Self {
            scheme: scheme.to_owned(),
            messaging: Vec::new(),
            address,
        }
    }

    fn internet(scheme: &str, host: &str, port: u16) -> Self {
        let host = host.to_owned();
        Self::giop(scheme, HostPort { host, port }.to_string())
    }

    /// The channel served at an endpoint.
    pub fn of(endpoint: &Endpoint, acceptor: &dyn Acceptor) -> Self {
        Self {
            scheme: endpoint.scheme.clone(),
            messaging: endpoint.messaging().map(str::to_owned).collect(),
            address: acceptor.address().to_owned(),
        }
    }

    /// The name of the protocol, as in a [`ProtocolPolicy`](crate::ProtocolPolicy).
    #[must_use]
    pub fn protocol(&self) -> String {
        match self.messaging.as_slice() {
            [] => self.scheme.clone(),
            _ => {
                let mut names = self.messaging.iter().map(|name| match name {
                    // The rest of the name is its layout.
                    native if native.starts_with("native-") => "native",
                    other => other.as_str(),
                });
                format!("{}/{}", self.scheme, listed(&mut names, "+"))
            }
        }
    }

    /// The clients that can use this address of ours: fewer than expected if the endpoint is a
    /// wildcard, the host has no network or its name resolves only locally.
    pub fn audience(&self) -> &'static str {
        if self.is_within_host() {
            return match self.scheme.as_str() {
                "inproc" => "this process alone",
                _ => "clients on this host alone",
            };
        }
        let Ok(HostPort { host, .. }) = self.address.parse() else {
            return "clients that understand it";
        };
        match host.parse::<std::net::IpAddr>() {
            Ok(ip) if ip.is_loopback() => "clients on this host alone: it is a loopback address",
            Ok(ip) if ip.is_unspecified() => {
                "no client: it is a wildcard, add ?publish=HOST:PORT to the endpoint"
            }
            Ok(_) => "clients that have a route to it",
            Err(_) if host == "localhost" => "clients on this host alone: it is a loopback address",
            Err(_) => "clients for which its name resolves, and that have a route to it",
        }
    }

    /// Whether it is limited to this host.
    pub fn is_within_host(&self) -> bool {
        is_within_host(&self.scheme)
    }

    fn stack(&self, between: &str) -> String {
        listed(&mut self.messaging.iter().map(String::as_str), between)
    }

    /// The host and port at which GIOP over that internet transport is served.
    pub fn host_port_over(&self, scheme: &str) -> Option<HostPort> {
        if self.is_giop_over(scheme) {
            self.address.parse().ok()
        } else {
            None
        }
    }

    /// Whether it is GIOP over that transport.
    pub fn is_giop_over(&self, scheme: &str) -> bool {
        self.scheme == scheme && self.messaging.is_empty()
    }
}

impl FromStr for Channel {
    type Err = EndpointError;

    /// Parses the syntax of an endpoint with no parameter except `messaging`.
    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let endpoint: Endpoint = text.parse()?;
        endpoint.check_parameters(&[])?;
        Ok(Self {
            messaging: endpoint.messaging().map(str::to_owned).collect(),
            scheme: endpoint.scheme,
            address: endpoint.address,
        })
    }
}

impl fmt::Display for Channel {
    /// In the syntax of an endpoint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.address)?;
        match self.messaging.as_slice() {
            [] => Ok(()),
            _ => write!(f, "?messaging={}", self.stack(",")),
        }
    }
}

/// One offer of a reference: a channel and the object's key there. Shared by the lists that contain
/// it.
#[derive(Debug)]
pub struct Offer {
    /// The channel of the profile.
    pub channel: Channel,
    /// The GIOP version of the profile.
    pub version: Version,
    /// The key of the object, shared by all ways of its profile.
    pub object_key: Rc<[u8]>,
    /// The components of the profile, shared likewise.
    pub components: Rc<[TaggedComponent]>,
    /// The profile, if requests must name the object by all of it.
    pub target: Option<TaggedProfile>,
}

impl Offer {
    fn is_same(&self, other: &Self) -> bool {
        self.channel == other.channel && self.object_key == other.object_key
    }
}

/// Maximum number of offers used of a reference. Each gets a pool of connections and a template of
/// requests, and a peer may send a reference with any number of addresses.
pub(super) const MAX_OFFERS: usize = 64;

/// All offers of a reference, up to 64, nearest first: those within this host, then the others in
/// the order of the reference. Unknown profiles are ignored, and so are those for processes of
/// another host.
pub fn offers(ior: &Ior) -> Vec<Rc<Offer>> {
    let mut offers = Vec::new();
    for profile in &ior.profiles {
        if offers.len() < MAX_OFFERS {
            add_offers(profile, &mut offers);
        }
    }
    offers.truncate(MAX_OFFERS);
    in_order(&offers, &|offer| Some(distance(&offer.channel.scheme)))
}

/// Sorts stably by rank, without offers that have none. Of consecutive equivalent offers only the
/// first is kept: omniORB and TAO repeat a profile in forms of their own.
pub(super) fn in_order(
    offers: &[Rc<Offer>],
    rank: &dyn Fn(&Offer) -> Option<usize>,
) -> Vec<Rc<Offer>> {
    let mut sorted: Vec<Rc<Offer>> = Vec::with_capacity(offers.len());
    // There are only a few ranks: a sort would be much more code.
    let mut next = Some(0);
    while let Some(now) = next {
        next = None;
        for offer in offers {
            let Some(rank) = rank(offer) else { continue };
            if rank > now && next.is_none_or(|next| rank < next) {
                next = Some(rank);
            }
            let is_repeated = sorted.last().is_some_and(|last| last.is_same(offer));
            if rank == now && !is_repeated {
                sorted.push(Rc::clone(offer));
            }
        }
    }
    sorted
}

/// The distance of an address that may be anywhere.
const REMOTE_DISTANCE: usize = 3;

/// Whether addresses of a scheme are limited to this host.
pub(super) fn is_within_host(scheme: &str) -> bool {
    distance(scheme) < REMOTE_DISTANCE
}

fn distance(scheme: &str) -> usize {
    match scheme {
        "inproc" => 0,
        "shmiop" => 1,
        "uiop" => 2,
        _ => REMOTE_DISTANCE,
    }
}

/// Adds the offers of a profile; returns whether there are any.
pub(super) fn add_offers(profile: &TaggedProfile, offers: &mut Vec<Rc<Offer>>) -> bool {
    let (channels, version, object_key, components) = match Profile::parse(profile) {
        Ok(Profile::Iiop(body)) => {
            let channels = internet_channels(&body.host, body.port, &body.components);
            (channels, body.version, body.object_key, body.components)
        }
        Ok(Profile::HostPort(TAG_TAO_DIOP, body)) => {
            let channel = Channel::internet("diop", &body.host, body.port);
            let channels = vec![channel];
            (channels, body.version, body.object_key, body.components)
        }
        Ok(Profile::Uiop(body)) => {
            let channels = vec![Channel::giop("uiop", body.rendezvous_point)];
            (channels, body.version, body.object_key, body.components)
        }
        Ok(Profile::Orbium(body)) if is_here(&body) => {
            let channels = vec![Channel {
                scheme: body.scheme,
                messaging: body.messaging,
                address: body.address,
            }];
            (channels, body.version, body.object_key, body.components)
        }
        Ok(Profile::Uipmc(body)) => {
            let channels = vec![Channel::internet("miop", &body.address, body.port)];
            (channels, Version::V1_2, Vec::new(), body.components)
        }
        _ => return false,
    };
    let any = !channels.is_empty();
    let (object_key, components) = (Rc::from(object_key), Rc::from(components));
    for channel in channels {
        offers.push(Rc::new(Offer {
            channel,
            version,
            object_key: Rc::clone(&object_key),
            components: Rc::clone(&components),
            target: (profile.tag == TAG_UIPMC).then(|| profile.clone()),
        }));
    }
    any
}

/// Whether a profile specific to a host, or to a process, is for this one.
fn is_here(body: &OrbiumProfile) -> bool {
    match component(&body.components, component::TAG_ORBIUM_HOST) {
        Some(Component::OrbiumHost(id)) => host::is_this(&body.scheme, &id),
        _ => true,
    }
}

/// The channels of an IIOP profile: its own address and those of its components. A port of 0 means
/// that plain TCP is not served.
fn internet_channels(host: &str, port: u16, components: &[TaggedComponent]) -> Vec<Channel> {
    let mut channels = Vec::new();
    add_internet(&mut channels, "iiop", host, port);
    for component in components {
        if channels.len() >= MAX_OFFERS {
            break;
        }
        match Component::parse(component) {
            Ok(Component::AlternateAddress(at)) => {
                add_internet(&mut channels, "iiop", &at.host, at.port);
            }
            Ok(Component::Ssl { port, .. }) => add_internet(&mut channels, "ssliop", host, port),
            // An endpoint for each priority, including that of the profile.
            Ok(Component::TaoEndpoints(endpoints)) => {
                for at in endpoints.iter().take(MAX_OFFERS).map(|it| &it.address) {
                    add_internet(&mut channels, "iiop", &at.host, at.port);
                }
            }
            Ok(Component::OmniorbUnix { host, path }) if host == host::name() => {
                channels.push(Channel::giop("uiop", path));
            }
            _ => {}
        }
    }
    channels
}

fn add_internet(channels: &mut Vec<Channel>, scheme: &str, host: &str, port: u16) {
    if port != 0 {
        let channel = Channel::internet(scheme, host, port);
        if !channels.contains(&channel) {
            channels.push(channel);
        }
    }
}

/// The profiles of a reference that are not understood, or name no address.
pub fn not_understood(ior: &Ior) -> impl Iterator<Item = &TaggedProfile> {
    ior.profiles
        .iter()
        .filter(|profile| matches!(Profile::parse(profile), Ok(Profile::Unknown)))
}

/// The multicast groups in a reference.
pub fn groups(ior: &Ior) -> Vec<ObjectGroup> {
    let mut groups = Vec::new();
    for profile in &ior.profiles {
        if let Ok(Profile::Uipmc(body)) = Profile::parse(profile)
            && let Some(group) = body.group()
        {
            groups.push(group);
        }
    }
    groups
}

/// The first component with a tag.
fn component(components: &[TaggedComponent], tag: u32) -> Option<Component> {
    let found = components.iter().find(|component| component.tag == tag)?;
    Component::parse(found).ok()
}

/// The priorities of endpoints in components, with their addresses.
pub fn lanes(components: &[TaggedComponent]) -> Vec<(i16, String)> {
    match component(components, component::TAG_TAO_ENDPOINTS) {
        Some(Component::TaoEndpoints(mut endpoints)) => {
            endpoints.retain(|it| it.priority >= 0);
            let lane = |it: &PriorityEndpoint| (it.priority, it.address.to_string());
            endpoints.iter().map(lane).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether CancelRequests may be sent to the server. omniORB (4.2.5) executes them, and then may
/// stop reading a connection on which other requests arrived in between.
pub fn accepts_cancel_requests(components: &[TaggedComponent]) -> bool {
    orb_type(components) != Some(component::ORB_TYPE_OMNIORB)
}

/// The type of the ORB, if the components contain it.
pub fn orb_type(components: &[TaggedComponent]) -> Option<u32> {
    match component(components, component::TAG_ORB_TYPE)? {
        Component::OrbType(orb) => Some(orb),
        _ => None,
    }
}

/// The code sets that components name.
pub fn code_sets(
    components: &[TaggedComponent],
) -> Option<orbium_giop::codeset::CodeSetComponentInfo> {
    match component(components, component::TAG_CODE_SETS)? {
        Component::CodeSets(info) => Some(info),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_which_clients_it_is_of_use_to() {
        for (address, audience) in [
            ("iiop://127.0.0.1:5000", "this host alone"),
            ("iiop://[::1]:5000", "this host alone"),
            ("iiop://localhost:5000", "this host alone"),
            ("uiop:///run/x.sock", "this host alone"),
            ("inproc://x", "this process"),
            ("iiop://0.0.0.0:5000", "add ?publish=HOST:PORT"),
            ("iiop://192.0.2.7:5000", "have a route"),
            ("ssliop://orb.example:5000", "its name resolves"),
        ] {
            let channel: Channel = address.parse().unwrap();
            assert!(channel.audience().contains(audience), "{address}");
        }
    }
}

#[cfg(test)]
mod many_addresses;
