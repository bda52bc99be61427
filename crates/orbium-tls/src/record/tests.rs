// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records sealed and opened.

use super::*;
use rustls::crypto::cipher::{AeadKey, Iv};

const GCM: fn() -> ConnectionTrafficSecrets = || ConnectionTrafficSecrets::Aes256Gcm {
    key: AeadKey::from([7; 32]),
    iv: Iv::from([9; 12]),
};
const CHACHA: fn() -> ConnectionTrafficSecrets = || ConnectionTrafficSecrets::Chacha20Poly1305 {
    key: AeadKey::from([7; 32]),
    iv: Iv::from([9; 12]),
};

fn each_form(mut body: impl FnMut(fn() -> Protection)) {
    body(|| Protection::new(TlsVersion::V1_3, &(0, GCM())).unwrap());
    body(|| Protection::new(TlsVersion::V1_3, &(0, CHACHA())).unwrap());
    body(|| Protection::new(TlsVersion::V1_2, &(0, GCM())).unwrap());
    body(|| Protection::new(TlsVersion::V1_2, &(0, CHACHA())).unwrap());
}

fn sealed(protection: &mut Protection, octets: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let slices = [IoSlice::new(octets)];
    let mut pieces = Pieces::new(&slices);
    protection
        .seal(kind::DATA, &mut pieces, octets.len(), &mut out)
        .unwrap();
    assert_eq!(length(&out), Ok(Some(out.len())));
    out
}

#[test]
fn records_open_once_and_in_their_order() {
    each_form(|new| {
        let (mut sender, mut receiver) = (new(), new());
        for text in [&b""[..], b"one", &[0; LARGEST_PLAIN]] {
            let mut record = sealed(&mut sender, text);
            let again = record.clone();
            let (kind, plain) = receiver.open(&mut record).unwrap();
            assert_eq!((kind, &record[plain]), (kind::DATA, text));
            let refused = receiver.open(&mut again.clone());
            assert_eq!(refused, Err(RecordError::Forged));
        }
    });
}

#[test]
fn no_octet_of_a_record_can_be_changed_or_left_out() {
    each_form(|new| {
        let record = sealed(&mut new(), b"message");
        for place in 0..record.len() {
            let mut changed = record.clone();
            changed[place] ^= 0x10;
            let tls13 = matches!(new().form, Form::Tls13);
            // The length in TLS 1.2 is sealed as what it should be, and
            // decides where a record ends before that is opened.
            if (3..HEADER).contains(&place) && !tls13 {
                continue;
            }
            assert!(new().open(&mut changed).is_err(), "octet {place}");
            let mut cut = record[..place].to_vec();
            assert!(new().open(&mut cut).is_err(), "up to {place}");
        }
    });
}

#[test]
fn a_record_larger_than_any_is_refused() {
    each_form(|new| {
        let mut record = sealed(&mut new(), &[0; LARGEST_PLAIN + 1]);
        assert_eq!(new().open(&mut record), Err(RecordError::TooLong));
    });
    assert_eq!(length(&[23, 3, 3, 0x48]), Ok(None));
    assert_eq!(length(&[23, 3, 3, 0x48, 1]), Err(RecordError::TooLong));
}

#[test]
fn a_record_of_padding_alone_has_no_kind() {
    let new = || Protection::new(TlsVersion::V1_3, &(0, GCM())).unwrap();
    let mut out = Vec::new();
    let slices = [IoSlice::new(&[0; 8])];
    let mut pieces = Pieces::new(&slices);
    // Kind 0 is padding too.
    new().seal(0, &mut pieces, 8, &mut out).unwrap();
    assert_eq!(new().open(&mut out), Err(RecordError::Unexpected));
}

#[test]
fn padding_counts_as_contents() {
    let new = || Protection::new(TlsVersion::V1_3, &(0, GCM())).unwrap();
    let padded = |zeros: usize| {
        let mut octets = vec![kind::DATA; 1];
        octets.resize(1 + zeros - 1, 0);
        let slices = [IoSlice::new(b"message"), IoSlice::new(&octets)];
        let mut pieces = Pieces::new(&slices);
        let mut out = Vec::new();
        // The kind appended is the last of the zeros.
        let length = pieces.left();
        new().seal(0, &mut pieces, length, &mut out).unwrap();
        out
    };
    let most = LARGEST_PLAIN - b"message".len();
    let mut record = padded(most);
    let (kind, plain) = new().open(&mut record).unwrap();
    assert_eq!((kind, &record[plain]), (kind::DATA, &b"message"[..]));
    for zeros in [most + 1, most + 1000] {
        assert_eq!(new().open(&mut padded(zeros)), Err(RecordError::TooLong));
    }
    // Told from the length alone, before anything is opened.
    let mut forged = vec![0; HEADER + LARGEST_SEALED_13 + 1];
    forged[0] = kind::DATA;
    assert_eq!(new().open(&mut forged), Err(RecordError::TooLong));
}

#[test]
fn keys_wear_out_by_what_they_sealed() {
    let mut protection = Protection::new(TlsVersion::V1_3, &(0, GCM())).unwrap();
    protection.limit = 2 * (LARGEST_PLAIN as u64 / 16 + 2);
    for worn in [false, true] {
        sealed(&mut protection, &[0; LARGEST_PLAIN]);
        assert_eq!(protection.is_worn(), worn);
    }
    let last = Protection::new(TlsVersion::V1_2, &(u64::MAX - 1, CHACHA())).unwrap();
    assert!(last.is_worn());
}
