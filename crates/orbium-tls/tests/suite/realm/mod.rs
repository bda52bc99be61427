// SPDX-License-Identifier: MIT OR Apache-2.0
//! A folder with an authority and the certificates that it gives out, and
//! connected pairs of streams.

use std::fs;
use std::io;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use orbium_sys::{Interest, wait_for};
use orbium_testkit::PATIENCE;
use orbium_tls::{Tls, TlsAcceptor, TlsConfig, TlsFailure, TlsStream, TlsVersion};
use orbium_transport::{Acceptor, ByteStream, Deadline, ProtocolProperties};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose,
    RevokedCertParams, SerialNumber, date_time_ymd,
};

/// Removed with everything in it at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("orbium-tls-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        write_for_us_alone(&path, text);
        path
    }
}

/// Writes a file as one with a key has to be.
fn write_for_us_alone(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An authority, and a folder that holds its certificate as `ca.pem`.
pub(crate) struct Realm {
    pub(crate) folder: Folder,
    issuer: Issuer<'static, KeyPair>,
}

/// What a certificate says.
#[derive(Clone)]
pub(crate) struct About {
    pub(crate) common_name: &'static str,
    pub(crate) names: Vec<String>,
    pub(crate) years: (i32, i32),
    pub(crate) purposes: Vec<ExtendedKeyUsagePurpose>,
    /// The number that the authority gives it, if it is to be a certain one.
    pub(crate) number: Option<u64>,
}

impl About {
    /// Someone of that name, at this host, for a long time.
    pub(crate) fn named(common_name: &'static str) -> Self {
        Self {
            common_name,
            names: vec!["localhost".into(), "127.0.0.1".into()],
            years: (2020, 4000),
            purposes: vec![
                ExtendedKeyUsagePurpose::ServerAuth,
                ExtendedKeyUsagePurpose::ClientAuth,
            ],
            number: None,
        }
    }

    /// As above, with that number.
    pub(crate) fn numbered(common_name: &'static str, number: u64) -> Self {
        Self {
            number: Some(number),
            ..Self::named(common_name)
        }
    }
}

fn authority(name: &str) -> (Issuer<'static, KeyPair>, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.distinguished_name.push(DnType::CommonName, name);
    let pem = params.self_signed(&key).unwrap().pem();
    (Issuer::new(params, key), pem)
}

impl Realm {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Folder::new();
        let (issuer, pem) = authority(name);
        folder.write("ca.pem", &pem);
        Self { folder, issuer }
    }

    pub(crate) fn ca(&self) -> PathBuf {
        self.folder.path("ca.pem")
    }

    /// Certificate and key of somebody, in PEM.
    pub(crate) fn issue(&self, about: &About) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(about.names.clone()).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::CommonName, about.common_name);
        params.not_before = date_time_ymd(about.years.0, 1, 1);
        params.not_after = date_time_ymd(about.years.1, 1, 1);
        params.extended_key_usages = about.purposes.clone();
        params.serial_number = about.number.map(SerialNumber::from);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// A revocation list of certificates with these numbers, in PEM, that holds until
    /// the beginning of a year.
    pub(crate) fn revoke(&self, numbers: &[u64], until: i32) -> String {
        let revoked = numbers.iter().map(|number| RevokedCertParams {
            serial_number: SerialNumber::from(*number),
            revocation_time: date_time_ymd(2020, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2020, 1, 1),
            next_update: date_time_ymd(until, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        params.signed_by(&self.issuer).unwrap().pem().unwrap()
    }

    /// A configuration that shows a certificate and trusts this authority.
    pub(crate) fn config(&self, about: &About) -> TlsConfig {
        let (certificate, key) = self.issue(about);
        let name = about.common_name.replace(' ', "-");
        TlsConfig {
            certificate: Some(self.folder.write(&format!("{name}.pem"), &certificate)),
            key: Some(self.folder.write(&format!("{name}.key"), &key)),
            authorities: Some(self.ca()),
            watch_files: false,
            ..TlsConfig::default()
        }
    }

    /// A configuration that shows nothing and trusts this authority.
    pub(crate) fn trusting(&self) -> TlsConfig {
        TlsConfig {
            authorities: Some(self.ca()),
            watch_files: false,
            ..TlsConfig::default()
        }
    }
}

/// Both versions, one at a time.
pub(crate) fn each_version(mut body: impl FnMut(TlsVersion)) {
    for version in [TlsVersion::V1_2, TlsVersion::V1_3] {
        body(version);
    }
}

pub(crate) fn only(config: TlsConfig, version: TlsVersion) -> TlsConfig {
    TlsConfig {
        min_version: version,
        max_version: version,
        ..config
    }
}

pub(crate) fn listen(config: TlsConfig) -> TlsAcceptor {
    listen_with(&Tls::new(config).unwrap(), &ProtocolProperties::default())
}

pub(crate) fn listen_with(tls: &Tls, properties: &ProtocolProperties) -> TlsAcceptor {
    let endpoint = "ssliop://127.0.0.1:0".parse().unwrap();
    tls.acceptor(&endpoint, properties).unwrap()
}

/// Takes the connection that is about to come.
pub(crate) fn accept(acceptor: &TlsAcceptor) -> TlsStream {
    let source = acceptor.source();
    let ready = wait_for([(&source, Interest::Read)], Some(PATIENCE)).unwrap();
    assert_eq!(ready, [true], "nobody connects");
    acceptor.accept_tls().unwrap()
}

pub(crate) fn connect(tls: &Tls, acceptor: &TlsAcceptor) -> io::Result<TlsStream> {
    connect_with(tls, acceptor.address(), &ProtocolProperties::default())
}

pub(crate) fn connect_with(
    tls: &Tls,
    address: &str,
    properties: &ProtocolProperties,
) -> io::Result<TlsStream> {
    let connector = tls.connector_to(address, properties).unwrap();
    connector.connect_tls(Deadline::after(Some(PATIENCE)))
}

pub(crate) fn plain_connection(acceptor: &TlsAcceptor) -> TcpStream {
    let stream = TcpStream::connect(acceptor.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// What either side of a connection comes to: the server receives four octets
/// and sends them back, the client the other way round.
pub(crate) fn attempt(
    server: TlsConfig,
    client: TlsConfig,
) -> (io::Result<TlsStream>, io::Result<TlsStream>) {
    let acceptor = listen(server);
    let client = Tls::new(client).unwrap();
    converse(&acceptor, &client)
}

pub(crate) fn converse(
    acceptor: &TlsAcceptor,
    client: &Tls,
) -> (io::Result<TlsStream>, io::Result<TlsStream>) {
    std::thread::scope(|scope| {
        let server = scope.spawn(|| {
            let stream = accept(acceptor);
            stream.set_timeouts(Some(Some(PATIENCE)), Some(Some(PATIENCE)))?;
            let mut room = [0; 4];
            receive_exact(&stream, &mut room)?;
            send_all(&stream, &room)?;
            Ok(stream)
        });
        let client = || {
            let stream = connect(client, acceptor)?;
            stream.set_timeouts(Some(Some(PATIENCE)), Some(Some(PATIENCE)))?;
            send_all(&stream, b"ping")?;
            let mut room = [0; 4];
            receive_exact(&stream, &mut room)?;
            assert_eq!(&room, b"ping");
            Ok(stream)
        };
        let client = client();
        (server.join().unwrap(), client)
    })
}

/// A server and a client that have got on well.
pub(crate) fn pair(server: TlsConfig, client: TlsConfig) -> (TlsStream, TlsStream) {
    let (server, client) = attempt(server, client);
    (server.unwrap(), client.unwrap())
}

/// Receives so many octets, trying again for as long as a test may take.
pub(crate) fn receive_exact(stream: &dyn ByteStream, mut room: &mut [u8]) -> io::Result<()> {
    let limit = Deadline::after(Some(PATIENCE));
    while !room.is_empty() {
        match stream.receive(room) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => room = &mut room[count..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                limit.remaining()?;
                let source = stream.source();
                wait_for([(&source, Interest::Read)], Some(Duration::from_millis(50)))?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Sends everything, as `orbium-core` does.
pub(crate) fn send_all(stream: &dyn ByteStream, mut octets: &[u8]) -> io::Result<()> {
    let limit = Deadline::after(Some(PATIENCE));
    while !octets.is_empty() {
        match stream.send(octets) {
            Ok(count) => octets = &octets[count..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                limit.remaining()?;
                let source = stream.source();
                wait_for([(&source, Interest::Write)], Some(PATIENCE))?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The failure in an error that must be one.
#[track_caller]
pub(crate) fn failure<T>(result: io::Result<T>) -> TlsFailure {
    let Err(error) = result else {
        panic!("should have failed");
    };
    match TlsFailure::of(&error) {
        Some(failure) => failure.clone(),
        None => panic!("no failure of TLS: {error:?}"),
    }
}

/// As after a change by an administrator: a moment later, so that it shows.
pub(crate) fn replace(path: &Path, text: &str) {
    let draft = path.with_extension("new");
    write_for_us_alone(&draft, text);
    fs::rename(&draft, path).unwrap();
}
