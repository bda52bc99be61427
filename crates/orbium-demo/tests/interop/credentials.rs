// SPDX-License-Identifier: MIT OR Apache-2.0
//! An authority, and a certificate for each side, in the forms that the ORBs
//! want.

use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use orbium::{Config, transport::Transport};
use orbium_tls::{ClientAuthentication, Tls, TlsConfig, TlsVersion};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};

use crate::programs::{scratch_directory, tool_available};

/// Of the key store, which JacORB does not read without one.
const PASSWORD: &str = "secret";

/// Whether what makes the files that a peer wants is here.
pub(crate) fn available(peer: &str) -> bool {
    peer != "jacorb" || (tool_available("openssl") && tool_available("keytool"))
}

/// The files of one test, removed in the end.
pub(crate) struct Credentials {
    folder: PathBuf,
    /// The newest version that orbium speaks.
    newest: TlsVersion,
}

impl Drop for Credentials {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Credentials {
    pub(crate) fn new(newest: TlsVersion) -> Result<Self, Box<dyn Error>> {
        let own = Self {
            folder: scratch_directory()?,
            newest,
        };
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new([])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "realm");
        fs::write(own.path("ca.pem"), params.self_signed(&key)?.pem())?;
        let issuer = Issuer::new(params, key);
        for name in ["orbium", "peer"] {
            let key = KeyPair::generate()?;
            let mut params = CertificateParams::new(["127.0.0.1".to_owned()])?;
            params.distinguished_name.push(DnType::CommonName, name);
            params.extended_key_usages = vec![
                ExtendedKeyUsagePurpose::ServerAuth,
                ExtendedKeyUsagePurpose::ClientAuth,
            ];
            let certificate = params.signed_by(&key, &issuer)?.pem();
            let whole = key.serialize_pem() + &certificate;
            let path = own.path(&format!("{name}.pem"));
            fs::write(&path, whole)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        }
        Ok(own)
    }

    /// A file among them.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn text(&self, name: &str) -> Result<String, Box<dyn Error>> {
        Ok(self
            .path(name)
            .to_str()
            .ok_or("a strange directory")?
            .to_owned())
    }

    /// Has an ORB of ours listen over TLS alone and require certificates.
    pub(crate) fn secure(&self, config: &mut Config) -> Result<(), Box<dyn Error>> {
        let tls = Tls::new(TlsConfig {
            certificate: Some(self.path("orbium.pem")),
            authorities: Some(self.path("ca.pem")),
            client_authentication: ClientAuthentication::Require,
            max_version: self.newest,
            ..TlsConfig::default()
        })?;
        config.protocols.register(Transport::stream(tls));
        config.endpoints = vec!["ssliop://127.0.0.1:0".parse()?];
        Ok(())
    }

    /// What tells a peer to do the same.
    pub(crate) fn options(&self, peer: &str) -> Result<Vec<String>, Box<dyn Error>> {
        match peer {
            "omni" => Ok(vec![
                "-ORBendPoint".into(),
                "giop:ssl:127.0.0.1:0".into(),
                "-ORBsslCAFile".into(),
                self.text("ca.pem")?,
                "-ORBsslKeyFile".into(),
                self.text("peer.pem")?,
                "-ORBsslKeyPassword".into(),
                PASSWORD.into(),
            ]),
            _ => self.jacorb_options(),
        }
    }

    fn jacorb_options(&self) -> Result<Vec<String>, Box<dyn Error>> {
        let store = self.text("peer.p12")?;
        let (own, authority) = (self.text("peer.pem")?, self.text("ca.pem")?);
        let password = format!("pass:{PASSWORD}");
        let export = ["pkcs12", "-export", "-name", "peer", "-passout", &password];
        tool("openssl", &export, &["-in", &own, "-out", &store])?;
        let import = ["-importcert", "-noprompt", "-alias", "realm"];
        let into = ["-keystore", &store, "-storepass", PASSWORD];
        tool(
            "keytool",
            &import,
            &[&into[..], &["-file", &authority]].concat(),
        )?;
        let classes = "org.jacorb.security.ssl.sun_jsse";
        Ok(vec![
            "-Djacorb.security.support_ssl=on".into(),
            format!("-Djacorb.ssl.socket_factory={classes}.SSLSocketFactory"),
            format!("-Djacorb.ssl.server_socket_factory={classes}.SSLServerSocketFactory"),
            format!("-Djacorb.security.keystore={store}"),
            format!("-Djacorb.security.keystore_password={PASSWORD}"),
            // Whatever its format: JacORB reads no file for any other type.
            "-Djacorb.security.keystore_type=JKS".into(),
            "-Djacorb.security.jsse.trustees_from_ks=on".into(),
            // Hexadecimal association options: trust in target and in client.
            "-Djacorb.security.ssl.client.supported_options=60".into(),
            "-Djacorb.security.ssl.client.required_options=20".into(),
            "-Djacorb.security.ssl.server.supported_options=60".into(),
            "-Djacorb.security.ssl.server.required_options=60".into(),
        ])
    }
}

fn tool(name: &str, first: &[&str], more: &[&str]) -> Result<(), Box<dyn Error>> {
    let ran = Command::new(name).args(first).args(more).output()?;
    if ran.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    Err(format!("{name} failed: {told}").into())
}
