// SPDX-License-Identifier: MIT OR Apache-2.0
//! Selection of the candidates of a reference.

use std::sync::atomic::{AtomicUsize, Ordering};

use orbium_channel::protocol::{self, Offer, Usable};
use orbium_channel::{Channel, OfferedProtocol, ProtocolPolicy};
use orbium_config::BidirectionalPolicy;
use orbium_giop::{Completion, ExceptionKind, Ior, SystemException};
use orbium_invocation::router_policies::RouterPolicies;

use crate::context::ClientContext;
use crate::errors::no_usable_protocol;
use crate::policy::connection_policies::conflicts;
use crate::policy::overrides::Overrides;
use crate::priorities::{Lanes, Priorities};
use crate::reference::candidate::Candidate;

/// All candidates of an object, in the order of its profiles and their addresses.
#[derive(Debug)]
pub(crate) struct Binding {
    /// Candidates over connections.
    pub(crate) candidates: Vec<Candidate>,
    /// Candidates over datagrams, for oneways.
    pub(crate) datagrams: Vec<Candidate>,
    /// Whether oneways go over datagrams even if there are connections.
    pub(crate) datagrams_first: bool,
    /// The selection by priority, if the reference depends on priorities.
    pub(crate) priorities: Option<Box<Priorities>>,
    /// The candidate of the last reply.
    preferred: AtomicUsize,
}

/// The candidates collected from the offers of a reference for a [`Binding`].
#[derive(Default)]
struct Ways {
    candidates: Vec<Candidate>,
    datagrams: Vec<Candidate>,
    datagrams_first: bool,
    lanes: Lanes,
    /// Whether connections have separate send buffers.
    is_buffered: bool,
    /// Whether their servers may send requests over them.
    is_bidirectional: bool,
    /// The policies for routers of requests.
    routers: RouterPolicies,
    /// The failure of the last unusable offer.
    refused: Option<SystemException>,
}

impl Ways {
    fn add(&mut self, client: &ClientContext, offer: &Offer, is_own_channel: bool) {
        let config = client.latest_config();
        let over_datagrams = config.protocols.is_datagram(&offer.channel);
        let (pools, spoken) = (client.pools(), config.giop_minor);
        let policies = (self.is_buffered, self.is_bidirectional, self.routers);
        match Candidate::new(pools, spoken, offer, is_own_channel, policies) {
            Ok(candidate) if over_datagrams => {
                self.datagrams_first |= self.candidates.is_empty();
                self.datagrams.push(candidate);
            }
            Ok(candidate) => {
                self.lanes.add(Lanes::served(offer), self.candidates.len());
                self.candidates.push(candidate);
            }
            Err(exception) => self.refused = Some(exception),
        }
    }
}

impl Binding {
    /// The candidates under a ClientProtocolPolicy, best first: the client's, or else the
    /// reference's.
    ///
    /// # Errors
    /// INV_POLICY if no protocol can be used, or if both sides set a policy that only one of them
    /// may set.
    pub(crate) fn new(
        client: &ClientContext,
        is_own_channel: &dyn Fn(&Channel) -> bool,
        ior: &Ior,
        policy: Option<&ProtocolPolicy>,
        overrides: &Overrides,
    ) -> Result<Self, SystemException> {
        let published = protocol::published_policies(ior);
        let policies = overrides.connections(&client.connection_sharing());
        if !conflicts(&published, &policies.sharing, policy.is_some()).is_empty() {
            return Err(not_reconciled());
        }
        let routers = reconciled(&overrides.policies.messaging.routers, ior);
        if routers.unsatisfiable().next().is_some() {
            return Err(not_reconciled());
        }
        let own = overrides.bidirectional;
        if own == Some(BidirectionalPolicy::Both) && client.bidirectional().is_none() {
            return Err(not_reconciled());
        }
        let both_ways = own.unwrap_or(client.config().goes_both_ways);
        let exposed = protocol::exposed_protocols(&published);
        let by_client = policy.is_some();
        let policy = policy.or(exposed.as_ref());
        let strategy = client.latest_config().client_strategy;
        let mut ways = Ways {
            is_buffered: overrides.is_buffered() && !strategy.is_pooled(),
            is_bidirectional: both_ways.is_both(),
            routers,
            ..Ways::default()
        };
        let protocols = &client.latest_config().protocols;
        for offer in &protocol::wanted(protocols, ior, policy, by_client) {
            ways.add(client, offer, is_own_channel(&offer.channel));
        }
        let Ways {
            candidates,
            datagrams,
            datagrams_first,
            lanes,
            refused,
            is_buffered: _,
            is_bidirectional: _,
            routers: _,
        } = ways;
        if candidates.is_empty() && datagrams.is_empty() {
            let offered = OfferedProtocol::list(&offered(client, is_own_channel, ior, policy));
            orbium_trace::log::warn!(target: "orbium::call", %offered, "no protocol of a reference can be used");
            return Err(refused.unwrap_or_else(no_usable_protocol));
        }
        let priorities = Priorities::new(
            client,
            &published,
            &policies,
            candidates.iter().chain(&datagrams),
            lanes,
        )?;
        Ok(Self {
            candidates,
            priorities,
            datagrams,
            datagrams_first,
            preferred: AtomicUsize::new(0),
        })
    }

    #[inline]
    pub(crate) fn preferred(&self) -> usize {
        self.preferred.load(Ordering::Relaxed)
    }

    /// The preferred candidate.
    #[inline]
    pub(crate) fn preferred_candidate(&self) -> Option<&Candidate> {
        self.candidates.get(self.preferred())
    }

    pub(crate) fn prefer(&self, candidate: usize) {
        self.preferred.store(candidate, Ordering::Relaxed);
    }
}

/// The policies for routers of calls through a reference: published ones apply if the client has
/// set the policy, too.
pub(crate) fn reconciled(own: &RouterPolicies, ior: &Ior) -> RouterPolicies {
    if own.is_none() {
        *own
    } else {
        own.reconcile(RouterPolicies::published(ior))
    }
}

/// The exception for incompatible policies of client and server.
fn not_reconciled() -> SystemException {
    SystemException::omg(ExceptionKind::InvPolicy, 1, Completion::No)
}

/// The protocols that a reference offers to calls of a client under a policy: usable ones first.
#[must_use]
pub fn offered(
    client: &ClientContext,
    is_own_channel: &dyn Fn(&Channel) -> bool,
    ior: &Ior,
    policy: Option<&ProtocolPolicy>,
) -> Vec<OfferedProtocol> {
    let config = client.latest_config();
    let usable = Usable {
        protocols: &config.protocols,
        options: config.channel_options(),
        policy,
        is_own: is_own_channel,
    };
    usable.of(ior)
}
