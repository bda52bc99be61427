// SPDX-License-Identifier: MIT OR Apache-2.0
//! Certificates that expire between a session and the next.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use rustls::time_provider::TimeProvider;

use super::*;
use crate::certificate::material::{ClientRole, Material, ServerRole};
use crate::handshake::{Finished, Handshake, Step};
use crate::{CertificateFault, ClientAuthentication, TlsConfig, TlsFailure, TlsVersion};

/// The first second of 2030, when the short-lived certificates have expired.
const EXPIRY: u64 = 1_893_456_000;

#[derive(Debug)]
struct Clock(AtomicU64);

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        let now = Duration::from_secs(self.0.load(Ordering::Relaxed));
        Some(UnixTime::since_unix_epoch(now))
    }
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Pair {
    clock: Arc<Clock>,
    server: ServerRole,
    client: ClientRole,
    _folder: Folder,
}

impl Pair {
    /// The certificates of both sides are valid until the given years.
    fn new(version: TlsVersion, server_until: i32, client_until: i32) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("orbium-tls-recheck-{}-{number}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).unwrap();
        let write = |name: &str, text: String| {
            let path = folder.0.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            path
        };
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = write("ca.pem", params.self_signed(&key).unwrap().pem());
        let issuer = Issuer::new(params, key);
        let load = |name: &str, year| {
            let key = KeyPair::generate().unwrap();
            let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
            params.not_after = date_time_ymd(year, 1, 1);
            params.extended_key_usages = vec![
                ExtendedKeyUsagePurpose::ServerAuth,
                ExtendedKeyUsagePurpose::ClientAuth,
            ];
            let certificate = params.signed_by(&key, &issuer).unwrap().pem();
            let both = write(name, certificate + &key.serialize_pem());
            let config = TlsConfig {
                certificate: Some(both),
                authorities: Some(authority.clone()),
                client_authentication: ClientAuthentication::Require,
                min_version: version,
                max_version: version,
                ..TlsConfig::default()
            };
            Material::load(&config).unwrap()
        };
        let clock = Arc::new(Clock(AtomicU64::new(EXPIRY - 60)));
        let mut server = load("server.pem", server_until).server.unwrap();
        let mut client = load("client.pem", client_until).client.unwrap();
        Arc::get_mut(&mut server.config).unwrap().time_provider = Arc::clone(&clock) as _;
        Arc::get_mut(&mut client.config).unwrap().time_provider = Arc::clone(&clock) as _;
        Self {
            clock,
            server,
            client,
            _folder: folder,
        }
    }

    /// Runs a handshake: returns the results of both sides, or the first failure.
    fn shake(&self) -> Result<(Finished, Finished), TlsFailure> {
        let name = ServerName::try_from("localhost").unwrap();
        let mut client = Handshake::client(self.client.clone(), name).unwrap();
        let mut server = Handshake::server(self.server.clone()).unwrap();
        loop {
            let first = client.advance()?;
            carry(&mut client, &mut server);
            let second = server.advance()?;
            if (first, second) == (Step::Finish, Step::Finish) {
                break;
            }
            carry(&mut server, &mut client);
        }
        let tickets = server.outgoing().to_vec();
        server.mark_sent(tickets.len());
        let (mut client, server) = (client.finish()?, server.finish()?);
        let mut rest = &tickets[..];
        while client.trust.is_ok() && !rest.is_empty() {
            let room = client.receiving.room();
            let count = room.len().min(rest.len());
            room[..count].copy_from_slice(&rest[..count]);
            client.receiving.add(count);
            client.receiving.feed(&mut client.connection);
            rest = &rest[count..];
        }
        Ok((client, server))
    }
}

fn carry(from: &mut Handshake, to: &mut Handshake) {
    while !from.outgoing().is_empty() {
        let room = to.room().unwrap();
        let count = room.len().min(from.outgoing().len());
        room[..count].copy_from_slice(&from.outgoing()[..count]);
        to.add(count);
        from.mark_sent(count);
    }
}

fn each_version(body: fn(TlsVersion)) {
    body(TlsVersion::V1_2);
    body(TlsVersion::V1_3);
}

/// Runs two sessions before the expiry, the second of which resumes the first.
fn begin(pair: &Pair) {
    for resumed in [false, true] {
        let (client, server) = pair.shake().unwrap();
        assert_eq!((client.trust, server.trust), (Ok(()), Ok(())));
        assert_eq!(client.session.resumed, resumed);
        // The peer is identified as before.
        assert_eq!(server.certificates.len(), 1);
    }
    pair.clock.0.store(EXPIRY + 60, Ordering::Relaxed);
}

#[test]
fn a_session_of_a_trusted_peer_continues() {
    each_version(|version| {
        let pair = Pair::new(version, 2031, 2031);
        begin(&pair);
        let (client, server) = pair.shake().unwrap();
        assert!(server.session.resumed);
        assert_eq!((client.trust, server.trust), (Ok(()), Ok(())));
    });
}

#[test]
fn a_session_does_not_outlive_the_certificate_of_the_client() {
    each_version(|version| {
        let pair = Pair::new(version, 2031, 2030);
        begin(&pair);
        let expired = TlsFailure::ClientCertificate(CertificateFault::Expired);
        let (client, server) = pair.shake().unwrap();
        assert!(server.session.resumed);
        assert_eq!((client.trust, server.trust), (Ok(()), Err(expired.clone())));
        // Now the peer has to present one again.
        assert_eq!(pair.shake().err(), Some(expired));
    });
}

#[test]
fn a_session_does_not_outlive_the_certificate_of_the_server() {
    each_version(|version| {
        let pair = Pair::new(version, 2030, 2031);
        begin(&pair);
        let expired = TlsFailure::ServerCertificate(CertificateFault::Expired);
        let (client, server) = pair.shake().unwrap();
        assert!(client.session.resumed);
        assert_eq!((client.trust, server.trust), (Err(expired.clone()), Ok(())));
        assert_eq!(pair.shake().err(), Some(expired));
    });
}
