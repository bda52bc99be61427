// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of all keys of a configuration.

use crate::lane_keys;
use crate::tls_values as tls;
use crate::value_syntax::{
    Read, flag, list, number, octets, optional, parsed, show_octets, show_optional, show_span, span,
};
use orbium_config::file_url::path_of;
use orbium_core::Endpoint;
use orbium_giop::ObjectUrl;

use orbium_core::{
    Config, ConnectTimeout, ForwardBoundKeys, GiopMinor, NamingTimeout, ProtocolPolicy,
    ReplyBatching, ServerStrategy,
};

/// A key of a configuration.
#[derive(Clone, Copy, Debug)]
pub struct ConfigKey {
    /// Its name.
    pub name: &'static str,
    /// The syntax of its value.
    pub value: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    pub(crate) set: fn(&mut Config, &str) -> Read<()>,
    show: fn(&Config) -> String,
}

impl ConfigKey {
    /// All keys, in the order of the documentation. Socket options are keys, too: `properties.`
    /// with the name of a protocol property.
    pub const ALL: &'static [Self] = KEYS;

    /// The value in a configuration, in the syntax of files.
    #[must_use]
    pub fn show(&self, config: &Config) -> String {
        (self.show)(config)
    }
}

/// An optional name.
fn name(text: &str) -> Read<String> {
    Ok(optional(text, |name| Ok(name.to_owned()))?.unwrap_or_default())
}

fn show_name(name: &str) -> String {
    show_optional(Some(name).filter(|it| !it.is_empty()), str::to_owned)
}

fn initial_reference(text: &str) -> Read<(String, String)> {
    let Some((name, url)) = text.split_once('=') else {
        return Err(format!(
            "`{text}` names no reference: write NameService=corbaloc::host:2809/NameService"
        ));
    };
    let (name, url) = (name.trim(), url.trim());
    if name.is_empty() {
        return Err("the reference has no name: write NameService= before it".into());
    }
    if let Some(path) = path_of(url) {
        // The file is read when the reference is resolved: its server may start later.
        return if path.as_os_str().is_empty() {
            Err(format!("`{url}` names no file: write file:///run/name.ref"))
        } else {
            Ok((name.to_owned(), url.to_owned()))
        };
    }
    let parsed = ObjectUrl::parse(url).map_err(|error| format!("`{url}`: {error}"))?;
    let context = match &parsed {
        ObjectUrl::Corbaloc(corbaloc) => Some(corbaloc),
        ObjectUrl::Corbaname(corbaname) => Some(&corbaname.context),
        ObjectUrl::Ior(_) => None,
    };
    match context.and_then(|context| context.initial_reference()) {
        Some(initial) if initial == name => Err(format!(
            "`{url}` leads back to `{name}` itself: write the address"
        )),
        _ => Ok((name.to_owned(), url.to_owned())),
    }
}

macro_rules! keys {
    ($($name:literal $value:literal $meaning:literal
       |$config:ident, $text:ident| $set:expr, |$shown:ident| $show:expr;)*) => {
        const KEYS: &[ConfigKey] = &[$(ConfigKey {
            name: $name,
            value: $value,
            meaning: $meaning,
            set: |$config, $text| {
                $set;
                Ok(())
            },
            show: |$shown| $show,
        },)*];
    };
}

keys! {
    "endpoint" "URL" "where to listen; may be repeated, `none` removes those before. Without one, the first activated object opens a free TCP port on all interfaces"
        |c, text| match text {
            "none" => c.endpoints.clear(),
            text => c.endpoints.push(parsed::<Endpoint>(text)?),
        },
        |c| list(&c.endpoints, ToString::to_string);
    "server_strategy" "STRATEGY" "how connections are served: thread-per-connection, reactive, leader-followers, worker-pool"
        |c, text| c.strategy = parsed::<ServerStrategy>(text)?,
        |c| c.strategy.to_string();
    "lanes" "NAMES or none" "the names of the lanes, which `lane.NAME.KEY` describe; others are removed"
        |c, text| lane_keys::choose(&mut c.lanes, text)?,
        |c| lane_keys::show(&c.lanes);
    "protocols" "LIST" "the transports and messaging protocols that are enabled"
        |c, text| {
            let names = text.split(',').map(str::trim);
            // It is registered when it is configured.
            let is_to_come = |name: &str| {
                name == "ssliop" && Config::has_tls() && c.protocols.transport(name).is_none()
            };
            let names: Vec<_> = names.filter(|name| !is_to_come(name)).collect();
            c.protocols = c.protocols.only(names).map_err(|error| error.to_string())?;
        },
        |c| c.protocols.schemes().chain(c.protocols.messaging()).collect::<Vec<_>>().join(",");
    "client_strategy" "STRATEGY" "how calls use connections and wait: exclusive-pool, exclusive-per-thread, leader-followers, io-thread or reactor"
        |c, text| c.client_strategy = parsed(text)?,
        |c| c.client_strategy.to_string();
    "client_protocols" "LIST or none" "ClientProtocolPolicy: the protocols for calls, best first"
        |c, text| c.client_protocols = optional(text, parsed::<ProtocolPolicy>)?,
        |c| show_optional(c.client_protocols.as_ref(), ToString::to_string);
    "orb_id" "NAME or none" "the name of the ORB for interceptors and object reference templates"
        |c, text| c.identity.orb_id = name(text)?,
        |c| show_name(&c.identity.orb_id);
    "server_id" "NAME or none" "the name of the server for them"
        |c, text| c.identity.server_id = name(text)?,
        |c| show_name(&c.identity.server_id);
    "initial_reference" "NAME=URL" "an initial reference for `resolve_initial_references`; may be repeated"
        |c, text| c.initial_references.push(initial_reference(text)?),
        |c| list(&c.initial_references, |(name, url)| format!("{name}={url}"));
    "default_initial_reference" "URL or none" "for unknown names: this URL, a slash and the name"
        |c, text| c.default_initial_reference = optional(text, |url| Ok(url.to_owned()))?,
        |c| show_optional(c.default_initial_reference.clone(), |url| url);
    "naming_timeout" "TIME" "bounds the resolving of a `corbaname:`, and queries of the Interface Repository for `_interface`"
        |c, text| c.naming_timeout = NamingTimeout(span(text)?),
        |c| show_span(c.naming_timeout.0);
    "call_timeout" "TIME or none" "RelativeRoundtripTimeout: bounds a call"
        |c, text| c.call_timeout = optional(text, span)?,
        |c| show_optional(c.call_timeout, show_span);
    "request_timeout" "TIME or none" "RelativeRequestTimeout: bounds the time until the servant begins"
        |c, text| c.request_timeout = optional(text, span)?,
        |c| show_optional(c.request_timeout, show_span);
    "keeps_deadlines" "true or false" "whether deadlines of calls are not sent to servers"
        |c, text| c.keeps_deadlines = flag(text)?,
        |c| c.keeps_deadlines.to_string();
    "connect_timeout" "TIME or none" "bounds making a connection, within the time of the call"
        |c, text| c.connect_timeout = optional(text, span)?.map_or(ConnectTimeout::NONE, ConnectTimeout),
        |c| show_optional(Some(c.connect_timeout).filter(|it| *it != ConnectTimeout::NONE), |it| show_span(it.0));
    "fragment_size" "OCTETS or none" "the size above which messages are sent in fragments"
        |c, text| c.fragment_size = optional(text, octets)?,
        |c| show_optional(c.fragment_size, show_octets);
    "reply_batching" "true or false" "whether replies to pipelined requests are sent together"
        |c, text| c.reply_batching = ReplyBatching(flag(text)?),
        |c| c.reply_batching.0.to_string();
    "giop_minor" "0, 1 or 2" "the highest minor version of GIOP 1 that is published and used"
        |c, text| {
            let minor = GiopMinor::new(number(text)?);
            c.giop_minor = minor.ok_or("there are GIOP 1.0, 1.1 and 1.2: write 0, 1 or 2")?;
        },
        |c| c.giop_minor.number().to_string();
    "native_char_code_set" "ISO-8859-1 or UTF-8" "the code set for `char` and `string` that references name as native; both are served"
        |c, text| c.native_char_code_set = parsed(text)?,
        |c| c.native_char_code_set.to_string();
    "metrics" "true or false" "counts and measures calls and requests, for `Orb::metrics`"
        |c, text| c.metrics = flag(text)?,
        |c| c.metrics.to_string();
    "forward_bound_keys" "true or false" "whether clients that call by a bound key are forwarded to the whole reference"
        |c, text| c.forward_bound_keys = ForwardBoundKeys(flag(text)?),
        |c| c.forward_bound_keys.0.to_string();
    "collocation" "through-poa, direct or marshalled" "how calls reach objects of their own ORB"
        |c, text| c.collocation = parsed(text)?,
        |c| c.collocation.to_string();
    "awaits_adapters" "true or false" "whether requests for persistent objects wait while their adapters are missing and the manager above holds requests"
        |c, text| c.awaits_adapters = flag(text)?,
        |c| c.awaits_adapters.to_string();
    "bidirectional" "normal or both" "BidirectionalPolicy: whether connections carry the requests of both sides"
        |c, text| c.bidirectional = parsed(text)?,
        |c| c.bidirectional.to_string();
    "bidirectional_overrides" "true or false" "whether single adapters and references may have BOTH where `bidirectional` is normal"
        |c, text| c.bidirectional_overrides = flag(text)?,
        |c| c.bidirectional_overrides.to_string();
    "bidirectional_hosts" "own, authenticated, any or NAMES" "which hosts clients may announce: by default the address that they connect from"
        |c, text| c.bidirectional_hosts = parsed(text)?,
        |c| c.bidirectional_hosts.to_string();
    "tls.certificate" "FILE or none" "PEM file with the certificate of this ORB and its chain; may contain the key"
        |c, text| c.tls.certificate = tls::file(text)?,
        |c| tls::show_file(c.tls.certificate.as_ref());
    "tls.key" "FILE or none" "PEM file with the key, not encrypted, readable by its owner only"
        |c, text| c.tls.key = tls::file(text)?,
        |c| tls::show_file(c.tls.key.as_ref());
    "tls.key_readable_by_others" "true or false" "whether a key file may be readable by its group or by others"
        |c, text| c.tls.key_readable_by_others = flag(text)?,
        |c| c.tls.key_readable_by_others.to_string();
    "tls.authorities" "FILE or none" "PEM file with the trusted authorities"
        |c, text| c.tls.authorities = tls::file(text)?,
        |c| tls::show_file(c.tls.authorities.as_ref());
    "tls.revocation_lists" "FILES or none" "PEM files with the revocation lists of all authorities"
        |c, text| c.tls.revocation_lists = tls::files(text)?,
        |c| tls::show_files(&c.tls.revocation_lists);
    "tls.outdated_lists" "refuse or accept" "how to treat peers if the revocation list of their authority is out of date"
        |c, text| c.tls.outdated_lists = parsed(text)?,
        |c| c.tls.outdated_lists.to_string();
    "tls.client_certificates" "none, request or require" "whether a server requests or requires certificates of its clients"
        |c, text| c.tls.client_authentication = parsed(text)?,
        |c| c.tls.client_authentication.to_string();
    "tls.server_names" "host, any or NAMES" "the name that a server's certificate must have: that of the reference, any, or one of these"
        |c, text| c.tls.server_name = tls::names(text)?,
        |c| tls::show_names(&c.tls.server_name);
    "tls.versions" "VERSIONS" "the versions that are used: 1.2, 1.3 or both"
        |c, text| tls::versions(&mut c.tls, text)?,
        |c| tls::show_versions(&c.tls);
    "tls.require" "true or false" "whether calls that leave the host, and endpoints, without TLS are refused"
        |c, text| c.tls.require = flag(text)?,
        |c| c.tls.require.to_string();
    "tls.handshake_time" "TIME" "bounds a handshake"
        |c, text| c.tls.handshake_time = span(text)?,
        |c| show_span(c.tls.handshake_time);
    "tls.watch_files" "true or false" "whether files that have changed are read again"
        |c, text| c.tls.watch_files = flag(text)?,
        |c| c.tls.watch_files.to_string();
    "watch" "true or false" "lets `orbium top` show the ORB, and turns metrics on"
        |c, text| c.watch = flag(text)?,
        |c| c.watch.to_string();
    "limits.message_size" "OCTETS" "the size of the largest message, sent or received"
        |c, text| c.limits.message_size = octets(text)?,
        |c| show_octets(c.limits.message_size);
    "limits.peer_memory" "OCTETS or none" "memory that peers can make the ORB allocate, over all connections; none for half of the memory that the process may use"
        |c, text| c.limits.peer_memory = optional(text, octets)?,
        |c| show_optional(c.limits.peer_memory, show_octets);
    "limits.decompression_ratio" "NUMBER" "largest ratio of a decompressed message to its compressed frame, beyond 1 MiB"
        |c, text| c.limits.decompression_ratio = number(text)?,
        |c| c.limits.decompression_ratio.to_string();
    "limits.nesting" "NUMBER" "levels of nesting in a value received"
        |c, text| c.limits.nesting = number(text)?,
        |c| c.limits.nesting.to_string();
    "limits.messages_in_assembly" "NUMBER" "messages in fragments at a time, per connection"
        |c, text| c.limits.messages_in_assembly = number(text)?,
        |c| c.limits.messages_in_assembly.to_string();
    "limits.connections" "NUMBER" "connections served at once, not counting endpoints of datagrams"
        |c, text| c.limits.connections = number(text)?,
        |c| c.limits.connections.to_string();
    "limits.initial_idle_time" "TIME or none" "time of a peer until its first message begins, handshakes included"
        |c, text| c.limits.initial_idle_time = optional(text, span)?,
        |c| show_optional(c.limits.initial_idle_time, show_span);
    "limits.message_time" "TIME" "time of a peer to complete a message"
        |c, text| c.limits.message_time = span(text)?,
        |c| show_span(c.limits.message_time);
    "limits.send_time" "TIME" "time of a peer to accept data that are sent to it"
        |c, text| c.limits.send_time = span(text)?,
        |c| show_span(c.limits.send_time);
    "limits.held_requests" "NUMBER" "requests held by a POA manager"
        |c, text| c.limits.held_requests = number(text)?,
        |c| c.limits.held_requests.to_string();
    "limits.hold_time" "TIME or none" "time for which a POA manager holds a request; then TRANSIENT"
        |c, text| c.limits.hold_time = optional(text, span)?,
        |c| show_optional(c.limits.hold_time, show_span);
    "limits.open_requests" "NUMBER" "requests of a POA to be answered after their servants have returned; then TRANSIENT"
        |c, text| c.limits.open_requests = number(text)?,
        |c| c.limits.open_requests.to_string();
    "limits.open_time" "TIME" "time for which `destroy` and `shutdown` wait for such requests; then TRANSIENT"
        |c, text| c.limits.open_time = span(text)?,
        |c| show_span(c.limits.open_time);
    "limits.serving_threads" "NUMBER" "threads that serve at once, in strategies that start more while threads wait"
        |c, text| c.limits.serving_threads = number(text)?,
        |c| c.limits.serving_threads.to_string();
    "limits.dedicated_threads" "NUMBER" "connections with threads of their own, which clients may ask for"
        |c, text| c.limits.dedicated_threads = number(text)?,
        |c| c.limits.dedicated_threads.to_string();
    "limits.connections_per_server" "NUMBER" "connections to one server"
        |c, text| c.limits.connections_per_server = number(text)?,
        |c| c.limits.connections_per_server.to_string();
    "limits.idle_connections" "NUMBER" "connections kept for later calls, to all servers together"
        |c, text| c.limits.idle_connections = number(text)?,
        |c| c.limits.idle_connections.to_string();
    "limits.calls_per_connection" "NUMBER" "calls at once on a connection that is shared"
        |c, text| c.limits.calls_per_connection = number(text)?,
        |c| c.limits.calls_per_connection.to_string();
    "limits.asynchronous_calls" "NUMBER" "asynchronous calls under way at once"
        |c, text| c.limits.asynchronous_calls = number(text)?,
        |c| c.limits.asynchronous_calls.to_string();
    "limits.buffered_oneways" "OCTETS" "size of the buffer of oneways of a connection"
        |c, text| c.limits.buffered_oneways = octets(text)?,
        |c| show_octets(c.limits.buffered_oneways);
    "limits.reply_threads" "NUMBER" "reply handlers that run at once, for each priority of callers"
        |c, text| c.limits.reply_threads = number(text)?,
        |c| c.limits.reply_threads.to_string();
    "limits.client_idle_time" "TIME or none" "time after which a client closes an unused connection"
        |c, text| c.limits.client_idle_time = optional(text, span)?,
        |c| show_optional(c.limits.client_idle_time, show_span);
    "limits.server_idle_time" "TIME or none" "time after which a server closes a connection without messages"
        |c, text| c.limits.server_idle_time = optional(text, span)?,
        |c| show_optional(c.limits.server_idle_time, show_span);
    "limits.forwards" "NUMBER" "forwards that one call follows"
        |c, text| c.limits.forwards = number(text)?,
        |c| c.limits.forwards.to_string();
    "limits.idempotent_retries" "NUMBER" "times that a call of an `@idempotent` operation is sent again after its connection was lost"
        |c, text| c.limits.idempotent_retries = number(text)?,
        |c| c.limits.idempotent_retries.to_string();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Configure as _;

    /// Reading back a shown value changes nothing, in every profile.
    #[test]
    fn shown_values_can_be_read() {
        for (name, _) in super::super::profiles::PROFILES {
            let config = Config::profile(name).unwrap();
            for key in ConfigKey::ALL {
                let mut other = config.clone();
                let text = key.show(&config);
                if key.name == "initial_reference" && text == "none" {
                    continue;
                }
                (key.set)(&mut other, &text).unwrap();
                assert_eq!(key.show(&other), text, "{}", key.name);
            }
        }
    }

    /// The names of the fields of a struct.
    fn fields(shown: &str) -> Vec<&str> {
        let fields = shown.lines().filter_map(|line| line.strip_prefix("    "));
        let fields = fields.filter(|line| !line.starts_with([' ', '}', ']', ')']));
        fields
            .filter_map(|line| Some(line.split_once(':')?.0))
            .collect()
    }

    /// A new field needs a key, too.
    #[test]
    fn every_field_has_a_key() {
        let config = Config::default();
        let all = ConfigKey::ALL.iter().map(|key| key.name);
        let limits = format!("{:#?}", config.limits);
        let limits: Vec<_> = fields(&limits)
            .into_iter()
            .map(|name| format!("limits.{name}"))
            .collect();
        let keys: Vec<_> = all
            .clone()
            .filter(|name| name.starts_with("limits."))
            .collect();
        assert_eq!(limits, keys);
        let shown = format!("{config:#?}");
        let others = fields(&shown)
            .into_iter()
            // Hooks and interceptors are code: they are not in files.
            .filter(|name| !matches!(*name, "limits" | "properties" | "dispatch" | "tls"));
        let others: Vec<_> = others.filter(|name| *name != "interceptors").collect();
        let shown = format!("{:#?}", config.tls);
        // Two fields are set by one key, the versions.
        let keys = all.clone().filter(|name| name.starts_with("tls.")).count();
        assert_eq!(fields(&shown).len(), keys + 1);
        let is_in_section = |name: &&str| name.starts_with("limits.") || name.starts_with("tls.");
        let keys: Vec<_> = all.filter(|name| !is_in_section(name)).collect();
        // The identity has two keys.
        assert_eq!(others.len() + 1, keys.len(), "{others:?} and {keys:?}");
    }

    /// Every key sets a value, and reports invalid ones.
    #[test]
    fn every_key_sets_something_of_its_own() {
        for key in ConfigKey::ALL {
            let value = match (key.name, key.value) {
                ("endpoint", _) => "iiop://:5000",
                ("server_strategy", _) => "reactive",
                ("client_strategy", _) => "io-thread",
                ("protocols" | "client_protocols", _) => "iiop",
                ("giop_minor", _) => "1",
                ("collocation", _) => "direct",
                ("native_char_code_set", _) => "UTF-8",
                ("tls.watch_files", _) => "false",
                (_, "FILE or none" | "FILES or none") => "/etc/orb/some.pem",
                (_, "refuse or accept") => "accept",
                (_, "none, request or require") => "request",
                (_, "normal or both") => "both",
                (_, "own, authenticated, any or NAMES") => "client.example,192.0.2.1",
                (_, "host, any or NAMES") => "orb.example, 192.0.2.1",
                (_, "VERSIONS") => "1.3",
                (_, "NAMES or none") => "urgent, routine",
                (_, "NAME=URL") => "A=corbaloc::b/C",
                (_, "URL or none") => "corbaloc::b",
                (_, "NAME or none") => "flight",
                ("forward_bound_keys" | "reply_batching", _) => "false",
                (_, "true or false") => "true",
                (_, "NUMBER") => "77",
                (_, "OCTETS" | "OCTETS or none") => "77 KiB",
                (_, "TIME" | "TIME or none") => "77 ms",
                other => panic!("{other:?}"),
            };
            let mut config = Config::default();
            (key.set)(&mut config, value).unwrap();
            assert_ne!(config, Config::default(), "{}", key.name);
            let others = ConfigKey::ALL.iter().filter(|other| other.name != key.name);
            for other in others {
                assert_eq!(other.show(&config), other.show(&Config::default()));
            }
            let takes_all = [
                "URL or none",
                "NAME or none",
                "FILE or none",
                "FILES or none",
            ];
            if !takes_all.contains(&key.value) {
                let refused = (key.set)(&mut config, "?!").unwrap_err();
                assert!(!refused.is_empty(), "{}", key.name);
            }
        }
    }
}
