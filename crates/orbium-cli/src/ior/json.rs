// SPDX-License-Identifier: MIT OR Apache-2.0
//! A reference as JSON.

use std::time::Duration;

use orbium::giop::codeset::{CodeSetComponent, CodeSetId};
use orbium::giop::component::{
    AssociationOptions, Component, HostPort, TAG_ORBIUM_QOS, TaggedComponent, orb_name,
};
use orbium::giop::profile::{self, Profile, TaggedProfile};
use orbium::giop::{Corbaloc, IiopProfile, Ior, ObjectUrl};
use orbium_qos::riop::decode;
use orbium_qos::{CommunicationClass, Qos};
use serde_json::{Value, json};

use super::in_force;
use super::octets::{hex, printable};

/// The whole contents of the reference.
pub(super) fn describe(url: &ObjectUrl) -> Value {
    let mut value = said(url);
    let facts = in_force::of(url).into_iter();
    value["calls"] = facts
        .map(|(name, it)| json!({ "name": name, "value": it }))
        .collect();
    value
}

fn said(url: &ObjectUrl) -> Value {
    match url {
        ObjectUrl::Ior(ior) => {
            let mut value = reference(ior);
            value["scheme"] = json!("IOR");
            value
        }
        ObjectUrl::Corbaloc(corbaloc) => {
            let mut value = location(corbaloc);
            value["scheme"] = json!("corbaloc");
            value
        }
        ObjectUrl::Corbaname(corbaname) => json!({
            "scheme": "corbaname",
            "name": corbaname.name,
            "context": location(&corbaname.context),
        }),
    }
}

fn location(corbaloc: &Corbaloc) -> Value {
    let addresses = corbaloc.addresses.iter().map(ToString::to_string);
    let mut value = match corbaloc.to_ior() {
        Ok(ior) => reference(&ior),
        Err(_) => json!({}),
    };
    value["addresses"] = addresses.collect();
    value["object_key"] = octets(&corbaloc.key);
    if let Some(name) = corbaloc.initial_reference() {
        value["initial_reference"] = json!(name);
    }
    value
}

fn reference(ior: &Ior) -> Value {
    let profiles: Vec<_> = ior.profiles.iter().map(tagged_profile).collect();
    json!({ "type_id": ior.type_id, "nil": ior.is_nil(), "profiles": profiles })
}

fn tagged_profile(tagged: &TaggedProfile) -> Value {
    let mut value = match Profile::parse(tagged) {
        Ok(Profile::Iiop(body) | Profile::HostPort(_, body)) => host_profile(&body),
        Ok(Profile::Uiop(body)) => json!({
            "version": body.version.to_string(),
            "path": body.rendezvous_point,
            "object_key": octets(&body.object_key),
            "components": components(&body.components),
        }),
        Ok(Profile::Orbium(body)) => json!({
            "version": body.version.to_string(),
            "scheme": body.scheme,
            "messaging": body.messaging,
            "address": body.address,
            "object_key": octets(&body.object_key),
            "components": components(&body.components),
        }),
        Ok(Profile::Uipmc(body)) => json!({
            "version": body.version.to_string(),
            "address": body.address,
            "port": body.port,
            "components": components(&body.components),
        }),
        Ok(Profile::Components(all)) => json!({ "components": components(&all) }),
        Ok(Profile::Unknown) => json!({ "data": hex(&tagged.data) }),
        Err(error) => json!({ "error": error.to_string(), "data": hex(&tagged.data) }),
    };
    value["tag"] = json!(tagged.tag);
    value["name"] = json!(profile::tag_name(tagged.tag));
    value
}

fn host_profile(body: &IiopProfile) -> Value {
    json!({
        "version": body.version.to_string(),
        "host": body.host,
        "port": body.port,
        "object_key": octets(&body.object_key),
        "components": components(&body.components),
    })
}

fn components(all: &[TaggedComponent]) -> Value {
    all.iter().map(component).collect()
}

/// A component: its name, its content in one line, its octets, and the separate fields of the kinds
/// that programs use.
fn component(tagged: &TaggedComponent) -> Value {
    let parsed = Component::parse(tagged);
    let mut value = match &parsed {
        Ok(Component::OrbType(id)) => json!({ "orb_type": { "id": id, "name": orb_name(*id) } }),
        Ok(Component::CodeSets(info)) => json!({
            "char": code_sets(&info.char_data),
            "wchar": code_sets(&info.wchar_data),
        }),
        Ok(Component::AlternateAddress(address)) => host_port(address),
        Ok(Component::Policies(policies)) => {
            let policies = policies
                .iter()
                .map(|policy| json!({ "type": policy.kind, "value": hex(&policy.data) }));
            json!({ "policies": policies.collect::<Value>() })
        }
        Ok(Component::Ssl {
            supports,
            requires,
            port,
        }) => json!({
            "supports": options(*supports),
            "requires": options(*requires),
            "port": port,
        }),
        Ok(Component::Tls {
            supports,
            requires,
            addresses,
        }) => json!({
            "supports": options(*supports),
            "requires": options(*requires),
            "addresses": addresses.iter().map(host_port).collect::<Value>(),
        }),
        Ok(Component::Other { tag, data }) if *tag == TAG_ORBIUM_QOS => match decode(data) {
            Ok(qos) => quality(&qos),
            Err(error) => json!({ "error": error.to_string() }),
        },
        Ok(_) => json!({}),
        Err(error) => json!({ "error": error.to_string() }),
    };
    if let Ok(content) = parsed {
        value["text"] = json!(content.to_string());
    }
    value["tag"] = json!(tagged.tag);
    value["name"] = json!(orbium::giop::component::tag_name(tagged.tag));
    value["data"] = json!(hex(&tagged.data));
    value
}

fn quality(qos: &Qos) -> Value {
    let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
    json!({ "qos": {
        "class": qos.class.map(CommunicationClass::name),
        "priority": qos.priority.map(orbium::lane::Priority::number),
        "period_seconds": seconds(qos.period),
        "deadline_seconds": seconds(qos.deadline),
        "criticality": qos.criticality.map(|it| it.to_string()),
        "importance": qos.importance.map(|it| it.to_string()),
    }})
}

fn code_sets(sets: &CodeSetComponent) -> Value {
    let set = |set: &CodeSetId| json!({ "id": set.0, "name": set.name() });
    json!({
        "native": set(&sets.native),
        "conversion": sets.conversion.iter().map(set).collect::<Value>(),
    })
}

fn host_port(address: &HostPort) -> Value {
    json!({ "host": address.host, "port": address.port })
}

fn options(options: AssociationOptions) -> Value {
    json!({ "bits": options.0, "names": options.to_string() })
}

fn octets(octets: &[u8]) -> Value {
    json!({ "hex": hex(octets), "text": printable(octets) })
}
