// SPDX-License-Identifier: MIT OR Apache-2.0
//! An authority, and the certificate that it gave to both sides.

use std::os::unix::fs::PermissionsExt;

use orbium::Config;
use orbium::tls::{ClientAuthentication, TlsConfig};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};

use crate::common::Folder;

pub(crate) struct Realm(Folder);

impl Realm {
    pub(crate) fn new() -> Self {
        let folder = Folder::new();
        let key = KeyPair::generate().unwrap();
        let mut authority = CertificateParams::new([]).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority
            .distinguished_name
            .push(DnType::CommonName, "authority");
        let certificate = authority.self_signed(&key).unwrap();
        std::fs::write(folder.path("ca.pem"), certificate.pem()).unwrap();
        let issuer = Issuer::new(authority, key);

        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "peer");
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let certificate = params.signed_by(&key, &issuer).unwrap();
        let path = folder.path("peer.pem");
        std::fs::write(&path, key.serialize_pem() + &certificate.pem()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        Self(folder)
    }

    /// Both sides show the certificate and ask for one.
    pub(crate) fn secure(&self, config: &mut Config) {
        config.tls = TlsConfig {
            certificate: Some(self.0.path("peer.pem").into()),
            authorities: Some(self.0.path("ca.pem").into()),
            client_authentication: ClientAuthentication::Require,
            ..TlsConfig::default()
        };
    }
}
