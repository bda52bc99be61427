// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options and properties of other ORBs.

use crate::arguments::{JACORB, SSLIOP};
use crate::file;
use crate::spelling::toml_value;

use orbium_core::Config;

use crate::ConfigKey;

/// The settings of a configuration that differ from the default, in the syntax of files.
fn differences(config: &Config) -> Vec<String> {
    let default = Config::default();
    let keys = ConfigKey::ALL.iter();
    let keys = keys.filter(|key| key.show(config) != key.show(&default));
    keys.map(|key| format!("{}={}", key.name, key.show(config)))
        .collect()
}

/// The result of reading a text: the differences, or the error.
fn read(text: &str) -> Result<Vec<String>, String> {
    let config = file::parse::<Config>("/etc/orb.conf", text, None);
    config
        .map(|config| differences(&config))
        .map_err(|error| error.to_string())
}

const FACTORY: &str = "dynamic SSLIOP_Factory Service_Object * \
    TAO_SSLIOP:_make_TAO_SSLIOP_Protocol_Factory()";

/// Each option of TAO's factory, with its effect or its error.
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

/// Without `-SSLNoProtection` TAO's server refuses connections without TLS.
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
        static Server_Strategy_Factory \"-ORBEndpoint ssliop://:684\"\n";
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

/// Each property of JacORB, with its effect or its error.
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
            Err("tls.client_certificates = \"require\""),
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
        ("OAPort", "5000", Err("endpoint = \"iiop://:PORT\"")),
        ("OASSLPort", "5001", Err("endpoint = \"ssliop://:PORT\"")),
        ("OAIAddr", "192.0.2.1", Err("endpoint = \"iiop://ADDRESS")),
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
        let text = format!("{name} = {}", toml_value(value));
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
