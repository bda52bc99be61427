// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of `-ORB` arguments.

use super::effect::{Effect, FOLDER, PASSWORD, SUITES, TRACE};

/// The wait strategies of TAO's clients.
const WAITS: Effect = Effect::Choose(
    "client_strategy",
    &[
        ("st", "reactor"),
        ("mt", "leader-followers"),
        ("mt_noupcall", "leader-followers"),
        ("rw", "exclusive-pool"),
    ],
);

/// The setting for published addresses.
const PUBLISH: &str = "-ORBListenEndpoints iiop://0.0.0.0:5000?publish=HOST:PORT";

/// The requested certificates, in the words of omniORB.
const PEERS: Effect = Effect::Choose(
    "tls.client_certificates",
    &[
        ("none", "none"),
        ("peer", "request"),
        ("peer,once", "request"),
        ("peer,fail", "require"),
        ("peer,fail,once", "require"),
    ],
);

/// The arguments by name.
pub(crate) const ARGUMENTS: &[(&str, Effect)] = &[
    ("-ORBProfile", Effect::Profile),
    ("-ORBConfigFile", Effect::File),
    ("-ORBconfigFile", Effect::File),
    ("-ORBSvcConf", Effect::File),
    ("-ORBSet", Effect::Any),
    ("-ORBListenEndpoints", Effect::Listen),
    ("-ORBEndpoint", Effect::Listen),
    ("-ORBendPoint", Effect::Listen),
    ("-ORBInitRef", Effect::Set("initial_reference")),
    (
        "-ORBDefaultInitRef",
        Effect::Text("default_initial_reference"),
    ),
    ("-ORBServerStrategy", Effect::Set("server_strategy")),
    ("-ORBConcurrency", Effect::Set("server_strategy")),
    (
        "-ORBThreadPerConnectionPolicy",
        Effect::Choose(
            "server_strategy",
            &[("1", "thread-per-connection"), ("0", "worker-pool")],
        ),
    ),
    ("-ORBClientStrategy", Effect::Set("client_strategy")),
    (
        "-ORBTransportMuxStrategy",
        Effect::Choose(
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
        Effect::Choose(
            "client_strategy",
            &[("1", "exclusive-pool"), ("0", "leader-followers")],
        ),
    ),
    ("-ORBProtocols", Effect::Set("protocols")),
    ("-ORBClientProtocols", Effect::Set("client_protocols")),
    ("-ORBCallTimeout", Effect::Set("call_timeout")),
    (
        "-ORBclientCallTimeOutPeriod",
        Effect::Milliseconds("call_timeout"),
    ),
    ("-ORBRequestTimeout", Effect::Set("request_timeout")),
    ("-ORBConnectTimeout", Effect::Set("connect_timeout")),
    (
        "-ORBclientConnectTimeOutPeriod",
        Effect::Milliseconds("connect_timeout"),
    ),
    ("-ORBMaxMessageSize", Effect::Set("fragment_size")),
    ("-ORBgiopMaxMsgSize", Effect::Set("limits.message_size")),
    (
        "-ORBConnectionCacheMax",
        Effect::Set("limits.idle_connections"),
    ),
    (
        "-ORBmaxGIOPConnectionPerServer",
        Effect::Set("limits.connections_per_server"),
    ),
    ("-ORBnativeCharCodeSet", Effect::Set("native_char_code_set")),
    ("-ORBNativeCharCodeSet", Effect::Set("native_char_code_set")),
    ("-ORBnativeWCharCodeSet", Effect::OneOf(&["UTF-16"])),
    (
        "-ORBmaxGIOPVersion",
        Effect::Choose("giop_minor", &[("1.0", "0"), ("1.1", "1"), ("1.2", "2")]),
    ),
    (
        "-ORBinConScanPeriod",
        Effect::Seconds("limits.server_idle_time"),
    ),
    (
        "-ORBoutConScanPeriod",
        Effect::Seconds("limits.client_idle_time"),
    ),
    ("-ORBscanGranularity", Effect::Ignore),
    (
        "-ORBpoaHoldRequestTimeout",
        Effect::Milliseconds("limits.hold_time"),
    ),
    (
        "-ORBthreadPerConnectionPolicy",
        Effect::Choose(
            "server_strategy",
            &[("1", "thread-per-connection"), ("0", "worker-pool")],
        ),
    ),
    (
        "-ORBmaxServerThreadPerConnection",
        Effect::Choose("server_strategy", &[("1", "thread-per-connection")]),
    ),
    (
        "-ORBmaxServerThreadPoolSize",
        Effect::Instead("-ORBServerStrategy worker-pool:THREADS/QUEUE"),
    ),
    ("-ORBendPointPublish", Effect::Instead(PUBLISH)),
    ("-ORBendPointNoListen", Effect::Instead(PUBLISH)),
    ("-ORBtraceLevel", Effect::Instead(TRACE)),
    ("-ORBtraceInvocations", Effect::Instead(TRACE)),
    ("-ORBtraceFile", Effect::Instead(TRACE)),
    (
        "-ORBclientTransportRule",
        Effect::Instead("-ORBClientProtocols LIST"),
    ),
    (
        "-ORBserverTransportRule",
        Effect::Instead("-ORBListenEndpoints with the addresses to listen at"),
    ),
    ("-ORBsslCAPath", Effect::Instead(FOLDER)),
    ("-ORBsslKeyPassword", Effect::Instead(PASSWORD)),
    ("-ORBsslCipherList", Effect::Instead(SUITES)),
    (
        "-ORBProtocolFactory",
        Effect::OneOf(&[
            "IIOP_Factory",
            "UIOP_Factory",
            "SSLIOP_Factory",
            "SHMIOP_Factory",
            "DIOP_Factory",
        ]),
    ),
    ("-ORBSndSock", Effect::Set("properties.send_buffer")),
    ("-ORBRcvSock", Effect::Set("properties.receive_buffer")),
    ("-ORBNodelay", Effect::Set("properties.no_delay")),
    ("-ORBKeepalive", Effect::Set("properties.keep_alive")),
    ("-ORBmetrics", Effect::Set("metrics")),
    ("-ORBTlsCertificate", Effect::Text("tls.certificate")),
    ("-ORBTlsKey", Effect::Text("tls.key")),
    ("-ORBTlsAuthorities", Effect::Text("tls.authorities")),
    (
        "-ORBTlsRevocationLists",
        Effect::Text("tls.revocation_lists"),
    ),
    (
        "-ORBTlsClientCertificates",
        Effect::Set("tls.client_certificates"),
    ),
    ("-ORBTlsVersions", Effect::Set("tls.versions")),
    ("-ORBTlsRequire", Effect::Set("tls.require")),
    ("-ORBsslCAFile", Effect::Text("tls.authorities")),
    ("-ORBsslKeyFile", Effect::Text("tls.certificate")),
    ("-ORBsslVerifyMode", PEERS),
    ("-ORBsslVerifyModeIncoming", PEERS),
    (
        "-ORBsslAcceptTimeOut",
        Effect::Milliseconds("tls.handshake_time"),
    ),
    ("-ORBwatch", Effect::Set("watch")),
    ("-ORBId", Effect::Text("orb_id")),
    ("-ORBid", Effect::Text("orb_id")),
    ("-ORBServerId", Effect::Text("server_id")),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: `-ORBsslCAFile` was in the table twice, and the first entry refused the value of
    /// the second.
    #[test]
    fn no_argument_stands_there_twice() {
        for (place, (name, _)) in ARGUMENTS.iter().enumerate() {
            let twice = ARGUMENTS[..place].iter().any(|(other, _)| other == name);
            assert!(!twice, "{name}");
        }
    }
}
