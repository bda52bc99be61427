// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLS does what every transport must do, in both versions and with mutual
//! authentication.

use std::env;
use std::path::PathBuf;

use orbium_testkit::transport_suite::{Subject, loopback};
use orbium_tls::{ClientAuthentication, NameCheck, Tls, TlsConfig, TlsVersion};

use crate::realm::{About, Realm, only};

/// Passes the path of the certificates to a child process.
const FOLDER: &str = "ORBIUM_TLS_SUITE_FOLDER";

fn endpoint(unique: &str) -> String {
    format!("ssliop://{}:0", loopback(unique))
}

/// Peers that know each other: everybody shows a certificate.
fn subject(version: TlsVersion) -> Subject {
    let made = env::var_os(FOLDER).is_none().then(|| {
        let realm = Realm::new("Authority");
        realm.config(&About::named("peer"));
        realm
    });
    let folder = match &made {
        Some(realm) => realm.folder.path(""),
        None => PathBuf::from(env::var_os(FOLDER).unwrap()),
    };
    let config = TlsConfig {
        certificate: Some(folder.join("peer.pem")),
        key: Some(folder.join("peer.key")),
        authorities: Some(folder.join("ca.pem")),
        client_authentication: ClientAuthentication::Require,
        server_name: NameCheck::OneOf(vec!["localhost".into()]),
        watch_files: false,
        ..TlsConfig::default()
    };
    let tls = Tls::new(only(config, version)).unwrap();
    let subject = Subject::new(tls, endpoint)
        .environment(FOLDER, folder)
        // rustls takes one to encrypt a record, one to decrypt it and one to gather
        // pieces, for a request and its reply.
        .allocations_per_call(6);
    match made {
        Some(realm) => subject.keeping(realm.folder),
        None => subject,
    }
}

orbium_testkit::transport_suite! {
    tls_1_2 => subject(TlsVersion::V1_2),
    tls_1_3 => subject(TlsVersion::V1_3),
}
