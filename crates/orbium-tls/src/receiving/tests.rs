// SPDX-License-Identifier: MIT OR Apache-2.0
//! What peers that hold the keys can do to the receiving direction.

use crate::testing::{Making, Opener, Sealer};
use crate::{TlsFailure, TlsVersion};

use super::*;

const KEY_UPDATE: [u8; 5] = [24, 0, 0, 1, 1];

/// What is received of these records: octets, and the failure behind them.
fn received(
    version: TlsVersion,
    is_client: bool,
    records: &[(u8, &[u8])],
) -> (Vec<u8>, Option<TlsFailure>, Opener) {
    let making = Making {
        version,
        is_chacha: false,
    };
    let (mut sealer, mut wire) = (Sealer::new(making), Vec::new());
    for (kind, octets) in records {
        sealer.seal(*kind, octets, &mut wire);
    }
    let mut opener = Opener::new(making, is_client);
    let (mut taken, mut rest) = (Vec::new(), &wire[..]);
    loop {
        let mut room = [0; 64];
        match opener.take(&mut room) {
            Ok(0) if rest.is_empty() || opener.has_ended() => return (taken, None, opener),
            Ok(0) => rest = &rest[opener.add(rest).unwrap()..],
            Ok(count) => taken.extend_from_slice(&room[..count]),
            Err(failure) => return (taken, Some(failure), opener),
        }
    }
}

#[track_caller]
fn is_refused(version: TlsVersion, is_client: bool, records: &[(u8, &[u8])]) {
    let (taken, failure, _) = received(version, is_client, records);
    let is_protocol = matches!(failure, Some(TlsFailure::Protocol(_)));
    assert!(is_protocol && taken.is_empty(), "{failure:?}, {taken:?}");
}

#[test]
fn a_key_update_is_followed_and_answered() {
    let records: [(u8, &[u8]); 4] = [
        (kind::DATA, b"one"),
        (kind::HANDSHAKE, &KEY_UPDATE[..2]),
        (kind::HANDSHAKE, &KEY_UPDATE[2..]),
        (kind::DATA, b"two"),
    ];
    // Cut in two, its end alone does not look like one.
    let making = Making {
        version: TlsVersion::V1_3,
        is_chacha: true,
    };
    let (mut sealer, mut wire) = (Sealer::new(making), Vec::new());
    for (number, (kind, octets)) in records.iter().enumerate() {
        sealer.seal(*kind, octets, &mut wire);
        if number == 2 {
            sealer.change_key();
        }
    }
    let mut opener = Opener::new(making, false);
    assert_eq!(opener.add(&wire).unwrap(), wire.len());
    let mut room = [0; 16];
    assert_eq!(opener.take(&mut room), Ok(6));
    assert_eq!(&room[..6], b"onetwo");
    assert!(opener.is_asked_for_key());
    assert!(!opener.is_asked_for_key());
}

#[test]
fn a_key_update_is_exact() {
    for message in [
        // Said to be empty, with something behind it that could be its
        // contents.
        &[24, 0, 0, 0, 1][..],
        &[24, 0, 0, 2, 1, 0],
        &[24, 0, 0, 1, 2],
        // Something behind it under the same key.
        &[24, 0, 0, 1, 0, 24, 0, 0, 1, 0],
    ] {
        is_refused(TlsVersion::V1_3, false, &[(kind::HANDSHAKE, message)]);
    }
}

#[test]
fn nothing_comes_between_the_parts_of_a_message() {
    for between in [
        (kind::DATA, &b"data"[..]),
        (kind::DATA, b""),
        (kind::ALERT, &[1, alert::USER_CANCELLED]),
        (kind::ALERT, &[1, alert::CLOSE_NOTIFY]),
    ] {
        let records = [(kind::HANDSHAKE, &KEY_UPDATE[..3]), between];
        is_refused(TlsVersion::V1_3, true, &records);
    }
}

#[test]
fn records_that_bring_nothing_come_to_an_end() {
    let warning: &[u8] = &[1, alert::USER_CANCELLED];
    for version in [TlsVersion::V1_2, TlsVersion::V1_3] {
        for barren in [(kind::DATA, &b""[..]), (kind::ALERT, warning)] {
            let mut records = vec![barren; MOST_BARREN as usize];
            records.push((kind::DATA, b"data"));
            let (taken, failure, _) = received(version, true, &records);
            assert_eq!((&taken[..], failure), (&b"data"[..], None));
            records.insert(0, barren);
            is_refused(version, true, &records);
        }
    }
}

#[test]
fn a_fatal_alert_of_tls12_is_fatal_whatever_it_says() {
    let alert: &[u8] = &[2, alert::USER_CANCELLED];
    let records = [(kind::ALERT, alert), (kind::DATA, b"data")];
    let (taken, failure, _) = received(TlsVersion::V1_2, true, &records);
    assert_eq!(taken, b"");
    assert_eq!(failure, Some(TlsFailure::Refused("user_canceled")));
}

#[test]
fn nothing_is_negotiated_anew() {
    let hello_request: (u8, &[u8]) = (kind::HANDSHAKE, &[0; 4]);
    let records = [hello_request, (kind::DATA, b"data")];
    let (taken, failure, _) = received(TlsVersion::V1_2, true, &records);
    assert_eq!((&taken[..], failure), (&b"data"[..], None));
    is_refused(TlsVersion::V1_2, false, &records);
    is_refused(TlsVersion::V1_3, true, &records);
    let client_hello: (u8, &[u8]) = (kind::HANDSHAKE, &[1, 0, 0, 1, 0]);
    is_refused(TlsVersion::V1_2, false, &[client_hello]);
    is_refused(TlsVersion::V1_3, false, &[client_hello]);
}

#[test]
fn behind_the_end_nothing_counts() {
    let end: &[u8] = &[1, alert::CLOSE_NOTIFY];
    for version in [TlsVersion::V1_2, TlsVersion::V1_3] {
        let records = [
            (kind::DATA, &b"1"[..]),
            (kind::ALERT, end),
            (kind::DATA, b"2"),
        ];
        let (taken, failure, opener) = received(version, true, &records);
        assert_eq!((&taken[..], failure), (&b"1"[..], None));
        assert!(opener.has_ended());
    }
}

#[test]
fn a_message_too_long_is_not_waited_for() {
    let begun: (u8, &[u8]) = (kind::HANDSHAKE, &[4, 2, 0, 0]);
    is_refused(TlsVersion::V1_3, true, &[begun]);
}
