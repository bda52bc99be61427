// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files and choices, good and bad.

use crate::realm;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;

use orbium_tls::{ClientAuthentication, NameCheck, Tls, TlsConfig, TlsError, TlsVersion};
use orbium_transport::{ByteStream, ListenError, Peer, StreamTransport};

use crate::realm::{About, Realm, converse, listen_with, pair};

#[track_caller]
fn error(config: TlsConfig) -> TlsError {
    Tls::new(config).expect_err("should be refused")
}

#[test]
fn missing_settings_are_reported() {
    let realm = Realm::new("authority");
    let good = realm.config(&About::named("server"));
    assert_eq!(error(TlsConfig::default()), TlsError::NothingConfigured);
    assert_eq!(
        error(TlsConfig {
            certificate: None,
            ..good.clone()
        }),
        TlsError::KeyWithoutCertificate
    );
    for client_authentication in [ClientAuthentication::Require, ClientAuthentication::Request] {
        let config = TlsConfig {
            client_authentication,
            authorities: None,
            ..good.clone()
        };
        assert_eq!(error(config), TlsError::NoTrustAnchors);
    }
    let no_version = TlsConfig {
        min_version: TlsVersion::V1_3,
        max_version: TlsVersion::V1_2,
        ..good.clone()
    };
    assert_eq!(error(no_version), TlsError::NoVersion);
    let names = |names: &[&str]| TlsConfig {
        server_name: NameCheck::OneOf(names.iter().map(|&name| name.to_owned()).collect()),
        ..good.clone()
    };
    assert_eq!(error(names(&[])), TlsError::NoNames);
    assert_eq!(
        error(names(&["a name"])),
        TlsError::BadName("a name".into())
    );
}

#[test]
fn each_bad_file_has_its_own_error() {
    let realm = Realm::new("authority");
    let good = realm.config(&About::named("server"));
    let other = realm.config(&About::named("other"));
    let folder = &realm.folder;
    let empty = folder.write("empty.pem", "");
    let certificate = |path: &std::path::Path| TlsConfig {
        certificate: Some(path.to_owned()),
        ..good.clone()
    };
    let key = |path: &std::path::Path| TlsConfig {
        key: Some(path.to_owned()),
        ..good.clone()
    };
    let authorities = |path: &std::path::Path| TlsConfig {
        authorities: Some(path.to_owned()),
        ..good.clone()
    };

    let nowhere = folder.path("nowhere.pem");
    for config in [certificate(&nowhere), key(&nowhere), authorities(&nowhere)] {
        assert!(matches!(error(config), TlsError::Unreadable { path, .. } if path == nowhere));
    }
    assert!(matches!(
        error(certificate(&folder.path(""))),
        TlsError::Unreadable { .. }
    ));
    let no_certificate = TlsError::NoCertificate(empty.clone());
    assert_eq!(error(certificate(&empty)), no_certificate);
    assert_eq!(error(authorities(&empty)), no_certificate);
    assert_eq!(error(key(&empty)), TlsError::NoKey(empty.clone()));

    let mismatch = TlsError::KeyMismatch {
        certificate: good.certificate.clone().unwrap(),
        key: other.key.clone().unwrap(),
    };
    assert_eq!(error(key(&other.key.unwrap())), mismatch);

    let broken = folder.write("broken.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n");
    assert!(matches!(
        error(certificate(&broken)),
        TlsError::NotPem { .. }
    ));
    let hollow = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let hollow = folder.write("hollow.pem", hollow);
    for config in [certificate(&hollow), authorities(&hollow)] {
        assert!(matches!(error(config), TlsError::BadCertificate { .. }));
    }
    let hollow = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    let hollow = folder.write("hollow.key", hollow);
    assert!(matches!(error(key(&hollow)), TlsError::BadKey { .. }));
}

#[test]
fn encrypted_keys_are_named_as_such() {
    let realm = Realm::new("authority");
    let good = realm.config(&About::named("server"));
    for text in [
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n\
         AAAA\n-----END RSA PRIVATE KEY-----\n",
    ] {
        let path = realm.folder.write("encrypted.key", text);
        let config = TlsConfig {
            key: Some(path.clone()),
            ..good.clone()
        };
        assert_eq!(error(config), TlsError::EncryptedKey(path));
    }
}

#[test]
fn a_file_beyond_all_measure_is_not_read() {
    let realm = Realm::new("authority");
    let path = realm.folder.write("large.pem", &"#".repeat(5 << 20));
    let config = TlsConfig {
        authorities: Some(path.clone()),
        ..TlsConfig::default()
    };
    assert_eq!(error(config), TlsError::TooLarge(path));
}

#[test]
fn one_file_may_hold_everything() {
    let realm = Realm::new("authority");
    let (certificate, key) = realm.issue(&About::named("server"));
    let ca = fs::read_to_string(realm.ca()).unwrap();
    // As omniORB has it: the key first, then the chain up to the authority.
    for text in [
        format!("{key}{certificate}{ca}"),
        format!("{certificate}{key}"),
    ] {
        let server = TlsConfig {
            certificate: Some(realm.folder.write("all.pem", &text)),
            ..TlsConfig::default()
        };
        pair(server, realm.trusting());
    }
}

#[test]
fn listening_requires_a_certificate() {
    let realm = Realm::new("authority");
    let tls = Tls::new(realm.trusting()).unwrap();
    let endpoint = "ssliop://127.0.0.1:0".parse().unwrap();
    let refused = tls.listen(&endpoint, &Default::default()).unwrap_err();
    assert!(matches!(
        refused,
        ListenError::Io(error) if error.kind() == io::ErrorKind::InvalidInput
    ));
}

/// Conformance: complaint 13 - behind NAT the private address is handed out; 0.0.0.0 in references
#[test]
fn addresses_are_published_as_wanted() {
    let realm = Realm::new("authority");
    let tls = Tls::new(realm.config(&About::named("server"))).unwrap();
    assert_eq!(tls.scheme(), "ssliop");
    let address = |text: &str| {
        let endpoint = text.parse().unwrap();
        let acceptor = tls.listen(&endpoint, &Default::default())?;
        Ok::<_, ListenError>(acceptor.address().to_owned())
    };
    let published = address("ssliop://127.0.0.1:0?publish=orb.example:684").unwrap();
    assert_eq!(published, "orb.example:684");
    assert!(
        address("ssliop://127.0.0.1")
            .unwrap()
            .starts_with("127.0.0.1:")
    );
    assert!(matches!(
        address("ssliop://127.0.0.1:0?cipher=null"),
        Err(ListenError::Endpoint(_))
    ));
    assert!(
        tls.connector("no port: there", &Default::default())
            .is_err()
    );
}

/// The host name in the server's certificate, as its client sees it.
fn server_name(stream: &dyn ByteStream) -> String {
    match stream.peer() {
        Peer::Authenticated {
            name: Some(name), ..
        } => name,
        other => panic!("no certificate: {other}"),
    }
}

#[test]
fn files_are_read_again_on_demand() {
    let realm = Realm::new("authority");
    let config = realm.config(&About::named("first"));
    let server = Tls::new(config.clone()).unwrap();
    let client = Tls::new(realm.trusting()).unwrap();
    let acceptor = listen_with(&server, &Default::default());
    let name = || {
        let (server, client) = converse(&acceptor, &client);
        server.unwrap();
        server_name(&client.unwrap())
    };
    assert_eq!(name(), "first");

    let (certificate, key) = realm.issue(&About::named("second"));
    realm::replace(&config.certificate.unwrap(), &certificate);
    let reload = server.reload();
    // Half of the change: nothing happens.
    assert!(matches!(reload.now(), Err(TlsError::KeyMismatch { .. })));
    assert_eq!(name(), "first");
    realm::replace(&config.key.unwrap(), &key);
    reload.now().unwrap();
    assert_eq!(name(), "second");
}

/// Conformance: protocols - TLS: files that change
/// Conformance: robustness - TLS: exposed keys, files that change
#[test]
fn changed_files_are_noticed() {
    let realm = Realm::new("authority");
    let config = TlsConfig {
        watch_files: true,
        ..realm.config(&About::named("first"))
    };
    let server = Tls::new(config.clone()).unwrap();
    let acceptor = listen_with(&server, &Default::default());
    let client = Tls::new(realm.trusting()).unwrap();
    let name = || {
        let (server, client) = converse(&acceptor, &client);
        server.unwrap();
        server_name(&client.unwrap())
    };
    assert_eq!(name(), "first");

    let (certificate, key) = realm.issue(&About::named("second"));
    realm::replace(&config.certificate.unwrap(), &certificate);
    realm::replace(&config.key.unwrap(), &key);
    // At once: the first connection after the change got the old one.
    assert_eq!(name(), "second");
}

/// The key and the certificate are two files: a connection between the two changes
/// gets the old pair, and says so in the log.
///
/// Conformance: robustness - TLS: exposed keys, files that change
#[test]
fn half_a_change_changes_nothing() {
    let realm = Realm::new("authority");
    let config = TlsConfig {
        watch_files: true,
        ..realm.config(&About::named("first"))
    };
    let server = Tls::new(config.clone()).unwrap();
    let acceptor = listen_with(&server, &Default::default());
    let client = Tls::new(realm.trusting()).unwrap();
    let name = || {
        let (server, client) = converse(&acceptor, &client);
        server.unwrap();
        server_name(&client.unwrap())
    };
    let (certificate, key) = realm.issue(&About::named("second"));
    realm::replace(&config.certificate.unwrap(), &certificate);
    assert_eq!(name(), "first");
    realm::replace(&config.key.unwrap(), &key);
    assert_eq!(name(), "second");
}

/// Such keys were used.
///
/// Conformance: robustness - TLS: exposed keys, files that change
#[test]
fn a_key_that_others_can_read_is_refused() {
    let realm = Realm::new("authority");
    let good = realm.config(&About::named("server"));
    let key = good.key.clone().unwrap();
    let whole = fs::read_to_string(good.certificate.as_ref().unwrap()).unwrap()
        + &fs::read_to_string(&key).unwrap();
    let whole = realm.folder.write("whole.pem", &whole);
    let in_one = TlsConfig {
        certificate: Some(whole.clone()),
        key: None,
        ..good.clone()
    };
    for (config, path) in [(good, key), (in_one, whole)] {
        for mode in [0o644, 0o640, 0o604, 0o620, 0o601] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let refused = error(config.clone());
            let path = path.clone();
            let text = refused.to_string();
            assert!(
                text.contains(&format!("`chmod 600 {}`", path.display())),
                "{text}"
            );
            assert!(text.contains(&format!("mode {mode:04o}")), "{text}");
            assert_eq!(refused, TlsError::ExposedKey { path, mode });
            let meant = TlsConfig {
                key_readable_by_others: true,
                ..config.clone()
            };
            Tls::new(meant).unwrap();
        }
        for mode in [0o600, 0o400] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            Tls::new(config.clone()).unwrap();
        }
    }
}

/// Conformance: protocols - TLS: files that change
#[test]
fn trust_that_is_withdrawn_is_gone() {
    let (realm, other) = (Realm::new("authority"), Realm::new("elsewhere"));
    let config = TlsConfig {
        client_authentication: ClientAuthentication::Require,
        ..realm.config(&About::named("server"))
    };
    let ca = config.authorities.clone().unwrap();
    let server = Tls::new(config).unwrap();
    let acceptor = listen_with(&server, &Default::default());
    let client = realm.config(&About::named("client"));
    let trusted = realm
        .folder
        .write("kept.pem", &fs::read_to_string(&ca).unwrap());
    let client = Tls::new(TlsConfig {
        authorities: Some(trusted),
        ..client
    })
    .unwrap();
    let (one, two) = converse(&acceptor, &client);
    assert!(one.is_ok() && two.is_ok());

    realm::replace(&ca, &fs::read_to_string(other.ca()).unwrap());
    server.reload().now().unwrap();
    // The client would take its session up again, which would not check it.
    let (one, two) = converse(&acceptor, &client);
    assert!(one.is_err() && two.is_err());
}
