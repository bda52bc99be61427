// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of `-ORB` arguments.

/// What an argument does with its value.
#[derive(Clone, Copy)]
pub(super) enum Does {
    /// Sets that key.
    Set(&'static str),
    /// Sets that key to so many milliseconds; 0 is none.
    Milliseconds(&'static str),
    /// Sets that key to what a word of another ORB means.
    Choose(&'static str, &'static [(&'static str, &'static str)]),
    /// Adds endpoints, separated by commas or semicolons.
    Listen,
    /// Sets the key that the value names: `-ORBSet key=value`.
    Any,
    /// Chooses a profile.
    Profile,
    /// Reads a file.
    File,
    /// Sets that key to so many seconds; 0 is none.
    Seconds(&'static str),
    /// Is refused, saying what to write here instead.
    Instead(&'static str),
    /// Nothing, but the value must be this one.
    Only(&'static str),
    /// Nothing: orbium's ORBs are values, which nobody looks up by name.
    Ignore,
}

/// How TAO's clients wait.
const WAITS: Does = Does::Choose(
    "client_strategy",
    &[
        ("st", "reactor"),
        ("mt", "leader-followers"),
        ("mt_noupcall", "leader-followers"),
        ("rw", "exclusive-pool"),
    ],
);

/// Where an address to publish is written.
const PUBLISH: &str = "-ORBListenEndpoints iiop://0.0.0.0:5000?publish=HOST:PORT";

/// Who hears of events.
const TRACE: &str = "the feature `tracing` and a subscriber, as in RUST_LOG=orbium_core=debug";

/// Where files of TLS are named.
const TLS: &str = "the keys `tls.…`, see docs/tls.md";

/// By name.
pub(super) const ARGUMENTS: &[(&str, Does)] = &[
    ("-ORBProfile", Does::Profile),
    ("-ORBConfigFile", Does::File),
    ("-ORBconfigFile", Does::File),
    ("-ORBSvcConf", Does::File),
    ("-ORBSet", Does::Any),
    ("-ORBListenEndpoints", Does::Listen),
    ("-ORBEndpoint", Does::Listen),
    ("-ORBendPoint", Does::Listen),
    ("-ORBInitRef", Does::Set("initial_reference")),
    ("-ORBDefaultInitRef", Does::Set("default_initial_reference")),
    ("-ORBServerStrategy", Does::Set("server_strategy")),
    ("-ORBConcurrency", Does::Set("server_strategy")),
    (
        "-ORBThreadPerConnectionPolicy",
        Does::Choose(
            "server_strategy",
            &[("1", "thread-per-connection"), ("0", "worker-pool")],
        ),
    ),
    ("-ORBClientStrategy", Does::Set("client_strategy")),
    (
        "-ORBTransportMuxStrategy",
        Does::Choose(
            "client_strategy",
            &[
                ("exclusive", "exclusive-pool"),
                ("muxed", "leader-followers"),
            ],
        ),
    ),
    ("-ORBWaitStrategy", WAITS),
    ("-ORBClientConnectionHandler", WAITS),
    (
        "-ORBoneCallPerConnection",
        Does::Choose(
            "client_strategy",
            &[("1", "exclusive-pool"), ("0", "leader-followers")],
        ),
    ),
    ("-ORBProtocols", Does::Set("protocols")),
    ("-ORBClientProtocols", Does::Set("client_protocols")),
    ("-ORBCallTimeout", Does::Set("call_timeout")),
    (
        "-ORBclientCallTimeOutPeriod",
        Does::Milliseconds("call_timeout"),
    ),
    ("-ORBRequestTimeout", Does::Set("request_timeout")),
    ("-ORBConnectTimeout", Does::Set("connect_timeout")),
    (
        "-ORBclientConnectTimeOutPeriod",
        Does::Milliseconds("connect_timeout"),
    ),
    ("-ORBMaxMessageSize", Does::Set("fragment_size")),
    ("-ORBgiopMaxMsgSize", Does::Set("limits.message_size")),
    (
        "-ORBConnectionCacheMax",
        Does::Set("limits.idle_connections"),
    ),
    (
        "-ORBmaxGIOPConnectionPerServer",
        Does::Set("limits.connections_per_server"),
    ),
    ("-ORBnativeCharCodeSet", Does::Set("native_char_code_set")),
    ("-ORBNativeCharCodeSet", Does::Set("native_char_code_set")),
    ("-ORBnativeWCharCodeSet", Does::Only("UTF-16")),
    (
        "-ORBmaxGIOPVersion",
        Does::Choose("giop_minor", &[("1.0", "0"), ("1.1", "1"), ("1.2", "2")]),
    ),
    (
        "-ORBinConScanPeriod",
        Does::Seconds("limits.server_idle_time"),
    ),
    (
        "-ORBoutConScanPeriod",
        Does::Seconds("limits.client_idle_time"),
    ),
    ("-ORBscanGranularity", Does::Ignore),
    (
        "-ORBpoaHoldRequestTimeout",
        Does::Milliseconds("limits.hold_time"),
    ),
    (
        "-ORBthreadPerConnectionPolicy",
        Does::Choose(
            "server_strategy",
            &[("1", "thread-per-connection"), ("0", "worker-pool")],
        ),
    ),
    (
        "-ORBmaxServerThreadPerConnection",
        Does::Choose("server_strategy", &[("1", "thread-per-connection")]),
    ),
    (
        "-ORBmaxServerThreadPoolSize",
        Does::Instead("-ORBServerStrategy worker-pool:THREADS/QUEUE"),
    ),
    ("-ORBendPointPublish", Does::Instead(PUBLISH)),
    ("-ORBendPointNoListen", Does::Instead(PUBLISH)),
    ("-ORBtraceLevel", Does::Instead(TRACE)),
    ("-ORBtraceInvocations", Does::Instead(TRACE)),
    ("-ORBtraceFile", Does::Instead(TRACE)),
    (
        "-ORBclientTransportRule",
        Does::Instead("-ORBClientProtocols LIST"),
    ),
    (
        "-ORBserverTransportRule",
        Does::Instead("-ORBListenEndpoints with the addresses to listen at"),
    ),
    ("-ORBsslCAPath", Does::Instead(TLS)),
    ("-ORBsslKeyPassword", Does::Instead(TLS)),
    ("-ORBsslCipherList", Does::Instead(TLS)),
    ("-ORBSndSock", Does::Set("properties.send_buffer")),
    ("-ORBRcvSock", Does::Set("properties.receive_buffer")),
    ("-ORBNodelay", Does::Set("properties.no_delay")),
    ("-ORBKeepalive", Does::Set("properties.keep_alive")),
    ("-ORBmetrics", Does::Set("metrics")),
    ("-ORBTlsCertificate", Does::Set("tls.certificate")),
    ("-ORBTlsKey", Does::Set("tls.key")),
    ("-ORBTlsAuthorities", Does::Set("tls.authorities")),
    ("-ORBTlsRevocationLists", Does::Set("tls.revocation_lists")),
    (
        "-ORBTlsClientCertificates",
        Does::Set("tls.client_certificates"),
    ),
    ("-ORBTlsVersions", Does::Set("tls.versions")),
    ("-ORBTlsRequire", Does::Set("tls.require")),
    ("-ORBsslCAFile", Does::Set("tls.authorities")),
    ("-ORBsslKeyFile", Does::Set("tls.certificate")),
    (
        "-ORBsslVerifyMode",
        Does::Choose(
            "tls.client_certificates",
            &[
                ("none", "none"),
                ("peer", "request"),
                ("peer,fail", "require"),
            ],
        ),
    ),
    ("-ORBwatch", Does::Set("watch")),
    ("-ORBId", Does::Ignore),
    ("-ORBid", Does::Ignore),
    ("-ORBServerId", Does::Ignore),
];

/// The names of all arguments.
#[cfg(test)]
pub(in super::super) fn names() -> impl Iterator<Item = &'static str> {
    ARGUMENTS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, ConfigKey};

    /// `-ORBsslCAFile` once stood there twice, and the first refused what the second set.
    #[test]
    fn no_argument_stands_there_twice() {
        for (place, (name, _)) in ARGUMENTS.iter().enumerate() {
            let twice = ARGUMENTS[..place].iter().any(|(other, _)| other == name);
            assert!(!twice, "{name}");
        }
    }

    /// What sets a key sets one that there is.
    #[test]
    #[cfg(feature = "tls")]
    fn every_argument_leads_to_a_key() {
        for (name, does) in ARGUMENTS {
            let (Does::Set(key)
            | Does::Milliseconds(key)
            | Does::Seconds(key)
            | Does::Choose(key, _)) = does
            else {
                continue;
            };
            if let Does::Choose(key, words) = does {
                for (_, ours) in *words {
                    Config::default().put(key, ours).unwrap();
                }
            }
            let property = key.strip_prefix("properties.");
            let names = orbium_sys::SocketOptions::TCP_NAMES;
            assert!(
                ConfigKey::ALL.iter().any(|known| known.name == *key)
                    || property.is_some_and(|property| names.contains(&property)),
                "{name}: {key}"
            );
        }
    }
}
