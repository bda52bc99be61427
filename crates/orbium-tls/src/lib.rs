// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLS under GIOP: the transport `ssliop`.
//!
//! A [`Tls`] is registered with an ORB like any transport. Its endpoints are `ssliop://host:port`,
//! with `publish=host:port` for the address for clients if it differs. TLS 1.2 and 1.3, by rustls;
//! certificates, keys and trust anchors come from PEM files, which are read again when they change.
//!
//! Not included: a mode that trusts any peer, passwords for keys, the certificate store of the
//! system, and any knowledge of requests.
//!
//! The handshake, the certificates, the keys and the records are implemented by rustls. This crate
//! adds the requirements of an ORB's stream: one thread receives while another sends, rustls is
//! locked only while a message is encrypted or decrypted, and each message is one system call.
#![forbid(unsafe_code)]

mod alert;
mod cause;
mod certificate;
mod error;
mod failure;
mod handshake;
mod session;
mod stream;
mod transport;

pub use certificate::reload::Reload;
pub use error::TlsError;
pub use failure::{CertificateFault, TlsFailure};
pub use orbium_config::tls::{
    ClientAuthentication, NameCheck, OutdatedLists, TlsConfig, TlsVersion,
};
pub use session::Session;
pub use stream::TlsStream;
pub use transport::{Tls, TlsAcceptor, TlsConnector};
