// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of `-ORB` arguments.

use super::foreign::{FOLDER, PASSWORD, SUITES};

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
    /// Nothing, but the value must be one of these.
    OneOf(&'static [&'static str]),
    /// Sets that key to that value; no value is behind the argument.
    Flag(&'static str, &'static str),
    /// Sets that key to a file, which TAO writes as `PEM:file`.
    Pem(&'static str),
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
pub(super) const TRACE: &str = "a subscriber of the crate tracing, as in RUST_LOG=orbium=debug";

/// Which certificates are asked for, in words of omniORB.
const PEERS: Does = Does::Choose(
    "tls.client_certificates",
    &[
        ("none", "none"),
        ("peer", "request"),
        ("peer,once", "request"),
        ("peer,fail", "require"),
        ("peer,fail,once", "require"),
    ],
);

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
    ("-ORBnativeWCharCodeSet", Does::OneOf(&["UTF-16"])),
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
    ("-ORBsslCAPath", Does::Instead(FOLDER)),
    ("-ORBsslKeyPassword", Does::Instead(PASSWORD)),
    ("-ORBsslCipherList", Does::Instead(SUITES)),
    (
        "-ORBProtocolFactory",
        Does::OneOf(&[
            "IIOP_Factory",
            "UIOP_Factory",
            "SSLIOP_Factory",
            "SHMIOP_Factory",
            "DIOP_Factory",
        ]),
    ),
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
    ("-ORBsslVerifyMode", PEERS),
    ("-ORBsslVerifyModeIncoming", PEERS),
    (
        "-ORBsslAcceptTimeOut",
        Does::Milliseconds("tls.handshake_time"),
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

    /// `-ORBsslCAFile` once stood there twice, and the first refused what the second set.
    #[test]
    fn no_argument_stands_there_twice() {
        for (place, (name, _)) in ARGUMENTS.iter().enumerate() {
            let twice = ARGUMENTS[..place].iter().any(|(other, _)| other == name);
            assert!(!twice, "{name}");
        }
    }
}

/// With all keys.
#[cfg(all(test, feature = "tls"))]
mod rows {
    use super::*;
    use crate::{Config, ConfigKey};

    /// A configuration after one argument, or why there is none.
    fn after(name: &str, value: &str) -> Result<Config, String> {
        let mut args = vec![name.to_owned(), value.to_owned()];
        let config = Config::from_args(&mut args);
        config.map_err(|error| error.to_string())
    }

    fn with(key: &str, value: &str) -> Config {
        let mut config = Config::default();
        config.set(key, value).unwrap();
        config
    }

    /// Each row of the table alone: it does what setting its key does, or is answered with
    /// what to write here.
    #[test]
    fn each_argument_does_what_its_row_says() {
        let default = Config::default();
        for (name, does) in ARGUMENTS {
            match *does {
                Does::Set(key) => {
                    let value = match key {
                        "initial_reference" => "A=corbaloc::h:1/A",
                        "server_strategy" => "reactive",
                        "client_strategy" => "io-thread",
                        "protocols" | "client_protocols" => "iiop",
                        "native_char_code_set" => "UTF-8",
                        "tls.client_certificates" => "require",
                        "tls.versions" => "1.3",
                        "metrics" | "watch" | "tls.require" => "true",
                        "properties.no_delay" | "properties.keep_alive" => "1",
                        key if key.ends_with("timeout") => "77 ms",
                        _ => "77",
                    };
                    assert_eq!(after(name, value), Ok(with(key, value)), "{name}");
                }
                Does::Milliseconds(key) => {
                    assert_eq!(after(name, "70"), Ok(with(key, "70 ms")), "{name}");
                    match key {
                        // A handshake without a bound is not offered.
                        "tls.handshake_time" => drop(after(name, "0").unwrap_err()),
                        // Once refused for `connect_timeout`.
                        _ => assert_eq!(after(name, "0"), Ok(with(key, "none")), "{name}"),
                    }
                }
                Does::Seconds(key) => {
                    assert_eq!(after(name, "70"), Ok(with(key, "70 s")), "{name}");
                    assert_eq!(after(name, "0"), Ok(with(key, "none")), "{name}");
                }
                Does::Choose(key, words) => {
                    for (theirs, ours) in words {
                        assert_eq!(after(name, theirs), Ok(with(key, ours)), "{name}");
                    }
                    let refused = after(name, "?!").unwrap_err();
                    assert!(refused.contains(words[0].0), "{refused}");
                }
                Does::Instead(ours) => {
                    let refused = after(name, "1").unwrap_err();
                    assert!(refused.contains(ours), "{refused}");
                }
                Does::OneOf(all) => {
                    assert_eq!(after(name, all[0]).as_ref(), Ok(&default), "{name}");
                    assert!(after(name, "?!").unwrap_err().contains(all[0]), "{name}");
                }
                Does::Ignore => assert_eq!(after(name, "1").as_ref(), Ok(&default), "{name}"),
                Does::Listen => {
                    let both = after(name, "iiop://:1;uiop:///x").unwrap();
                    assert_eq!(both.endpoints.len(), 2, "{name}");
                }
                Does::Any => assert_eq!(after(name, "giop_minor=1"), Ok(with("giop_minor", "1"))),
                Does::Profile => assert_eq!(
                    after(name, "embedded"),
                    Ok(Config::profile("embedded").unwrap())
                ),
                Does::File => assert!(after(name, "/no/such").unwrap_err().contains("/no/such")),
                Does::Flag(..) | Does::Pem(_) => panic!("{name}: TAO's factory has these alone"),
            }
        }
    }

    /// What sets a key sets one that there is.
    #[test]
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
