// SPDX-License-Identifier: MIT OR Apache-2.0
//! Certificates and keys in files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::TlsError;

/// Octets of the largest file read: a wrong name must not fill the memory.
const MAX_FILE_LENGTH: u64 = 4 << 20;

/// The same limit for a file of revocation lists.
pub(crate) const MAX_LISTS_LENGTH: u64 = 256 << 20;

/// Reads a file whole.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    read_up_to(path, MAX_FILE_LENGTH, |_| Ok(()))
}

/// Reads a file with a private key, to which only its owner may have access unless `exposed`.
pub(crate) fn read_secret(path: &Path, exposed: bool) -> Result<Vec<u8>, TlsError> {
    read_up_to(path, MAX_FILE_LENGTH, |file| match mode(file) {
        Some(mode) if !exposed && mode & 0o077 != 0 => Err(TlsError::ExposedKey {
            path: path.to_owned(),
            mode,
        }),
        _ => Ok(()),
    })
}

/// The permission bits of a file, on systems that have them.
fn mode(file: &File) -> Option<u32> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let about = file.metadata().ok()?;
        Some(about.permissions().mode() & 0o7777)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        None
    }
}

/// Reads a whole file of at most that size, subject to a check.
pub(crate) fn read_up_to(
    path: &Path,
    largest: u64,
    check: impl FnOnce(&File) -> Result<(), TlsError>,
) -> Result<Vec<u8>, TlsError> {
    let unreadable = |error: std::io::Error| TlsError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    let file = File::open(path).map_err(unreadable)?;
    check(&file)?;
    let mut octets = Vec::new();
    file.take(largest + 1)
        .read_to_end(&mut octets)
        .map_err(unreadable)?;
    if octets.len() as u64 > largest {
        return Err(TlsError::TooLarge(path.to_owned()));
    }
    Ok(octets)
}

/// The certificates in a file, in order; at least one.
pub(crate) fn certificates(
    path: &Path,
    octets: &[u8],
) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(octets)
        .collect::<Result<_, _>>()
        .map_err(|error| not_pem(path, &error))?;
    if found.is_empty() {
        return Err(TlsError::NoCertificate(path.to_owned()));
    }
    Ok(found)
}

/// The first private key in a file.
pub(crate) fn key(path: &Path, octets: &[u8]) -> Result<PrivateKeyDer<'static>, TlsError> {
    // PKCS #8 has it in the label (RFC 7468, 11), the older forms in a header (RFC 1421, 4.6.1.1),
    // after which no key can be parsed.
    let encrypted: [&[u8]; 2] = [b"BEGIN ENCRYPTED PRIVATE KEY", b"Proc-Type: 4,ENCRYPTED"];
    let is_encrypted = encrypted
        .iter()
        .any(|mark| octets.windows(mark.len()).any(|window| window == *mark));
    if is_encrypted {
        return Err(TlsError::EncryptedKey(path.to_owned()));
    }
    match PrivateKeyDer::from_pem_slice(octets) {
        Ok(key) => Ok(key),
        Err(PemError::NoItemsFound) => Err(TlsError::NoKey(path.to_owned())),
        Err(error) => Err(not_pem(path, &error)),
    }
}

pub(crate) fn not_pem(path: &Path, error: &PemError) -> TlsError {
    TlsError::NotPem {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}
