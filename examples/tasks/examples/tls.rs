//! Calls over TLS, both sides with certificates: `cargo run --example tls`.
//!
//! The same settings can stand in a configuration file (`tls.certificate = …`) or behind
//! `-ORB`: see docs/tls.md. The authority and the certificates are made on the spot here.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use orbium::tls::{ClientAuthentication, TlsConfig};
use orbium::{Config, Orb};
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Writes a file that only its owner may read: keys of others are refused.
fn write_private(path: &Path, text: &str) -> Outcome<PathBuf> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())?;
    Ok(path.to_owned())
}

/// The files of one party.
fn files(
    folder: &Path,
    name: &str,
    purpose: ExtendedKeyUsagePurpose,
    authority: &CertifiedIssuer<'_, KeyPair>,
) -> Outcome<TlsConfig> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(vec!["localhost".to_owned()])?;
    params.extended_key_usages = vec![purpose];
    let certificate = params.signed_by(&key, authority)?;
    let file = |kind: &str| folder.join(format!("{name}.{kind}.pem"));
    Ok(TlsConfig {
        certificate: Some(write_private(&file("certificate"), &certificate.pem())?),
        key: Some(write_private(&file("key"), &key.serialize_pem())?),
        authorities: Some(write_private(&file("authority"), &authority.pem())?),
        ..TlsConfig::default()
    })
}

fn main() -> Outcome<()> {
    let folder = std::env::temp_dir().join(format!("orbium-tls-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let mut params = CertificateParams::new(Vec::<String>::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;

    // ANCHOR: server
    let server = Orb::new(Config {
        endpoints: vec!["ssliop://localhost:0".parse()?],
        tls: TlsConfig {
            // A client without a certificate of the authority is refused.
            client_authentication: ClientAuthentication::Require,
            ..files(
                &folder,
                "server",
                ExtendedKeyUsagePurpose::ServerAuth,
                &authority,
            )?
        },
        ..Config::default()
    })?;
    let account: Account = server.serve("Account", Purse::of("Anna"))?;
    // ANCHOR_END: server

    // ANCHOR: client
    let client = Orb::new(Config {
        tls: files(
            &folder,
            "client",
            ExtendedKeyUsagePurpose::ClientAuth,
            &authority,
        )?,
        ..Config::default()
    })?;
    let account: Account = client.resolve(&server.object_to_string(&account))?;
    // ANCHOR_END: client
    println!("{}", account.owner()?);
    fs::remove_dir_all(&folder)?;
    Ok(())
}
