// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLS under GIOP: the transport `ssliop`.
//!
//! A [`Tls`] is registered with an ORB as any transport is. Its endpoints are
//! `ssliop://host:port`, with `publish=host:port` for the address that clients
//! are to use if it differs. TLS 1.2 and 1.3, by rustls; certificates, keys and
//! trust anchors come from PEM files, which are read again when they change.
//!
//! What is not here: a way to trust everybody, passwords for keys, the
//! certificate store of the system, and anything that knows of a request.
//!
//! The handshake, the certificates, the keys and the records are rustls' concern.
//! What is here is what a stream of an ORB needs around it: one thread receives
//! while another sends, rustls locked only while a message is encrypted or
//! decrypted; each message is one system call.
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
