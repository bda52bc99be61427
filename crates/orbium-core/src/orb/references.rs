// SPDX-License-Identifier: MIT OR Apache-2.0
//! Addresses of the ORB, and references to its objects.

use orbium_channel::accepting::Accepting;
use orbium_channel::protocol::{self, ProfileComponents};
use orbium_giop::{Completion, ExceptionKind, Ior, SystemException};
use orbium_invocation::exceptions::{already_shut_down, forked};
use orbium_transport::{Endpoint, HostPort};

use super::state::{Ending, Server};
use super::{Orb, OrbError};
use crate::client::no_usable_protocol;
use crate::{Channel, Lane, LaneConfig, ObjectRef, Poa, Priority, ProtocolPolicy};
use orbium_lane::{OWN, lane_endpoints};
use orbium_server::start_lane;

impl Orb {
    /// The ORB's own lane; it listens on a free port if no endpoint was given.
    pub(crate) fn published(&self) -> Result<&Lane, SystemException> {
        self.check_running()?;
        self.check_process()?;
        let mut is_new = false;
        let server = self.core().server.get_or_init(|| {
            is_new = true;
            let started = self
                .start_server(&[Endpoint::anywhere()])
                .and_then(|server| {
                    self.start_lanes(Some(&server.0))?;
                    Ok(server)
                });
            started.map_err(|error| {
                crate::log::error!(target: "orbium::conn", %error, "cannot listen");
                SystemException::new(ExceptionKind::Initialize, 0, Completion::No)
            })
        });
        match server {
            Ok(server) if is_new && self.has_begun_to_end() => {
                server.0.halt();
                Err(already_shut_down())
            }
            Ok(server) => Ok(&server.0),
            Err(exception) => Err(*exception),
        }
    }

    /// Whether shutdown has begun, perhaps without ending a part that was just started.
    fn has_begun_to_end(&self) -> bool {
        let ending = self.core().ending.get_or_init(Ending::default);
        // Under the lock: a shutdown that begins later sees that part.
        let _guard = ending.lock.lock();
        !self.is_running()
    }

    /// Starts the ORB's own lane.
    pub(super) fn start_server(&self, endpoints: &[Endpoint]) -> Result<Server, OrbError> {
        let config = self.config();
        let (accepting, published) = Accepting::listen_with_short_headers(
            endpoints,
            self.protocols(),
            &config.channel_options(),
        )?;
        let lane = LaneConfig {
            endpoints: endpoints.to_vec(),
            ..LaneConfig::of_orb(config.strategy)
        };
        let accepting = self
            .accepting_both_ways(accepting, &published)
            .map_err(|error| OrbError::Threads(lane.name.clone(), error))?;
        let own = start_lane(&self.host(), OWN, &lane, accepting, published)?;
        Ok(Server(own))
    }

    /// The addresses published in references over TCP, with the assigned ports.
    ///
    /// # Errors
    /// The ORB cannot listen, or was shut down.
    pub fn addresses(&self) -> Result<Vec<HostPort>, SystemException> {
        let mut addresses = Vec::new();
        for channel in self.published()?.channels().iter() {
            if let Some(at) = channel.host_port_over("iiop") {
                addresses.push(at);
            }
        }
        Ok(addresses)
    }

    /// All channels published in references.
    ///
    /// # Errors
    /// The ORB cannot listen, or was shut down.
    pub fn channels(&self) -> Result<Vec<Channel>, SystemException> {
        Ok(self.published()?.channels().to_vec())
    }

    /// Whether the ORB served before this process was forked: its threads and listening sockets
    /// belong to the parent.
    pub(crate) fn is_left_behind(&self) -> bool {
        self.core().serving.is_left_behind()
    }

    /// Checks that the serving threads are in this process.
    ///
    /// # Errors
    /// BAD_INV_ORDER in a forked child.
    pub(crate) fn check_process(&self) -> Result<(), SystemException> {
        if !self.is_left_behind() {
            return Ok(());
        }
        crate::log::error!(
            target: "orbium::conn", "this process was forked from one that serves: the threads of the ORB are there and not here; let each process make its own ORB to serve with"
        );
        Err(forked())
    }

    /// Whether a channel leads to this ORB. In a forked child it leads to the parent,
    /// which owns these objects.
    pub(crate) fn is_own_channel(&self, channel: &Channel) -> bool {
        if self.is_left_behind() {
            return false;
        }
        let has = |lane: &Lane| lane.channels().contains(channel);
        let own = matches!(self.core().server.get(), Some(Ok(server)) if has(&server.0));
        own || self.core().adapters.lanes.listen_at(channel)
    }

    /// The adapter and the id of the active object with a key.
    #[must_use]
    #[inline]
    pub fn object_with_key(&self, key: &[u8]) -> Option<(Poa, Vec<u8>)> {
        let object = self.core().adapters.registry.find(key).ok()?;
        Some((object.poa(), object.id.to_vec()))
    }

    /// A reference to the object with that key of this ORB, over `protocols` if given, with
    /// `components` in addition to the ORB's; served by these lanes, if any, at the object's
    /// priority.
    pub(crate) fn reference_to_key(
        &self,
        key: &[u8],
        repository_id: &str,
        protocols: Option<&ProtocolPolicy>,
        mut components: ProfileComponents,
        (lanes, priority): (&[Lane], Option<Priority>),
    ) -> Result<ObjectRef, SystemException> {
        let (several, chosen, own);
        let mut served: &[Channel] = match lanes {
            [] => {
                own = self.published()?.channels();
                &own
            }
            lanes => {
                several = self.channels_of(lanes, priority)?;
                if let Some(endpoints) = lane_endpoints(lanes) {
                    components.of_all.push(endpoints);
                }
                several.as_slice()
            }
        };
        if let Some(policy) = protocols {
            chosen = policy.choose(served);
            if chosen.is_empty() {
                return Err(no_usable_protocol());
            }
            served = &chosen;
        }
        let minor = self.core().config.giop_minor.number();
        Ok(self.plain_reference(Ior {
            type_id: repository_id.to_owned(),
            profiles: protocol::profiles(
                served,
                key,
                minor,
                self.core().config.native_char_code_set,
                components,
            ),
        }))
    }

    /// Makes an object reachable also under a plain key, as in `corbaloc::host:port/Name`. Clients
    /// that call by the key are forwarded to the whole reference (LOCATION_FORWARD), as an address
    /// has no information on code sets, other protocols, lanes and TLS; oneways and collocated
    /// requests are served where they arrive. `forward_bound_keys` of the configuration turns that
    /// off, [`Orb::bind_key_in_place`] for one key.
    ///
    /// # Errors
    /// The reference is not to an object of this ORB (BAD_PARAM).
    pub fn bind_key(
        &self,
        plain: &str,
        object: &impl crate::Interface,
    ) -> Result<(), SystemException> {
        self.bind(plain, object, true)
    }

    /// As [`Orb::bind_key`], but all requests are served in the lane where they arrive: for objects
    /// that clients reach by another address than the published ones, and for requests that concern
    /// the connection that carries them.
    ///
    /// # Errors
    ///
    /// As [`Orb::bind_key`].
    pub fn bind_key_in_place(
        &self,
        plain: &str,
        object: &impl crate::Interface,
    ) -> Result<(), SystemException> {
        self.bind(plain, object, false)
    }

    fn bind(
        &self,
        plain: &str,
        object: &impl crate::Interface,
        forwards: bool,
    ) -> Result<(), SystemException> {
        let key = object
            .as_object()
            .own_key()
            .ok_or_else(|| SystemException::new(ExceptionKind::BadParam, 0, Completion::No))?;
        self.core()
            .adapters
            .registry
            .plain_keys
            .bind(plain.as_bytes(), &key, forwards);
        crate::log::info!(
            target: "orbium::poa",
            key = plain,
            interface = %object.as_object().ior().type_id,
            published = protocol::offers(object.as_object().ior())
                .iter()
                .map(|offer| offer.channel.to_string())
                .collect::<Vec<_>>()
                .join(", "),
            "reference published",
        );
        Ok(())
    }

    /// Makes an object a member of a multicast group: it receives the requests to the group at one
    /// of this ORB's `miop://` endpoints (`associate_reference_with_id` of the
    /// `PortableGroup::GOA`). A group has one member in an ORB; a further one replaces it.
    ///
    /// ```no_run
    /// # fn f(orb: &orbium_core::Orb, sensor: &orbium_core::ObjectRef)
    /// # -> Result<(), Box<dyn std::error::Error>> {
    /// let group = orb.string_to_object("corbaloc:miop:1.0@1.0-lab-7/239.255.0.7:5007")?;
    /// orb.join_group(&group.ok_or("nil")?, sensor)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// BAD_PARAM: the first is not a reference to a group, or the second not to an object of this
    /// ORB.
    pub fn join_group(
        &self,
        group: &impl crate::Interface,
        member: &impl crate::Interface,
    ) -> Result<(), SystemException> {
        let bad = || SystemException::new(ExceptionKind::BadParam, 0, Completion::No);
        let key = member.as_object().own_key().ok_or_else(bad)?;
        let groups = protocol::groups(group.as_object().ior());
        if groups.is_empty() {
            return Err(bad());
        }
        for group in groups {
            self.core()
                .adapters
                .registry
                .plain_keys
                .bind(&group.object_key(), &key, false);
        }
        Ok(())
    }
}
