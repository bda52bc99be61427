// SPDX-License-Identifier: MIT OR Apache-2.0
//! References and object URLs, as text and as octets.

use orbium_cdr::Decode;
use orbium_giop::real_time::PublishedPolicies;
use orbium_giop::{
    Component, IiopProfile, Ior, ObjectUrl, OrbiumProfile, Profile, TaggedComponent, TaggedProfile,
    UiopProfile, UipmcProfile, codeset, component, decode_encapsulation, profile,
};

/// Profiles and components that are looked into, by the first octet of an input.
const TAGS: &[Tag] = &[
    Tag::Profile(profile::TAG_INTERNET_IOP),
    Tag::Profile(profile::TAG_MULTIPLE_COMPONENTS),
    Tag::Profile(profile::TAG_TAO_UIOP),
    Tag::Profile(profile::TAG_TAO_SHMIOP),
    Tag::Component(component::TAG_ORB_TYPE),
    Tag::Component(component::TAG_CODE_SETS),
    Tag::Component(component::TAG_POLICIES),
    Tag::Component(component::TAG_ALTERNATE_IIOP_ADDRESS),
    Tag::Component(component::TAG_COMPLETE_OBJECT_KEY),
    Tag::Component(component::TAG_ENDPOINT_ID_POSITION),
    Tag::Component(component::TAG_LOCATION_POLICY),
    Tag::Component(component::TAG_ASSOCIATION_OPTIONS),
    Tag::Component(component::TAG_SSL_SEC_TRANS),
    Tag::Component(component::TAG_TLS_SEC_TRANS),
    Tag::Component(component::TAG_JAVA_CODEBASE),
    Tag::Component(component::TAG_FT_GROUP),
    Tag::Component(component::TAG_FT_PRIMARY),
    Tag::Component(component::TAG_FT_HEARTBEAT_ENABLED),
    Tag::Component(component::TAG_GROUP),
    Tag::Component(component::TAG_OTS_POLICY),
    Tag::Component(component::TAG_INV_POLICY),
    Tag::Component(component::TAG_CSI_SEC_MECH_LIST),
    Tag::Component(component::TAG_NULL_TAG),
    Tag::Component(component::TAG_RMI_CUSTOM_MAX_STREAM_FORMAT),
    Tag::Component(component::TAG_OMNIORB_BIDIR),
    Tag::Component(component::TAG_OMNIORB_UNIX_TRANS),
    Tag::Component(component::TAG_OMNIORB_PERSISTENT_ID),
    Tag::Component(component::TAG_OMNIORB_HTTP_TRANS),
    Tag::Component(component::TAG_TAO_ENDPOINTS),
    Tag::Component(component::TAG_TAO_SSL_ENDPOINTS),
    Tag::Component(0x7FFF_FFFF),
    Tag::Profile(profile::TAG_TAO_DIOP),
    Tag::Profile(profile::TAG_ORBIUM_IOP),
    Tag::Profile(profile::TAG_UIPMC),
    Tag::Component(component::TAG_ORBIUM_HOST),
];

#[derive(Clone, Copy)]
enum Tag {
    Profile(u32),
    Component(u32),
}

/// An object URL if it is text; an encapsulated reference, or a profile or
/// component behind an octet that tells which, if it is not. What parses prints
/// and encodes so that it parses to the same.
pub fn references(input: &[u8]) {
    if let Ok(text) = str::from_utf8(input) {
        url(text);
    }
    let Some((which, data)) = input.split_first() else {
        return;
    };
    let data = data.to_vec();
    match usize::from(*which)
        .checked_sub(1)
        .and_then(|at| TAGS.get(at))
    {
        Some(Tag::Profile(tag)) => profile_holds(&TaggedProfile { tag: *tag, data }),
        Some(Tag::Component(tag)) => component_holds(&TaggedComponent { tag: *tag, data }),
        None => {
            if let Ok(ior) = decode_encapsulation(input, Ior::decode) {
                ior_holds(&ior);
            }
        }
    }
}

fn url(text: &str) {
    let url = match ObjectUrl::parse(text) {
        Ok(url) => url,
        Err(error) => {
            assert!(error.offset <= text.len());
            let _ = (error.to_string(), error.exception());
            return;
        }
    };
    let printed = url.to_string();
    assert_eq!(ObjectUrl::parse(&printed).as_ref(), Ok(&url), "{printed}");
    match &url {
        ObjectUrl::Ior(ior) => ior_holds(ior),
        ObjectUrl::Corbaloc(corbaloc) => {
            assert_eq!(
                corbaloc.to_ior().is_ok(),
                corbaloc.to_ior().is_ok_and(|ior| !ior.is_nil())
            );
            let _ = corbaloc.initial_reference();
            if let Ok(ior) = corbaloc.to_ior() {
                ior_holds(&ior);
                for profile in &ior.profiles {
                    let key = match Profile::parse(profile) {
                        Ok(Profile::Uipmc(body)) => body.group().map(|group| group.object_key()),
                        _ => Some(corbaloc.key.clone()),
                    };
                    assert_eq!(profile.object_key(), key);
                }
            }
        }
        ObjectUrl::Corbaname(corbaname) => {
            let _ = corbaname.context.to_ior().map(|ior| ior_holds(&ior));
        }
    }
}

fn ior_holds(ior: &Ior) {
    let text = ior.to_string();
    assert_eq!(Ior::from_string(&text).as_ref(), Ok(ior));
    assert_eq!(
        Ior::from_string(&text.to_ascii_uppercase()).as_ref(),
        Ok(ior)
    );
    ior.profiles.iter().for_each(profile_holds);
    for profile in ior.iiop_profiles() {
        let _ = (profile.to_string(), profile.code_sets());
        profile
            .addresses()
            .for_each(|address| drop(address.to_string()));
    }
    ior.common_components().iter().for_each(component_holds);
}

fn profile_holds(tagged: &TaggedProfile) {
    let _ = (profile::tag_name(tagged.tag), tagged.object_key());
    let Ok(parsed) = Profile::parse(tagged) else {
        return;
    };
    let encoded = match &parsed {
        Profile::Iiop(body) => {
            let _ = (body.to_string(), body.code_sets());
            assert_eq!(IiopProfile::decode(tagged).as_ref(), Ok(body));
            body.encode()
        }
        Profile::HostPort(tag, body) => body.encode_as(*tag),
        Profile::Uiop(body) => {
            assert_eq!(UiopProfile::decode(tagged).as_ref(), Ok(body));
            body.encode()
        }
        Profile::Orbium(body) => {
            assert_eq!(OrbiumProfile::decode(tagged).as_ref(), Ok(body));
            body.encode()
        }
        Profile::Uipmc(body) => {
            assert_eq!(UipmcProfile::decode(tagged).as_ref(), Ok(body));
            let _ = body.group();
            body.encode()
        }
        Profile::Components(components) => TaggedProfile::multiple_components(components),
        Profile::Unknown => return,
    };
    assert_eq!(Profile::parse(&encoded).as_ref(), Ok(&parsed));
    parsed.components().iter().for_each(component_holds);
}

fn component_holds(tagged: &TaggedComponent) {
    let _ = component::tag_name(tagged.tag);
    let Ok(parsed) = Component::parse(tagged) else {
        return;
    };
    let _ = parsed.to_string();
    let encoded = match &parsed {
        Component::OrbType(orb) => TaggedComponent::orb_type(*orb),
        Component::CodeSets(info) => {
            let _ = codeset::Negotiated::with_server(Some(info), None);
            TaggedComponent::code_sets(info)
        }
        Component::AlternateAddress(at) => TaggedComponent::alternate_address(&at.host, at.port),
        Component::OmniorbUnix { host, path } => TaggedComponent::omniorb_unix(host, path),
        Component::OrbiumHost(id) => TaggedComponent::orbium_host(id),
        Component::Group(group) => TaggedComponent::group(group),
        Component::Policies(policies) => {
            let _ = PublishedPolicies::find(std::slice::from_ref(tagged));
            TaggedComponent::policies(policies)
        }
        Component::TaoEndpoints(endpoints) => TaggedComponent::tao_endpoints(endpoints),
        _ => return,
    };
    assert_eq!(Component::parse(&encoded).as_ref(), Ok(&parsed));
}
