// SPDX-License-Identifier: MIT OR Apache-2.0
//! By which name a certificate calls its owner.

use webpki::EndEntityCert;

use rustls::pki_types::CertificateDer;

/// The common name of the subject, otherwise the first alternative name that is a host name,
/// otherwise the first that is a URI.
pub(crate) fn name(certificate: &CertificateDer<'_>) -> Option<String> {
    let certificate = EndEntityCert::try_from(certificate).ok()?;
    common_name(certificate.subject())
        .or_else(|| certificate.valid_dns_names().next().map(str::to_owned))
        .or_else(|| certificate.valid_uri_names().next().map(str::to_owned))
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_IDENTIFIER: u8 = 0x06;

/// id-at-commonName, 2.5.4.3 (RFC 5280, appendix A).
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

/// The last common name, which is the most specific, of an RDNSequence without its tag and length.
fn common_name(mut subject: &[u8]) -> Option<String> {
    let mut found = None;
    while let Some((SET, relative, rest)) = element(subject) {
        subject = rest;
        let mut relative = relative;
        while let Some((SEQUENCE, attribute, rest)) = element(relative) {
            relative = rest;
            if let Some((OBJECT_IDENTIFIER, COMMON_NAME, value)) = element(attribute)
                && let Some((tag, value, _)) = element(value)
            {
                found = text(tag, value).or(found);
            }
        }
    }
    found
}

/// A DirectoryString. TeletexString and UniversalString are out of use.
fn text(tag: u8, value: &[u8]) -> Option<String> {
    const UTF8: u8 = 0x0C;
    const PRINTABLE: u8 = 0x13;
    const IA5: u8 = 0x16;
    const BMP: u8 = 0x1E;
    match tag {
        UTF8 | PRINTABLE | IA5 => String::from_utf8(value.to_vec()).ok(),
        BMP if value.len().is_multiple_of(2) => {
            let units = value.chunks_exact(2);
            let units: Vec<u16> = units
                .map(|unit| u16::from_be_bytes([unit[0], unit[1]]))
                .collect();
            String::from_utf16(&units).ok()
        }
        _ => None,
    }
}

/// The first element of DER data: tag, contents, and the rest.
fn element(octets: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = octets.split_first()?;
    let (&short, rest) = rest.split_first()?;
    let (length, rest) = match short {
        0..=0x7F => (usize::from(short), rest),
        0x81 => {
            let (&length, rest) = rest.split_first()?;
            (usize::from(length), rest)
        }
        0x82 => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            (usize::from(u16::from_be_bytes(*length)), rest)
        }
        _ => return None,
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((tag, contents, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(oid: &[u8], tag: u8, value: &[u8]) -> Vec<u8> {
        let mut inner = vec![OBJECT_IDENTIFIER, oid.len() as u8];
        inner.extend_from_slice(oid);
        inner.extend_from_slice(&[tag, value.len() as u8]);
        inner.extend_from_slice(value);
        let mut out = vec![SET, inner.len() as u8 + 2, SEQUENCE, inner.len() as u8];
        out.extend_from_slice(&inner);
        out
    }

    #[test]
    fn the_last_common_name_counts() {
        let mut subject = attribute(&[0x55, 0x04, 0x0A], 0x0C, b"Guild");
        assert_eq!(common_name(&subject), None);
        subject.extend(attribute(COMMON_NAME, 0x13, b"outer"));
        subject.extend(attribute(COMMON_NAME, 0x0C, "inné".as_bytes()));
        assert_eq!(common_name(&subject).as_deref(), Some("inné"));
        let wide = attribute(COMMON_NAME, 0x1E, &[0, b'h', 0, b'i']);
        assert_eq!(common_name(&wide).as_deref(), Some("hi"));
    }

    #[test]
    fn damaged_names_are_none() {
        let subject = attribute(COMMON_NAME, 0x0C, b"name");
        for length in 0..subject.len() {
            assert_eq!(common_name(&subject[..length]), None);
        }
        assert_eq!(
            common_name(&attribute(COMMON_NAME, 0x0C, &[0xFF, 0xFE])),
            None
        );
        assert_eq!(common_name(&[SET, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]), None);
    }
}
