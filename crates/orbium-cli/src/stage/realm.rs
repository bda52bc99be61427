// SPDX-License-Identifier: MIT OR Apache-2.0
//! An authority of a run and its certificate, for measurements over TLS: generated for the run, and
//! removed with it.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::failure::Failure;

/// The files of an authority and of a certificate for this host.
#[derive(Debug)]
pub struct Realm {
    authority: String,
    certificate: String,
    key: String,
}

impl Realm {
    /// Makes keys and certificates and writes them to the folder.
    pub fn new(folder: &Path) -> Result<Self, Failure> {
        let made = make().map_err(|error| {
            Failure::because(format!("cannot make certificates to measure TLS: {error}"))
        })?;
        let write = |name: &str, pem: &str| {
            let path = folder.join(name);
            match write_for_us_alone(&path, pem) {
                Ok(()) => Ok(path.to_string_lossy().into_owned()),
                Err(error) => Err(Failure::because(format!(
                    "cannot write `{}`: {error}",
                    path.display()
                ))),
            }
        };
        let [authority, certificate, key] = made;
        Ok(Self {
            authority: write("authority.pem", &authority)?,
            certificate: write("certificate.pem", &certificate)?,
            key: write("key.pem", &key)?,
        })
    }

    /// The options with its files.
    pub fn options(&self) -> Vec<String> {
        let options = [
            ("--tls-ca", &self.authority),
            ("--tls-cert", &self.certificate),
            ("--tls-key", &self.key),
        ];
        let options = options.map(|(option, file)| [option.to_owned(), file.clone()]);
        options.concat()
    }
}

/// Writes a file that only its owner may read: one of them is a key.
fn write_for_us_alone(path: &Path, text: &str) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// In PEM: the authority, a certificate for this host, its key.
fn make() -> Result<[String; 3], rcgen::Error> {
    let mut params = CertificateParams::new([])?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let name = &mut params.distinguished_name;
    name.push(DnType::CommonName, "orbium measurements");
    let key = KeyPair::generate()?;
    let authority = params.self_signed(&key)?.pem();
    let issuer = Issuer::new(params, key);

    let names = ["localhost", "127.0.0.1"].map(str::to_owned);
    let key = KeyPair::generate()?;
    let certificate = CertificateParams::new(names)?.signed_by(&key, &issuer)?;
    Ok([authority, certificate.pem(), key.serialize_pem()])
}
