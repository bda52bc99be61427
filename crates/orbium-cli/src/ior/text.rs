// SPDX-License-Identifier: MIT OR Apache-2.0
//! An object reference as text.

use std::fmt::{Display, Write};

use orbium::giop::component::{self, Component, HostPort, TAG_ORBIUM_QOS, TaggedComponent};
use orbium::giop::profile::{self, Profile, TaggedProfile};
use orbium::giop::{
    Corbaloc, IiopProfile, Ior, ObjectUrl, OrbiumProfile, UiopProfile, UipmcProfile, Version,
};
use orbium_qos::riop::decode;

use super::in_force;
use super::octets::{hex, printable};

/// Octets in one line of a dump.
const DUMP_WIDTH: usize = 16;

/// The whole contents of the reference, in lines.
pub(super) fn describe(url: &ObjectUrl) -> String {
    let mut out = Text::default();
    match url {
        ObjectUrl::Ior(ior) => out.ior(ior),
        ObjectUrl::Corbaloc(corbaloc) => out.corbaloc(corbaloc),
        ObjectUrl::Corbaname(corbaname) => {
            if corbaname.name.is_empty() {
                out.field(0, "name", "none: the naming context itself is meant");
            } else {
                out.field(0, "name", &format!("{:?}", corbaname.name));
            }
            out.field(0, "resolved in", "the naming context at");
            out.corbaloc(&corbaname.context);
        }
    }
    let facts = in_force::of(url);
    if !facts.is_empty() {
        out.0.push_str("calls of a client here\n");
    }
    for (name, value) in facts {
        out.field(1, name, &value);
    }
    out.0
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn field(&mut self, depth: usize, name: &str, value: &str) {
        let indent = depth * 2;
        let width = 14_usize.saturating_sub(indent);
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{:indent$}{name:width$} {value}", "");
    }

    fn corbaloc(&mut self, corbaloc: &Corbaloc) {
        for address in &corbaloc.addresses {
            self.field(0, "address", &address.to_string());
        }
        if let Some(name) = corbaloc.initial_reference() {
            self.field(0, "initial name", name);
            return;
        }
        self.octets(0, "object key", &corbaloc.key);
        match corbaloc.to_ior() {
            Ok(ior) => {
                self.0.push_str("which stands for\n");
                self.ior(&ior);
            }
            Err(error) => self.field(0, "reference", &format!("none: {}", error.kind)),
        }
    }

    fn ior(&mut self, ior: &Ior) {
        let id = match ior.type_id.as_str() {
            "" => "not given".to_owned(),
            id if id.chars().any(char::is_control) => format!("{id:?}"),
            id => id.to_owned(),
        };
        self.field(0, "type id", &id);
        if ior.is_nil() {
            self.field(0, "nil", "the reference leads to no object");
        }
        for (number, profile) in (1..).zip(&ior.profiles) {
            self.profile(number, profile);
        }
    }

    fn profile(&mut self, number: usize, profile: &TaggedProfile) {
        let tag = profile::tag_name(profile.tag).unwrap_or("unknown profile");
        let heading = format!("profile {number}");
        self.field(0, &heading, &format!("{tag} ({:#x})", profile.tag));
        match Profile::parse(profile) {
            Ok(Profile::Iiop(body)) => self.host_profile("IIOP", &body),
            Ok(Profile::HostPort(_, body)) => self.host_profile("GIOP", &body),
            Ok(Profile::Uiop(body)) => self.unix_profile(&body),
            Ok(Profile::Orbium(body)) => self.orbium_profile(&body),
            Ok(Profile::Uipmc(body)) => self.group_profile(&body),
            Ok(Profile::Components(components)) => self.components(&components),
            Ok(Profile::Unknown) => self.octets(1, "data", &profile.data),
            Err(error) => {
                self.field(1, "malformed", &error.to_string());
                self.octets(1, "data", &profile.data);
            }
        }
    }

    fn version(&mut self, protocol: &str, version: Version) {
        self.field(1, "version", &format!("{protocol} {version}"));
    }

    fn host_profile(&mut self, protocol: &str, body: &IiopProfile) {
        self.version(protocol, body.version);
        let own = HostPort {
            host: body.host.clone(),
            port: body.port,
        };
        let host = if body.host.chars().any(char::is_control) {
            format!("{:?}", body.host)
        } else {
            body.host.clone()
        };
        self.field(1, "host", &host);
        let port = match own.port {
            0 => "0: no plain connection, see the components".to_owned(),
            port => port.to_string(),
        };
        self.field(1, "port", &port);
        self.octets(1, "object key", &body.object_key);
        self.components(&body.components);
    }

    fn unix_profile(&mut self, body: &UiopProfile) {
        self.version("GIOP", body.version);
        self.field(1, "socket", &format!("{:?}", body.rendezvous_point));
        self.octets(1, "object key", &body.object_key);
        self.components(&body.components);
    }

    fn orbium_profile(&mut self, body: &OrbiumProfile) {
        self.version("GIOP", body.version);
        self.field(1, "transport", &format!("{:?}", body.scheme));
        self.field(1, "address", &format!("{:?}", body.address));
        let messaging = match body.messaging.as_slice() {
            [] => "GIOP".to_owned(),
            halves => format!("{:?}", halves.join(",")),
        };
        self.field(1, "messaging", &messaging);
        self.octets(1, "object key", &body.object_key);
        self.components(&body.components);
    }

    fn group_profile(&mut self, body: &UipmcProfile) {
        self.version("MIOP", body.version);
        self.field(1, "address", &format!("{:?}", body.address));
        self.field(1, "port", &body.port.to_string());
        self.components(&body.components);
    }

    fn components(&mut self, components: &[TaggedComponent]) {
        if components.is_empty() {
            self.field(1, "components", "none");
            return;
        }
        self.0.push_str("  components\n");
        for component in components {
            self.component(component);
        }
    }

    fn component(&mut self, component: &TaggedComponent) {
        let name = component_name(component);
        match Component::parse(component) {
            Ok(Component::Other { tag, data }) if tag == TAG_ORBIUM_QOS => match decode(&data) {
                Ok(qos) => self.named(name, &qos),
                Err(error) => self.named(name, &format_args!("malformed: {error}")),
            },
            Ok(Component::Other { tag, data }) => {
                let _ = writeln!(self.0, "    {name} ({tag:#x})");
                self.dump(6, &data);
            }
            Ok(known) => self.named(name, &known),
            Err(error) => {
                self.named(name, &format_args!("malformed: {error}"));
                self.dump(6, &component.data);
            }
        }
    }

    /// Writes the content of a component, in one line.
    fn named(&mut self, name: &str, content: &dyn Display) {
        let _ = writeln!(self.0, "    {name:26} {content}");
    }

    /// Octets in hexadecimal and as text: in one line if they fit, else as a
    /// dump below the name.
    fn octets(&mut self, depth: usize, name: &str, octets: &[u8]) {
        if octets.len() <= 2 * DUMP_WIDTH {
            let value = match octets {
                [] => "empty".to_owned(),
                _ => format!("{}  \"{}\"", hex(octets), printable(octets)),
            };
            self.field(depth, name, &value);
        } else {
            self.field(depth, name, &format!("{} octets", octets.len()));
            self.dump(depth * 2 + 2, octets);
        }
    }

    fn dump(&mut self, indent: usize, octets: &[u8]) {
        for row in octets.chunks(DUMP_WIDTH) {
            let digits = hex(row);
            let width = 2 * DUMP_WIDTH;
            let _ = writeln!(
                self.0,
                "{:indent$}{digits:width$}  \"{}\"",
                "",
                printable(row)
            );
        }
    }
}

/// The name of a component's tag.
fn component_name(component: &TaggedComponent) -> &'static str {
    component::tag_name(component.tag).unwrap_or("unknown component")
}
