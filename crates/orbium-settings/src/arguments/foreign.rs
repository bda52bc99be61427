// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLS options of other ORBs, and properties of JacORB.

use super::effect::{Effect, FOLDER, PASSWORD, SUITES, TRACE};

/// A key store is not a PEM file.
const KEY_STORE: &str = "tls.certificate, tls.key and tls.authorities with PEM files, as \
    `openssl pkcs12 -in store.p12 -nodes` writes them (`keytool -importkeystore` turns a JKS \
    store into one of PKCS #12)";

const POOL: &str = "server_strategy = \"worker-pool:THREADS/QUEUE\"";

/// The side that checks certificates, in the words of TAO and omniORB.
const TAO_PEERS: Effect = Effect::Choose(
    "tls.client_certificates",
    &[
        ("none", "none"),
        ("server", "request"),
        ("client", "require"),
        ("server_and_client", "require"),
    ],
);

/// The options of TAO's `SSLIOP_Factory`.
pub(crate) const SSLIOP: &[(&str, Effect)] = &[
    ("-SSLCertificate", Effect::Pem("tls.certificate")),
    ("-SSLPrivateKey", Effect::Pem("tls.key")),
    ("-SSLCAfile", Effect::Pem("tls.authorities")),
    ("-SSLAuthenticate", TAO_PEERS),
    ("-SSLNoProtection", Effect::Flag("tls.require", "false")),
    ("-SSLAcceptTimeout", Effect::Seconds("tls.handshake_time")),
    ("-SSLCheckHost", Effect::Flag("tls.server_names", "host")),
    (
        "-SSLVersionList",
        Effect::Choose(
            "tls.versions",
            &[
                ("tlsv1.2", "1.2"),
                ("tlsv1.3", "1.3"),
                ("tlsv1.2,tlsv1.3", "1.2,1.3"),
            ],
        ),
    ),
    ("-SSLCApath", Effect::Instead(FOLDER)),
    ("-SSLPassword", Effect::Instead(PASSWORD)),
    ("-SSLCipherList", Effect::Instead(SUITES)),
    // Key exchanges have their own parameters, and the system provides random numbers.
    ("-SSLDHparams", Effect::Ignore),
    ("-SSLrand", Effect::Ignore),
];

/// Properties of JacORB; those of initial references are found by their prefix.
pub(crate) const JACORB: &[(&str, Effect)] = &[
    ("jacorb.security.support_ssl", Effect::OneOf(&["on", "off"])),
    ("jacorb.security.keystore", Effect::Instead(KEY_STORE)),
    ("jacorb.security.keystore_type", Effect::Instead(KEY_STORE)),
    (
        "jacorb.security.keystore_password",
        Effect::Instead(PASSWORD),
    ),
    ("jacorb.security.default_user", Effect::Instead(KEY_STORE)),
    (
        "jacorb.security.default_password",
        Effect::Instead(PASSWORD),
    ),
    (
        "jacorb.security.jsse.trustees_from_ks",
        Effect::Instead("tls.authorities with a PEM file of the authorities"),
    ),
    (
        "jacorb.security.ssl.server.required_options",
        Effect::Instead(
            "tls.require = true for 20, and tls.client_certificates = \"require\" besides for 40 and 60",
        ),
    ),
    (
        "jacorb.security.ssl.server.supported_options",
        Effect::Instead(
            "endpoint = \"ssliop://:PORT\", and tls.client_certificates = \"request\" for 40 and 60",
        ),
    ),
    (
        "jacorb.security.ssl.client.required_options",
        Effect::Instead("tls.require = true"),
    ),
    (
        "jacorb.security.ssl.client.supported_options",
        Effect::Instead("tls.authorities, and tls.certificate for 40 and 60"),
    ),
    (
        "jacorb.security.ssl.client.cipher_suites",
        Effect::Instead(SUITES),
    ),
    (
        "jacorb.security.ssl.server.cipher_suites",
        Effect::Instead(SUITES),
    ),
    (
        "jacorb.security.ssl.client.protocols",
        Effect::Instead("tls.versions = \"1.2,1.3\""),
    ),
    (
        "jacorb.security.ssl.server.protocols",
        Effect::Instead("tls.versions = \"1.2,1.3\""),
    ),
    ("jacorb.ssl.socket_factory", Effect::Ignore),
    ("jacorb.ssl.server_socket_factory", Effect::Ignore),
    ("OAPort", Effect::Instead("endpoint = \"iiop://:PORT\"")),
    (
        "OASSLPort",
        Effect::Instead("endpoint = \"ssliop://:PORT\""),
    ),
    (
        "OAIAddr",
        Effect::Instead("endpoint = \"iiop://ADDRESS:PORT\""),
    ),
    (
        "jacorb.giop_minor_version",
        Effect::Choose("giop_minor", &[("0", "0"), ("1", "1"), ("2", "2")]),
    ),
    (
        "jacorb.native_char_codeset",
        Effect::Choose(
            "native_char_code_set",
            &[
                ("utf8", "UTF-8"),
                ("utf-8", "UTF-8"),
                ("iso8859_1", "ISO-8859-1"),
                ("iso-8859-1", "ISO-8859-1"),
            ],
        ),
    ),
    (
        "jacorb.native_wchar_codeset",
        Effect::OneOf(&["UTF16", "UTF-16"]),
    ),
    (
        "jacorb.connection.client.pending_reply_timeout",
        Effect::Milliseconds("call_timeout"),
    ),
    (
        "jacorb.connection.client.connect_timeout",
        Effect::Milliseconds("connect_timeout"),
    ),
    (
        "jacorb.connection.client.idle_timeout",
        Effect::Milliseconds("limits.client_idle_time"),
    ),
    (
        "jacorb.connection.server.timeout",
        Effect::Milliseconds("limits.server_idle_time"),
    ),
    ("jacorb.poa.thread_pool_max", Effect::Instead(POOL)),
    ("jacorb.poa.thread_pool_min", Effect::Instead(POOL)),
    ("jacorb.poa.queue_max", Effect::Instead(POOL)),
    ("jacorb.log.default.verbosity", Effect::Instead(TRACE)),
];

/// The effect of a property of JacORB.
pub(super) fn property(name: &str) -> Option<Effect> {
    let found = JACORB.iter().find(|(known, _)| *known == name);
    found.map(|(_, effect)| *effect)
}
