// SPDX-License-Identifier: MIT OR Apache-2.0
//! Certificates that were revoked, and lists that say so.

use crate::realm;
use std::path::PathBuf;

use orbium_tls::{
    CertificateFault, ClientAuthentication, NameCheck, OutdatedLists, Tls, TlsConfig, TlsError,
    TlsFailure,
};

use crate::realm::{
    About, Realm, attempt, converse, each_version, failure, listen_with, only, pair,
};

/// Numbers of the certificates here.
const SERVER: u64 = 11;
const CLIENT: u64 = 12;
/// The number of no certificate.
const OTHER: u64 = 99;

fn with_lists(config: TlsConfig, lists: &[PathBuf]) -> TlsConfig {
    TlsConfig {
        revocation_lists: lists.to_vec(),
        ..config
    }
}

fn server(realm: &Realm) -> TlsConfig {
    TlsConfig {
        client_authentication: ClientAuthentication::Require,
        ..realm.config(&About::numbered("server", SERVER))
    }
}

fn client(realm: &Realm) -> TlsConfig {
    realm.config(&About::numbered("client", CLIENT))
}

/// Conformance: robustness - TLS: revoked certificates, outdated and missing lists
#[test]
fn a_revoked_server_is_refused_whatever_names_it_may_bear() {
    let realm = Realm::new("authority");
    let list = realm
        .folder
        .write("crl.pem", &realm.revoke(&[OTHER, SERVER], 4000));
    let harmless = realm
        .folder
        .write("harmless.pem", &realm.revoke(&[OTHER], 4000));
    let server = realm.config(&About::numbered("server", SERVER));
    each_version(|version| {
        for server_name in [
            NameCheck::Host,
            NameCheck::ChainOnly,
            NameCheck::OneOf(vec!["localhost".into()]),
        ] {
            let client = |lists: &PathBuf| TlsConfig {
                server_name: server_name.clone(),
                ..with_lists(realm.trusting(), std::slice::from_ref(lists))
            };
            let server = only(server.clone(), version);
            let (own, refused) = attempt(server.clone(), client(&list));
            let fault = CertificateFault::Revoked;
            assert_eq!(
                failure(refused),
                TlsFailure::ServerCertificate(fault.clone())
            );
            assert_eq!(failure(own), TlsFailure::OwnCertificate(fault));
            pair(server, client(&harmless));
        }
    });
}

/// Conformance: robustness - TLS: revoked certificates, outdated and missing lists
#[test]
fn a_revoked_client_is_refused() {
    let realm = Realm::new("authority");
    let list = realm
        .folder
        .write("crl.pem", &realm.revoke(&[CLIENT], 4000));
    let harmless = realm
        .folder
        .write("harmless.pem", &realm.revoke(&[OTHER], 4000));
    each_version(|version| {
        let server = only(server(&realm), version);
        let lists = with_lists(server.clone(), std::slice::from_ref(&list));
        let (refused, own) = attempt(lists, client(&realm));
        let fault = CertificateFault::Revoked;
        assert_eq!(
            failure(refused),
            TlsFailure::ClientCertificate(fault.clone())
        );
        assert_eq!(failure(own), TlsFailure::OwnCertificate(fault));
        let lists = with_lists(server, std::slice::from_ref(&harmless));
        pair(lists, client(&realm));
    });
}

/// An outdated list says nothing of later revocations, and an authority without a list nothing at all.
///
/// Conformance: robustness - TLS: revoked certificates, outdated and missing lists
#[test]
fn outdated_and_missing_lists_refuse_unless_outdated_ones_are_accepted() {
    let (realm, elsewhere) = (Realm::new("authority"), Realm::new("elsewhere"));
    let outdated = realm.folder.write("old.pem", &realm.revoke(&[OTHER], 2021));
    let old_and_revoked = realm
        .folder
        .write("both.pem", &realm.revoke(&[SERVER], 2021));
    let strange = realm
        .folder
        .write("strange.pem", &elsewhere.revoke(&[], 4000));
    let server = realm.config(&About::numbered("server", SERVER));
    let refused = |list: &PathBuf, outdated_lists| {
        let client = TlsConfig {
            outdated_lists,
            ..with_lists(realm.trusting(), std::slice::from_ref(list))
        };
        let (_, client) = attempt(server.clone(), client);
        client
            .err()
            .map(|error| TlsFailure::of(&error).cloned().unwrap())
    };
    let of = |fault| Some(TlsFailure::ServerCertificate(fault));
    let (refuse, accept) = (OutdatedLists::Refuse, OutdatedLists::Accept);
    let fault = CertificateFault::OutdatedRevocationList;
    assert_eq!(refused(&outdated, refuse), of(fault));
    assert_eq!(refused(&outdated, accept), None);
    assert_eq!(
        refused(&old_and_revoked, accept),
        of(CertificateFault::Revoked)
    );
    let fault = CertificateFault::NoRevocationList;
    assert_eq!(refused(&strange, refuse), of(fault.clone()));
    assert_eq!(refused(&strange, accept), of(fault));
    // Several authorities, several files, several lists in one file.
    let fresh = realm.revoke(&[OTHER], 4000) + &elsewhere.revoke(&[], 4000);
    let fresh = realm.folder.write("fresh.pem", &fresh);
    assert_eq!(refused(&fresh, refuse), None);
    let both = with_lists(realm.trusting(), &[strange, fresh]);
    pair(server.clone(), both);
}

/// Lists are files like the others: a certificate that is revoked now is refused by the next
/// connection, and no session goes on behind it.
///
/// Conformance: robustness - TLS: revoked certificates, outdated and missing lists
#[test]
fn a_new_list_counts_from_the_next_connection_on() {
    let realm = Realm::new("authority");
    let list = realm.folder.write("crl.pem", &realm.revoke(&[OTHER], 4000));
    let server = TlsConfig {
        watch_files: true,
        ..with_lists(server(&realm), std::slice::from_ref(&list))
    };
    let server = Tls::new(server).unwrap();
    let acceptor = listen_with(&server, &Default::default());
    let client = Tls::new(client(&realm)).unwrap();
    for _ in 0..2 {
        let (one, two) = converse(&acceptor, &client);
        assert!(one.is_ok() && two.is_ok());
    }
    realm::replace(&list, &realm.revoke(&[CLIENT], 4000));
    let (refused, _) = converse(&acceptor, &client);
    let revoked = TlsFailure::ClientCertificate(CertificateFault::Revoked);
    assert_eq!(failure(refused), revoked);
}

#[test]
fn files_that_hold_no_list_are_named() {
    let realm = Realm::new("authority");
    let error = |path: &PathBuf| {
        let config = with_lists(realm.trusting(), std::slice::from_ref(path));
        Tls::new(config).unwrap_err()
    };
    let ca = realm.ca();
    assert_eq!(error(&ca), TlsError::NoRevocationList(ca.clone()));
    let hollow = "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n";
    let hollow = realm.folder.write("hollow.pem", hollow);
    assert!(matches!(error(&hollow), TlsError::BadRevocationList { path, .. } if path == hollow));
    let nowhere = realm.folder.path("nowhere.pem");
    assert!(matches!(error(&nowhere), TlsError::Unreadable { .. }));
}
