// SPDX-License-Identifier: MIT OR Apache-2.0
//! Capabilities of a peer and of the path to it.

use orbium::Interface;
use orbium::giop::codeset::{CodeSetComponentInfo, Negotiated};
use orbium::giop::{Component, component};

/// Capabilities of the peer and of the path to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The minor version of GIOP that both sides speak.
    pub giop_minor: u8,
    /// Whether wide characters can be sent.
    pub wide: bool,
    /// Whether code sets are negotiated, so that strings beyond Latin-1 can be sent: not with GIOP
    /// 1.0, and not to an object with a plain key.
    pub code_sets: bool,
    /// Whether the peer supports more than the IDL requires, as orbium does: every system
    /// exception, `_repository_id`, `long double`.
    pub complete: bool,
}

impl Facts {
    /// The capabilities of two orbiums with that minor version, with a reference that contains its
    /// code sets.
    #[must_use]
    pub const fn of_giop(giop_minor: u8) -> Self {
        Self {
            giop_minor,
            wide: giop_minor > 0,
            code_sets: giop_minor > 0,
            complete: true,
        }
    }

    /// The capabilities by a reference and its ORB. One from a corbaloc specifies neither code
    /// sets, nor whether its ORB is orbium.
    #[must_use]
    pub fn of(object: &impl Interface) -> Self {
        let object = object.as_object();
        let ours = object.orb().config().giop_minor.number();
        let mut facts = Self {
            giop_minor: ours,
            wide: false,
            code_sets: false,
            complete: false,
        };
        let Some(profile) = object.ior().iiop_profiles().next() else {
            return facts;
        };
        facts.giop_minor = ours.min(profile.version.minor);
        let (mut orb_type, mut named) = (None, None);
        let components = profile.components.iter();
        for component in components.filter_map(|c| Component::parse(c).ok()) {
            match component {
                Component::OrbType(orb) => {
                    orb_type = Some(orb);
                    facts.complete = orb == component::ORB_TYPE_ORBIUM;
                }
                Component::CodeSets(sets) if facts.giop_minor > 0 => named = Some(sets),
                _ => {}
            }
        }
        if let Some(sets) = named {
            facts.code_sets(&sets, orb_type);
        }
        facts
    }

    fn code_sets(&mut self, sets: &CodeSetComponentInfo, orb: Option<u32>) {
        let agreed = Negotiated::with_server(Some(sets), orb).unwrap_or(Negotiated::DEFAULT);
        self.code_sets = agreed.char_set != Negotiated::DEFAULT.char_set;
        self.wide = agreed.wide_set.is_some();
    }
}
