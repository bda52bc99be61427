// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be used of what a reference offers, in which order, and why not the
//! rest.

use std::fmt;

use orbium_giop::Ior;

use super::offer::{in_order, strange};
use super::{Channel, Offer, ProtocolPolicy, offers};
use crate::Orb;

/// A protocol that a reference offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedProtocol {
    /// The protocol and where it leads; `None` for a profile that is not
    /// understood.
    pub channel: Option<Channel>,
    /// Tag of the profile, if it is not understood.
    pub tag: Option<u32>,
    /// Why it cannot be used; `None` if it can.
    pub refusal: Option<String>,
}

impl fmt::Display for OfferedProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.channel, self.tag) {
            (Some(channel), _) => channel.fmt(f)?,
            (None, Some(tag)) => write!(f, "profile {tag:#x}")?,
            (None, None) => f.write_str("nothing")?,
        }
        match &self.refusal {
            Some(refusal) => write!(f, ": {refusal}"),
            None => Ok(()),
        }
    }
}

impl OfferedProtocol {
    /// Several in one line.
    pub(crate) fn list(offered: &[Self]) -> String {
        let texts: Vec<_> = offered.iter().map(ToString::to_string).collect();
        texts.join("; ")
    }
}

/// The offers to be tried under a policy, best first.
pub(crate) fn wanted(ior: &Ior, policy: Option<&ProtocolPolicy>) -> Vec<Offer> {
    let offers = offers(ior);
    let Some(policy) = policy else {
        return offers;
    };
    let ranked = offers
        .into_iter()
        .filter_map(|offer| Some((policy.rank(&offer.channel)?, offer)));
    in_order(ranked.collect())
}

/// Everything that a reference offers: what can be used first.
pub(crate) fn offered(
    orb: &Orb,
    ior: &Ior,
    policy: Option<&ProtocolPolicy>,
) -> Vec<OfferedProtocol> {
    let usable = wanted(ior, policy);
    let all = offers(ior);
    let listed = usable.iter().map(|offer| &offer.channel);
    let unlisted = all.iter().map(|offer| &offer.channel);
    let mut offered: Vec<OfferedProtocol> = Vec::new();
    for channel in listed.chain(unlisted) {
        if offered
            .iter()
            .any(|known| known.channel.as_ref() == Some(channel))
        {
            continue;
        }
        offered.push(OfferedProtocol {
            channel: Some(channel.clone()),
            tag: None,
            refusal: refusal(orb, channel, policy),
        });
    }
    let (mut offered, refused): (Vec<_>, Vec<_>) = offered
        .into_iter()
        .partition(|protocol| protocol.refusal.is_none());
    offered.extend(refused);
    offered.extend(strange(ior));
    offered
}

fn refusal(orb: &Orb, channel: &Channel, policy: Option<&ProtocolPolicy>) -> Option<String> {
    if policy.is_some_and(|policy| policy.rank(channel).is_none()) {
        return Some("the policy does not name it".into());
    }
    if orb.is_own_channel(channel) {
        return None;
    }
    let made = orb.config().protocols.connector(channel, orb.config());
    made.err().map(|unusable| unusable.to_string())
}
