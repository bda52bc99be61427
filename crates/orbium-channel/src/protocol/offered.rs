// SPDX-License-Identifier: MIT OR Apache-2.0
//! Selection among the offers of a reference: the usable ones in order, and the obstacles to
//! the others.

use std::fmt::{self, Write as _};
use std::rc::Rc;

use orbium_giop::{Ior, Profile};
use orbium_transport::Protection;

use super::offer::{add_offers, in_order};
use super::opening::ChannelOptions;
use super::{Channel, Offer, ProtocolPolicy, Protocols, offers};

/// A protocol that a reference offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedProtocol {
    /// The protocol and its address; `None` for an unknown profile.
    pub channel: Option<Channel>,
    /// Tag of the profile, if it is not understood.
    pub tag: Option<u32>,
    /// The reason why it cannot be used; `None` if it can.
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
    pub fn list(offered: &[Self]) -> String {
        let mut list = String::new();
        for (place, it) in offered.iter().enumerate() {
            let between = if place > 0 { "; " } else { "" };
            // Writing to a string cannot fail.
            let _ = write!(list, "{between}{it}");
        }
        list
    }
}

/// The offers to try under a policy, the client's own or one in the reference, best first.
pub fn wanted(
    protocols: &Protocols,
    ior: &Ior,
    policy: Option<&ProtocolPolicy>,
    by_client: bool,
) -> Vec<Rc<Offer>> {
    let mut offers = offers(ior);
    let wanted = protocols.protection_wanted();
    if wanted >= Protection::Preferred {
        let least = least_protection(protocols, wanted, &offers, by_client);
        offers.retain(|offer| is_protected(protocols, &offer.channel, least));
    }
    match policy {
        None => offers,
        Some(policy) => in_order(&offers, &|offer| policy.rank(&offer.channel)),
    }
}

/// The minimum protection of calls through a reference with these offers. A client with `chosen`
/// protocols decides itself, unless protection is required.
#[cold]
fn least_protection(
    protocols: &Protocols,
    wanted: Protection,
    offers: &[Rc<Offer>],
    chosen: bool,
) -> Protection {
    let offered = |it: &Rc<Offer>| protocols.protection_of(&it.channel) >= Protection::Preferred;
    match wanted {
        Protection::Required => Protection::Available,
        _ if !chosen && offers.iter().any(offered) => Protection::Available,
        _ => Protection::None,
    }
}

/// Whether a channel has at least that protection, or needs none.
fn is_protected(protocols: &Protocols, channel: &Channel, least: Protection) -> bool {
    protocols.protection_of(channel) >= least || channel.is_within_host()
}

/// Protocols that can be used.
pub struct Usable<'a> {
    /// The registered protocols.
    pub protocols: &'a Protocols,
    /// The options of the connections.
    pub options: ChannelOptions,
    /// The policy to call under.
    pub policy: Option<&'a ProtocolPolicy>,
    /// Whether the ORB itself serves a channel: then no connection is needed.
    pub is_own: &'a dyn Fn(&Channel) -> bool,
}

impl Usable<'_> {
    /// All offers of a reference, usable ones first.
    #[must_use]
    pub fn of(&self, ior: &Ior) -> Vec<OfferedProtocol> {
        let mut listed = wanted(self.protocols, ior, self.policy, self.policy.is_some());
        let best = listed.len();
        listed.append(&mut offers(ior));
        let (mut offered, mut refused) = (Vec::new(), Vec::new());
        for (place, offer) in listed.iter().enumerate() {
            let channel = &offer.channel;
            if is_among(&offered, channel) || is_among(&refused, channel) {
                continue;
            }
            let unprotected = || {
                (place >= best)
                    .then(|| unprotected(self.protocols, channel))
                    .flatten()
            };
            let refusal = self.refusal(channel).or_else(unprotected);
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

    fn refusal(&self, channel: &Channel) -> Option<String> {
        if self
            .policy
            .is_some_and(|policy| policy.rank(channel).is_none())
        {
            return Some("the policy does not name it".into());
        }
        if (self.is_own)(channel) {
            return None;
        }
        let made = self.protocols.connector(channel, &self.options);
        made.err().map(|unusable| unusable.to_string())
    }
}

/// The reason why a channel that the policy permits is not used, if it lacks protection.
fn unprotected(protocols: &Protocols, channel: &Channel) -> Option<String> {
    if is_protected(protocols, channel, Protection::Available) {
        return None;
    }
    Some(match protocols.protection_wanted() {
        Protection::Required => "TLS is required (tls.require)".into(),
        _ => "the reference offers TLS, and authorities are configured (tls.authorities)".into(),
    })
}

fn is_among(list: &[OfferedProtocol], channel: &Channel) -> bool {
    list.iter().any(|it| it.channel.as_ref() == Some(channel))
}

/// The profiles of a reference that are not understood, or for elsewhere.
fn strange(ior: &Ior) -> Vec<OfferedProtocol> {
    let mut strange = Vec::new();
    for profile in &ior.profiles {
        let malformed;
        let refusal = match Profile::parse(profile) {
            Ok(Profile::Components(_)) => continue,
            _ if add_offers(profile, &mut Vec::new()) => continue,
            Err(error) => {
                malformed = format!("malformed: {error}");
                &malformed
            }
            Ok(Profile::Iiop(_)) => "no address that can be used",
            Ok(Profile::Orbium(_)) => "for processes of another host",
            Ok(_) => "not understood",
        };
        strange.push(OfferedProtocol {
            channel: None,
            tag: Some(profile.tag),
            refusal: Some(refusal.to_owned()),
        });
    }
    strange
}
