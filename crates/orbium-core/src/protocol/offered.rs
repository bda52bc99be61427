// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be used of what a reference offers, in which order, and why not the
//! rest.

use std::fmt::{self, Write as _};
use std::rc::Rc;

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
        let mut list = String::new();
        for (place, it) in offered.iter().enumerate() {
            let between = if place > 0 { "; " } else { "" };
            // A string takes what is written.
            let _ = write!(list, "{between}{it}");
        }
        list
    }
}

/// The offers to be tried under a policy, best first.
pub(crate) fn wanted(ior: &Ior, policy: Option<&ProtocolPolicy>) -> Vec<Rc<Offer>> {
    let offers = offers(ior);
    match policy {
        None => offers,
        Some(policy) => in_order(&offers, &|offer| policy.rank(&offer.channel)),
    }
}

/// Everything that a reference offers: what can be used first.
pub(crate) fn offered(
    orb: &Orb,
    ior: &Ior,
    policy: Option<&ProtocolPolicy>,
) -> Vec<OfferedProtocol> {
    let mut listed = wanted(ior, policy);
    listed.append(&mut offers(ior));
    let (mut offered, mut refused) = (Vec::new(), Vec::new());
    for offer in &listed {
        let channel = &offer.channel;
        if is_among(&offered, channel) || is_among(&refused, channel) {
            continue;
        }
        let refusal = refusal(orb, channel, policy);
        let list = match refusal {
            None => &mut offered,
            Some(_) => &mut refused,
        };
        list.push(OfferedProtocol {
            channel: Some(channel.clone()),
            tag: None,
            refusal,
        });
    }
    offered.append(&mut refused);
    offered.append(&mut strange(ior));
    offered
}

fn is_among(list: &[OfferedProtocol], channel: &Channel) -> bool {
    list.iter().any(|it| it.channel.as_ref() == Some(channel))
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
