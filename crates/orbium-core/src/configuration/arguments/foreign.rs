// SPDX-License-Identifier: MIT OR Apache-2.0
//! What configurations of other ORBs say about TLS, and properties of JacORB.

use super::table::{Does, TRACE};

/// A key store is no PEM file.
const KEY_STORE: &str = "tls.certificate, tls.key and tls.authorities with PEM files, as \
    `openssl pkcs12 -in store.p12 -nodes` writes them (`keytool -importkeystore` turns a JKS \
    store into one of PKCS #12)";

/// Keys are in files that are not encrypted.
pub(super) const PASSWORD: &str = "tls.key with a key that is not encrypted, in a file that only \
    its owner may read";

/// The suites are those of rustls.
pub(super) const SUITES: &str = "tls.versions: each version has the cipher suites of rustls, which \
    are all sound";

/// One file with all of them.
pub(super) const FOLDER: &str = "tls.authorities with one PEM file of all authorities";

const POOL: &str = "server_strategy = worker-pool:THREADS/QUEUE";

/// Whose certificates are checked, as TAO and omniORB see it.
const TAO_PEERS: Does = Does::Choose(
    "tls.client_certificates",
    &[
        ("none", "none"),
        ("server", "request"),
        ("client", "require"),
        ("server_and_client", "require"),
    ],
);

/// The options of TAO's `SSLIOP_Factory`.
pub(super) const SSLIOP: &[(&str, Does)] = &[
    ("-SSLCertificate", Does::Pem("tls.certificate")),
    ("-SSLPrivateKey", Does::Pem("tls.key")),
    ("-SSLCAfile", Does::Pem("tls.authorities")),
    ("-SSLAuthenticate", TAO_PEERS),
    ("-SSLNoProtection", Does::Flag("tls.require", "false")),
    ("-SSLAcceptTimeout", Does::Seconds("tls.handshake_time")),
    ("-SSLCheckHost", Does::Flag("tls.server_names", "host")),
    (
        "-SSLVersionList",
        Does::Choose(
            "tls.versions",
            &[
                ("tlsv1.2", "1.2"),
                ("tlsv1.3", "1.3"),
                ("tlsv1.2,tlsv1.3", "1.2,1.3"),
            ],
        ),
    ),
    ("-SSLCApath", Does::Instead(FOLDER)),
    ("-SSLPassword", Does::Instead(PASSWORD)),
    ("-SSLCipherList", Does::Instead(SUITES)),
    // Key exchanges have parameters of their own, and the system has random numbers.
    ("-SSLDHparams", Does::Ignore),
    ("-SSLrand", Does::Ignore),
];

/// Properties of JacORB; those of initial references are found by their beginning.
const JACORB: &[(&str, Does)] = &[
    ("jacorb.security.support_ssl", Does::OneOf(&["on", "off"])),
    ("jacorb.security.keystore", Does::Instead(KEY_STORE)),
    ("jacorb.security.keystore_type", Does::Instead(KEY_STORE)),
    ("jacorb.security.keystore_password", Does::Instead(PASSWORD)),
    ("jacorb.security.default_user", Does::Instead(KEY_STORE)),
    ("jacorb.security.default_password", Does::Instead(PASSWORD)),
    (
        "jacorb.security.jsse.trustees_from_ks",
        Does::Instead("tls.authorities with a PEM file of the authorities"),
    ),
    (
        "jacorb.security.ssl.server.required_options",
        Does::Instead(
            "tls.require = true for 20, and tls.client_certificates = require besides for 40 and 60",
        ),
    ),
    (
        "jacorb.security.ssl.server.supported_options",
        Does::Instead(
            "endpoint = ssliop://:PORT, and tls.client_certificates = request for 40 and 60",
        ),
    ),
    (
        "jacorb.security.ssl.client.required_options",
        Does::Instead("tls.require = true"),
    ),
    (
        "jacorb.security.ssl.client.supported_options",
        Does::Instead("tls.authorities, and tls.certificate for 40 and 60"),
    ),
    (
        "jacorb.security.ssl.client.cipher_suites",
        Does::Instead(SUITES),
    ),
    (
        "jacorb.security.ssl.server.cipher_suites",
        Does::Instead(SUITES),
    ),
    (
        "jacorb.security.ssl.client.protocols",
        Does::Instead("tls.versions = 1.2,1.3"),
    ),
    (
        "jacorb.security.ssl.server.protocols",
        Does::Instead("tls.versions = 1.2,1.3"),
    ),
    ("jacorb.ssl.socket_factory", Does::Ignore),
    ("jacorb.ssl.server_socket_factory", Does::Ignore),
    ("OAPort", Does::Instead("endpoint = iiop://:PORT")),
    ("OASSLPort", Does::Instead("endpoint = ssliop://:PORT")),
    ("OAIAddr", Does::Instead("endpoint = iiop://ADDRESS:PORT")),
    (
        "jacorb.giop_minor_version",
        Does::Choose("giop_minor", &[("0", "0"), ("1", "1"), ("2", "2")]),
    ),
    (
        "jacorb.native_char_codeset",
        Does::Choose(
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
        Does::OneOf(&["UTF16", "UTF-16"]),
    ),
    (
        "jacorb.connection.client.pending_reply_timeout",
        Does::Milliseconds("call_timeout"),
    ),
    (
        "jacorb.connection.client.connect_timeout",
        Does::Milliseconds("connect_timeout"),
    ),
    (
        "jacorb.connection.client.idle_timeout",
        Does::Milliseconds("limits.client_idle_time"),
    ),
    (
        "jacorb.connection.server.timeout",
        Does::Milliseconds("limits.server_idle_time"),
    ),
    ("jacorb.poa.thread_pool_max", Does::Instead(POOL)),
    ("jacorb.poa.thread_pool_min", Does::Instead(POOL)),
    ("jacorb.poa.queue_max", Does::Instead(POOL)),
    ("jacorb.log.default.verbosity", Does::Instead(TRACE)),
];

/// What a property of JacORB does.
pub(super) fn property(name: &str) -> Option<Does> {
    let found = JACORB.iter().find(|(known, _)| *known == name);
    found.map(|(_, does)| *does)
}

#[cfg(all(test, feature = "tls"))]
mod tests {
    use super::*;
    use crate::Config;
    use crate::configuration::{ConfigKey, file};

    /// What of a configuration differs from the default, as it would be written.
    fn differences(config: &Config) -> Vec<String> {
        let default = Config::default();
        let keys = ConfigKey::ALL.iter();
        let keys = keys.filter(|key| key.show(config) != key.show(&default));
        keys.map(|key| format!("{}={}", key.name, key.show(config)))
            .collect()
    }

    /// What reading a text gives: the differences, or what is wrong.
    fn read(text: &str) -> Result<Vec<String>, String> {
        let config = file::parse("/etc/orb.conf", text, None);
        config
            .map(|config| differences(&config))
            .map_err(|error| error.to_string())
    }

    const FACTORY: &str = "dynamic SSLIOP_Factory Service_Object * \
        TAO_SSLIOP:_make_TAO_SSLIOP_Protocol_Factory()";

    /// Each option of TAO's factory, what it sets, or what is said about it.
    #[test]
    fn each_option_of_tao_s_factory_is_understood_or_answered() {
        let rows: &[(&str, &str, Result<&str, &str>)] = &[
            (
                "-SSLCertificate",
                "PEM:/a/c.pem",
                Ok("tls.certificate=/a/c.pem"),
            ),
            ("-SSLPrivateKey", "PEM:/a/k.pem", Ok("tls.key=/a/k.pem")),
            ("-SSLPrivateKey", "ASN1:/a/k.der", Err("openssl")),
            (
                "-SSLCAfile",
                "PEM:/a/ca.pem",
                Ok("tls.authorities=/a/ca.pem"),
            ),
            ("-SSLAuthenticate", "NONE", Ok("")),
            (
                "-SSLAuthenticate",
                "SERVER",
                Ok("tls.client_certificates=request"),
            ),
            (
                "-SSLAuthenticate",
                "CLIENT",
                Ok("tls.client_certificates=require"),
            ),
            (
                "-SSLAuthenticate",
                "SERVER_AND_CLIENT",
                Ok("tls.client_certificates=require"),
            ),
            ("-SSLAuthenticate", "ANY", Err("server_and_client")),
            ("-SSLNoProtection", "", Ok("")),
            ("-SSLAcceptTimeout", "3", Ok("tls.handshake_time=3 s")),
            ("-SSLCheckHost", "", Ok("")),
            ("-SSLVersionList", "TLSv1.3", Ok("tls.versions=1.3")),
            ("-SSLVersionList", "SSLv3", Err("tlsv1.2")),
            ("-SSLCApath", "/a/ca", Err("tls.authorities")),
            ("-SSLPassword", "prompt:x", Err("tls.key")),
            ("-SSLCipherList", "HIGH", Err("tls.versions")),
            ("-SSLDHparams", "PEM:/a/dh.pem", Ok("")),
            ("-SSLrand", "/dev/urandom", Ok("")),
        ];
        for (name, value, expected) in rows {
            let text = format!("{FACTORY} \"-SSLNoProtection {name} {value}\"");
            match (read(&text), expected) {
                (Ok(set), Ok(expected)) => assert_eq!(set.join(" "), *expected, "{text}"),
                (Err(error), Err(said)) => assert!(error.contains(said), "{error}"),
                (read, _) => panic!("{text}: {read:?}"),
            }
        }
        for (name, _) in SSLIOP {
            assert!(
                rows.iter().any(|(row, ..)| row == name),
                "{name} has no row"
            );
        }
    }

    /// Without `-SSLNoProtection` TAO's server refuses what comes without TLS.
    #[test]
    fn a_whole_configuration_of_tao_with_tls_is_understood() {
        let text = "# server.conf\n\
            dynamic SSLIOP_Factory Service_Object *\n\
            \x20 TAO_SSLIOP:_make_TAO_SSLIOP_Protocol_Factory()\n\
            \x20 \"-SSLAuthenticate SERVER_AND_CLIENT \\\n\
            \x20  -SSLPrivateKey PEM:server_key.pem\n\
            \x20  -SSLCertificate PEM:server_cert.pem\"\n\
            \n\
            static Resource_Factory \"-ORBProtocolFactory SSLIOP_Factory\"\n\
            endpoint = ssliop://:684\n";
        let set = read(text).unwrap();
        assert_eq!(
            set,
            [
                "endpoint=ssliop://:684",
                "tls.certificate=server_cert.pem",
                "tls.key=server_key.pem",
                "tls.client_certificates=require",
                "tls.require=true",
            ]
        );
        let cut = read("dynamic SSLIOP_Factory Service_Object *\n").unwrap_err();
        assert!(cut.contains("orb.conf:1: "), "{cut}");
        let cut = read(&format!(
            "\n{FACTORY} \"-SSLNoProtection\n -SSLAuthenticate"
        ))
        .unwrap_err();
        assert!(
            cut.contains("orb.conf:2: ") && cut.contains("quotation"),
            "{cut}"
        );
        let unknown = read(&format!("{FACTORY} \"-SSLCertificat PEM:x\"")).unwrap_err();
        assert!(
            unknown.contains("did you mean `-SSLCertificate`?"),
            "{unknown}"
        );
        let factory = read("static Resource_Factory \"-ORBProtocolFactory X_Factory\"");
        assert!(factory.unwrap_err().contains("SSLIOP_Factory"));
    }

    /// Each property of JacORB, what it sets, or what is said about it.
    #[test]
    fn each_property_of_jacorb_is_understood_or_answered() {
        let rows: &[(&str, &str, Result<&str, &str>)] = &[
            ("jacorb.security.support_ssl", "on", Ok("")),
            ("jacorb.security.keystore", "/a/ks", Err("tls.certificate")),
            (
                "jacorb.security.keystore_type",
                "JKS",
                Err("tls.certificate"),
            ),
            ("jacorb.security.keystore_password", "x", Err("tls.key")),
            ("jacorb.security.default_user", "x", Err("tls.certificate")),
            ("jacorb.security.default_password", "x", Err("tls.key")),
            (
                "jacorb.security.jsse.trustees_from_ks",
                "on",
                Err("tls.authorities"),
            ),
            (
                "jacorb.security.ssl.server.required_options",
                "60",
                Err("tls.client_certificates = require"),
            ),
            (
                "jacorb.security.ssl.server.supported_options",
                "60",
                Err("ssliop://"),
            ),
            (
                "jacorb.security.ssl.client.required_options",
                "20",
                Err("tls.require = true"),
            ),
            (
                "jacorb.security.ssl.client.supported_options",
                "60",
                Err("tls.authorities"),
            ),
            (
                "jacorb.security.ssl.client.cipher_suites",
                "X",
                Err("tls.versions"),
            ),
            (
                "jacorb.security.ssl.server.cipher_suites",
                "X",
                Err("tls.versions"),
            ),
            (
                "jacorb.security.ssl.client.protocols",
                "TLSv1.2",
                Err("tls.versions"),
            ),
            (
                "jacorb.security.ssl.server.protocols",
                "TLSv1.2",
                Err("tls.versions"),
            ),
            ("jacorb.ssl.socket_factory", "org.jacorb.X", Ok("")),
            ("jacorb.ssl.server_socket_factory", "org.jacorb.X", Ok("")),
            ("OAPort", "5000", Err("endpoint = iiop://:PORT")),
            ("OASSLPort", "5001", Err("endpoint = ssliop://:PORT")),
            ("OAIAddr", "192.0.2.1", Err("endpoint = iiop://")),
            ("jacorb.giop_minor_version", "1", Ok("giop_minor=1")),
            (
                "jacorb.native_char_codeset",
                "UTF8",
                Ok("native_char_code_set=UTF-8"),
            ),
            ("jacorb.native_wchar_codeset", "UTF16", Ok("")),
            (
                "jacorb.connection.client.pending_reply_timeout",
                "250",
                Ok("call_timeout=250 ms"),
            ),
            (
                "jacorb.connection.client.connect_timeout",
                "90000",
                Ok("connect_timeout=90 s"),
            ),
            (
                "jacorb.connection.client.idle_timeout",
                "250",
                Ok("limits.client_idle_time=250 ms"),
            ),
            (
                "jacorb.connection.server.timeout",
                "250",
                Ok("limits.server_idle_time=250 ms"),
            ),
            ("jacorb.poa.thread_pool_max", "20", Err("worker-pool")),
            ("jacorb.poa.thread_pool_min", "5", Err("worker-pool")),
            ("jacorb.poa.queue_max", "100", Err("worker-pool")),
            ("jacorb.log.default.verbosity", "3", Err("RUST_LOG")),
            (
                "ORBInitRef.NameService",
                "corbaloc::h:1/N",
                Ok("initial_reference=NameService=corbaloc::h:1/N"),
            ),
        ];
        for (name, value, expected) in rows {
            let text = format!("{name} = {value}");
            match (read(&text), expected) {
                (Ok(set), Ok(expected)) => assert_eq!(set.join(" "), *expected, "{text}"),
                (Err(error), Err(said)) => assert!(error.contains(said), "{error}"),
                (read, _) => panic!("{text}: {read:?}"),
            }
        }
        for (name, _) in JACORB {
            assert!(
                rows.iter().any(|(row, ..)| row == name),
                "{name} has no row"
            );
        }
    }
}
