// SPDX-License-Identifier: MIT OR Apache-2.0
//! Certificate revocation lists, out of files.

use std::path::Path;

use rustls::pki_types::CertificateRevocationListDer;
use rustls::pki_types::pem::PemObject;
use webpki::BorrowedCertRevocationList;

use crate::OutdatedLists;
use crate::certificate::pem;
use crate::{TlsConfig, TlsError};

/// The revocation lists and their policies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Revocation {
    /// Empty if no revocation is checked.
    lists: Vec<CertificateRevocationListDer<'static>>,
    outdated: OutdatedLists,
}

impl Revocation {
    /// Reads the files.
    pub(crate) fn load(config: &TlsConfig) -> Result<Self, TlsError> {
        let mut lists = Vec::new();
        for path in &config.revocation_lists {
            lists.append(&mut read(path)?);
        }
        let outdated = config.outdated_lists;
        Ok(Self { lists, outdated })
    }

    /// The lists, for a verifier.
    pub(crate) fn lists(&self) -> impl IntoIterator<Item = CertificateRevocationListDer<'static>> {
        self.lists.clone()
    }

    /// Whether a list is invalid after its `nextUpdate` time.
    pub(crate) fn refuses_outdated(&self) -> bool {
        self.outdated == OutdatedLists::Refuse
    }
}

/// The lists in a file; at least one.
fn read(path: &Path) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    let octets = pem::read_up_to(path, pem::MAX_LISTS_LENGTH, |_| Ok(()))?;
    let found: Vec<_> = CertificateRevocationListDer::pem_slice_iter(&octets)
        .collect::<Result<_, _>>()
        .map_err(|error| pem::not_pem(path, &error))?;
    if found.is_empty() {
        return Err(TlsError::NoRevocationList(path.to_owned()));
    }
    for list in &found {
        // The file is known here; the verifier could only report that some list is invalid.
        BorrowedCertRevocationList::from_der(list).map_err(|error| {
            TlsError::BadRevocationList {
                path: path.to_owned(),
                reason: error.to_string(),
            }
        })?;
    }
    Ok(found)
}
