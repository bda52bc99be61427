// SPDX-License-Identifier: MIT OR Apache-2.0
//! Trust in both directions, and the reports of its refusal.

use crate::realm;
use orbium_tls::{
    CertificateFault, ClientAuthentication, NameCheck, Tls, TlsConfig, TlsFailure, TlsVersion,
};
use orbium_transport::{ByteStream, Peer};
use rcgen::ExtendedKeyUsagePurpose;

use crate::realm::{About, Realm, attempt, each_version, failure, only, pair};

fn requiring(config: TlsConfig) -> TlsConfig {
    TlsConfig {
        client_authentication: ClientAuthentication::Require,
        ..config
    }
}

/// The failures of server and client; nothing may have been served.
#[track_caller]
fn failures(server: TlsConfig, client: TlsConfig) -> (TlsFailure, TlsFailure) {
    let (server, client) = attempt(server, client);
    (failure(server), failure(client))
}

#[test]
fn a_client_knows_its_server() {
    let realm = Realm::new("authority");
    each_version(|version| {
        let server = only(realm.config(&About::named("server")), version);
        let (server, client) = pair(server, realm.trusting());
        assert_eq!(client.session().unwrap().version, version);
        assert_eq!(server.session().unwrap(), client.session().unwrap());
        assert!(matches!(server.peer(), Peer::Internet(_)));
        let Peer::Authenticated {
            name, certificates, ..
        } = client.peer()
        else {
            panic!("no certificate");
        };
        assert_eq!(name.as_deref(), Some("server"));
        assert_eq!(certificates.len(), 1);
    });
}

/// Conformance: protocols - TLS: which peers are trusted and which are not
#[test]
fn mutual_authentication_names_both_peers() {
    let realm = Realm::new("authority");
    each_version(|version| {
        for asked in [ClientAuthentication::Require, ClientAuthentication::Request] {
            let server = TlsConfig {
                client_authentication: asked,
                ..only(realm.config(&About::named("server")), version)
            };
            let client = realm.config(&About::named("a client"));
            let (server, _client) = pair(server, client);
            let Peer::Authenticated { name, .. } = server.peer() else {
                panic!("the client has a certificate");
            };
            assert_eq!(name.as_deref(), Some("a client"));
        }
    });
}

#[test]
fn clients_with_optional_certificates_may_stay_anonymous() {
    let realm = Realm::new("authority");
    each_version(|version| {
        let server = TlsConfig {
            client_authentication: ClientAuthentication::Request,
            ..only(realm.config(&About::named("server")), version)
        };
        let (server, _client) = pair(server, realm.trusting());
        assert!(matches!(server.peer(), Peer::Internet(_)));
    });
}

#[test]
fn a_client_without_certificate_is_refused() {
    let realm = Realm::new("authority");
    each_version(|version| {
        let server = requiring(only(realm.config(&About::named("server")), version));
        let (server, client) = failures(server, realm.trusting());
        assert_eq!(
            server,
            TlsFailure::ClientCertificate(CertificateFault::Missing)
        );
        // TLS 1.2 has no alert of its own for that.
        let expected = match version {
            TlsVersion::V1_3 => TlsFailure::OwnCertificate(CertificateFault::Missing),
            TlsVersion::V1_2 => client.clone(),
        };
        assert_eq!(client, expected);
        assert!(matches!(
            client,
            TlsFailure::OwnCertificate(_) | TlsFailure::Refused(_)
        ));
    });
}

/// Conformance: protocols - TLS: which peers are trusted and which are not
#[test]
fn a_client_of_another_authority_is_refused() {
    let (realm, other) = (Realm::new("authority"), Realm::new("elsewhere"));
    each_version(|version| {
        for asked in [ClientAuthentication::Require, ClientAuthentication::Request] {
            let server = TlsConfig {
                client_authentication: asked,
                ..only(realm.config(&About::named("server")), version)
            };
            let client = TlsConfig {
                authorities: Some(realm.ca()),
                ..other.config(&About::named("stranger"))
            };
            let (server, client) = failures(server, client);
            let fault = CertificateFault::UnknownAuthority;
            assert_eq!(server, TlsFailure::ClientCertificate(fault.clone()));
            assert_eq!(client, TlsFailure::OwnCertificate(fault));
        }
    });
}

#[test]
fn an_expired_client_is_refused() {
    let realm = Realm::new("authority");
    each_version(|version| {
        let server = requiring(only(realm.config(&About::named("server")), version));
        let client = realm.config(&About {
            years: (2000, 2001),
            ..About::named("late")
        });
        let (server, client) = failures(server, client);
        let fault = CertificateFault::Expired;
        assert_eq!(server, TlsFailure::ClientCertificate(fault.clone()));
        assert_eq!(client, TlsFailure::OwnCertificate(fault));
    });
}

#[test]
fn a_client_that_is_a_server_is_refused() {
    let realm = Realm::new("authority");
    let server = requiring(realm.config(&About::named("server")));
    let client = realm.config(&About {
        purposes: vec![ExtendedKeyUsagePurpose::ServerAuth],
        ..About::named("another server")
    });
    let (server, _) = failures(server, client);
    let fault = CertificateFault::WrongPurpose;
    assert_eq!(server, TlsFailure::ClientCertificate(fault));
}

/// What a client says of a server with such a certificate.
#[track_caller]
fn verdict(realm: &Realm, version: TlsVersion, about: &About) -> CertificateFault {
    let server = only(realm.config(about), version);
    let (server, client) = failures(server, realm.trusting());
    assert!(matches!(server, TlsFailure::OwnCertificate(_)), "{server}");
    match client {
        TlsFailure::ServerCertificate(fault) => fault,
        other => panic!("another failure: {other}"),
    }
}

#[test]
fn a_server_out_of_its_time_is_not_trusted() {
    let realm = Realm::new("authority");
    each_version(|version| {
        let about = |years| About {
            years,
            ..About::named("server")
        };
        assert_eq!(
            verdict(&realm, version, &about((2000, 2001))),
            CertificateFault::Expired
        );
        assert_eq!(
            verdict(&realm, version, &about((3000, 3001))),
            CertificateFault::NotYetValid
        );
    });
}

/// Conformance: protocols - TLS: which peers are trusted and which are not
#[test]
fn a_server_of_another_name_is_not_trusted() {
    let realm = Realm::new("authority");
    each_version(|version| {
        let about = About {
            names: vec!["elsewhere.example".into()],
            ..About::named("127.0.0.1")
        };
        let CertificateFault::WrongName {
            expected,
            presented,
        } = verdict(&realm, version, &about)
        else {
            panic!("the common name is no name of a host");
        };
        assert_eq!(expected, "127.0.0.1");
        assert!(
            presented
                .iter()
                .any(|name| name.contains("elsewhere.example"))
        );
    });
}

#[test]
fn a_server_that_is_a_client_is_not_trusted() {
    let realm = Realm::new("authority");
    let about = About {
        purposes: vec![ExtendedKeyUsagePurpose::ClientAuth],
        ..About::named("server")
    };
    let fault = verdict(&realm, TlsVersion::V1_3, &about);
    assert_eq!(fault, CertificateFault::WrongPurpose);
}

#[test]
fn a_server_of_another_authority_is_not_trusted() {
    // Of the same name, which proves nothing, or of another.
    for name in ["authority", "elsewhere"] {
        let (realm, other) = (Realm::new("authority"), Realm::new(name));
        each_version(|version| {
            for names in [
                NameCheck::Host,
                NameCheck::ChainOnly,
                NameCheck::OneOf(vec!["localhost".into()]),
            ] {
                let server = only(other.config(&About::named("server")), version);
                let client = TlsConfig {
                    server_name: names,
                    ..realm.trusting()
                };
                let (_, client) = failures(server, client);
                let fault = CertificateFault::UnknownAuthority;
                assert_eq!(client, TlsFailure::ServerCertificate(fault));
            }
        });
    }
}

#[test]
fn the_names_accepted_can_be_configured() {
    let realm = Realm::new("authority");
    let server = |version| {
        let about = About {
            names: vec!["orb.example".into()],
            ..About::named("server")
        };
        only(realm.config(&about), version)
    };
    let client = |server_name| TlsConfig {
        server_name,
        ..realm.trusting()
    };
    let names = |names: &[&str]| NameCheck::OneOf(names.iter().map(|&n| n.to_owned()).collect());
    each_version(|version| {
        pair(server(version), client(NameCheck::ChainOnly));
        pair(
            server(version),
            client(names(&["other.example", "orb.example"])),
        );
        let (_, refused) = failures(server(version), client(names(&["other.example"])));
        assert!(matches!(
            refused,
            TlsFailure::ServerCertificate(CertificateFault::WrongName { .. })
        ));
    });
}

#[test]
fn a_chain_alone_does_not_excuse_expiry() {
    let realm = Realm::new("authority");
    let server = realm.config(&About {
        years: (2000, 2001),
        ..About::named("server")
    });
    let client = TlsConfig {
        server_name: NameCheck::ChainOnly,
        ..realm.trusting()
    };
    let (_, client) = failures(server, client);
    let fault = CertificateFault::Expired;
    assert_eq!(client, TlsFailure::ServerCertificate(fault));
}

/// Conformance: complaint 9 - TLS 1.3, and explicit versions
#[test]
fn without_a_version_in_common_there_is_no_connection() {
    let realm = Realm::new("authority");
    let server = || realm.config(&About::named("server"));
    for (one, other) in [
        (TlsVersion::V1_2, TlsVersion::V1_3),
        (TlsVersion::V1_3, TlsVersion::V1_2),
    ] {
        let (server, client) = failures(only(server(), one), only(realm.trusting(), other));
        assert_eq!(server, TlsFailure::NoCommonVersion);
        assert_eq!(client, TlsFailure::NoCommonVersion);
    }
}

/// Conformance: complaint 9 - TLS 1.3, and explicit versions
#[test]
fn the_newest_version_is_taken() {
    let realm = Realm::new("authority");
    let (_server, client) = pair(realm.config(&About::named("server")), realm.trusting());
    assert_eq!(client.session().unwrap().version, TlsVersion::V1_3);
}

/// Conformance: protocols - TLS: which peers are trusted and which are not
#[test]
fn without_trust_anchors_nothing_is_sent() {
    let realm = Realm::new("authority");
    let client = TlsConfig {
        authorities: None,
        ..realm.config(&About::named("server"))
    };
    let client = Tls::new(client).unwrap();
    // No server listens there, which the client does not find out.
    let refused = realm::connect_with(&client, "127.0.0.1:1", &Default::default());
    assert_eq!(failure(refused), TlsFailure::NoTrustAnchors);
}
