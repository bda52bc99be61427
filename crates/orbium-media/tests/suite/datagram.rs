// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of sound and pictures out of datagrams that are lost, doubled and
//! shuffled.

use crate::octets::{Chance, octets};
use orbium_media::datagram::{
    FRAME_HEADER_LEN, Fragment, FrameHeader, FrameKind, MediaError, Received, Receiver,
    ReceiverLimits, Statistics, Time,
};
use proptest::prelude::*;

const STREAM: u32 = 7;

const LIMITS: ReceiverLimits = ReceiverLimits {
    frame: 2000,
    frames: 4,
    total: 5000,
};

fn header(sequence: u32) -> FrameHeader {
    FrameHeader {
        stream: STREAM,
        sequence,
        kind: FrameKind::Audio,
        time: Time::Ticks(u64::from(sequence) * 1800),
    }
}

fn payload(sequence: u32, len: usize) -> Vec<u8> {
    (0..len).map(|i| (i as u32 ^ sequence) as u8).collect()
}

fn datagrams(sequence: u32, len: usize, largest: usize) -> Vec<Vec<u8>> {
    let payload = payload(sequence, len);
    header(sequence)
        .fragments(len, largest)
        .expect("room for a payload")
        .map(|part| [&part.head[..], &payload[part.range]].concat())
        .collect()
}

fn single(sequence: u32) -> Vec<u8> {
    datagrams(sequence, 10, 1000).remove(0)
}

/// What the receiver says of single datagrams of those numbers: the number of a
/// frame that was delivered, how many are missing before it, whether it is late.
fn said(receiver: &mut Receiver, sequences: &[u32]) -> Vec<Option<(u32, u32, bool)>> {
    let mut all = Vec::new();
    for sequence in sequences {
        all.push(match receiver.accept(&single(*sequence)).unwrap() {
            Received::Frame(frame) => {
                assert_eq!(frame.payload, payload(*sequence, 10));
                Some((frame.header.sequence, frame.missing, frame.is_late))
            }
            _ => None,
        });
    }
    all
}

#[test]
fn datagrams_have_a_fixed_layout() {
    let header = FrameHeader {
        stream: 0x0102_0304,
        sequence: 5,
        kind: FrameKind::Key,
        time: Time::Nanoseconds(6),
    };
    let expected = octets(
        "4f4d 01 01 01020304 00000005 0000 0001 0000000000000006
         aabb",
    );
    let mut room = [0; 40];
    assert_eq!(header.write(&[0xAA, 0xBB], &mut room), Some(26));
    assert_eq!(room[..26], expected);
    assert_eq!(header.write(&[0; 17], &mut room), None);
    let fragment = Fragment::parse(&expected).unwrap();
    assert_eq!(
        (fragment.header, fragment.payload),
        (header, &[0xAA, 0xBB][..])
    );
    let ticks = FrameHeader {
        time: Time::Ticks(6),
        ..header
    };
    assert_eq!(ticks.encode(0, 1)[3], 0x81);
    let read = Fragment::parse(&ticks.encode(0, 1)).unwrap().header;
    assert_eq!(read, ticks);
}

#[test]
fn malformed_fragments_are_refused() {
    let mut receiver = Receiver::new(STREAM, LIMITS);
    for (datagram, error) in [
        ("4f4d 01 01 00000007", MediaError::Truncated),
        (
            "4f4e 01 01 00000007 00000000 0000 0001 0000000000000000",
            MediaError::NotMedia([0x4F, 0x4E, 1]),
        ),
        (
            "4f4d 02 01 00000007 00000000 0000 0001 0000000000000000",
            MediaError::NotMedia([0x4F, 0x4D, 2]),
        ),
        (
            "4f4d 01 00 00000007 00000000 0000 0001 0000000000000000",
            MediaError::UnknownKind(0),
        ),
        (
            "4f4d 01 87 00000007 00000000 0000 0001 0000000000000000",
            MediaError::UnknownKind(7),
        ),
        (
            "4f4d 01 01 00000007 00000000 0000 0000 0000000000000000",
            MediaError::BadFragment,
        ),
        (
            "4f4d 01 01 00000007 00000000 0002 0002 0000000000000000",
            MediaError::BadFragment,
        ),
        (
            "4f4d 01 01 00000008 00000000 0000 0001 0000000000000000",
            MediaError::OtherStream(8),
        ),
    ] {
        assert_eq!(receiver.accept(&octets(datagram)), Err(error), "{datagram}");
    }
    assert_eq!(receiver.statistics(), Statistics::default());
}

#[test]
fn loss_doubling_and_lateness_are_distinguished() {
    let mut receiver = Receiver::new(STREAM, LIMITS);
    let seen = said(&mut receiver, &[10, 11, 14, 14, 12, 15, 10]);
    assert_eq!(
        seen,
        [
            Some((10, 0, false)),
            Some((11, 0, false)),
            Some((14, 2, false)),
            None,
            Some((12, 0, true)),
            Some((15, 0, false)),
            None,
        ]
    );
    let expected = Statistics {
        frames: 5,
        duplicates: 2,
        late: 1,
        ..Statistics::default()
    };
    assert_eq!(receiver.statistics(), expected);
    // 13 is lost for good once the window has passed it.
    said(&mut receiver, &[13 + 64]);
    let lost = 1;
    assert_eq!(receiver.statistics().lost, lost);
    assert!(matches!(receiver.accept(&single(13)), Ok(Received::Stale)));
}

#[test]
fn numbers_wrap_around() {
    let mut receiver = Receiver::new(STREAM, LIMITS);
    let seen = said(&mut receiver, &[u32::MAX - 1, 0, u32::MAX, 1]);
    assert_eq!(
        seen,
        [
            Some((u32::MAX - 1, 0, false)),
            Some((0, 1, false)),
            Some((u32::MAX, 0, true)),
            Some((1, 0, false)),
        ]
    );
    assert_eq!(receiver.statistics().lost, 0);
}

#[test]
fn a_sender_that_begins_anew_is_followed() {
    for start in [500, 1_000_000] {
        let mut receiver = Receiver::new(STREAM, LIMITS);
        said(&mut receiver, &[start]);
        let seen = said(&mut receiver, &(0..30).collect::<Vec<_>>());
        let followed = seen.iter().filter(|frame| frame.is_some()).count();
        assert_eq!(followed, 15, "all after the sixteenth, and that one");
        let statistics = receiver.statistics();
        assert_eq!((statistics.restarts, statistics.stale), (1, 15));
        assert_eq!(statistics.lost, 0);
    }
}

#[test]
fn fragments_that_disagree_give_their_frame_up() {
    let mut receiver = Receiver::new(STREAM, LIMITS);
    let three = datagrams(0, 250, FRAME_HEADER_LEN + 100);
    let two = datagrams(0, 150, FRAME_HEADER_LEN + 100);
    assert_eq!(receiver.accept(&three[0]), Ok(Received::Incomplete));
    assert_eq!(receiver.accept(&two[1]), Err(MediaError::Inconsistent));
    assert_eq!(receiver.accept(&three[1]), Ok(Received::Duplicate));
    assert_eq!((receiver.statistics().lost, receiver.octets()), (1, 0));
    let mut other_kind = datagrams(1, 150, FRAME_HEADER_LEN + 100);
    other_kind[1][3] = FrameKind::Data as u8;
    assert_eq!(receiver.accept(&other_kind[0]), Ok(Received::Incomplete));
    assert_eq!(
        receiver.accept(&other_kind[1]),
        Err(MediaError::Inconsistent)
    );
}

#[test]
fn incomplete_frames_make_room() {
    let mut receiver = Receiver::new(STREAM, LIMITS);
    for sequence in 0..10 {
        let first = &datagrams(sequence, 1900, FRAME_HEADER_LEN + 1000)[0];
        assert_eq!(receiver.accept(first), Ok(Received::Incomplete));
        assert!(receiver.octets() <= LIMITS.total);
    }
    assert_eq!(receiver.statistics().lost, 6);
    let too_large = datagrams(10, 2100, FRAME_HEADER_LEN + 1500);
    assert_eq!(receiver.accept(&too_large[0]), Ok(Received::Incomplete));
    assert_eq!(receiver.accept(&too_large[1]), Err(MediaError::TooLarge));
    let alone = &datagrams(11, 2100, 3000)[0];
    assert_eq!(receiver.accept(alone), Err(MediaError::TooLarge));
}

#[test]
fn a_plan_needs_room_for_a_payload() {
    assert!(header(0).fragments(10, FRAME_HEADER_LEN).is_none());
    assert!(header(0).fragments(70_000, FRAME_HEADER_LEN + 1).is_none());
    let empty = header(0).fragments(0, FRAME_HEADER_LEN + 1);
    assert_eq!(empty.map(Iterator::count), Some(1));
}

proptest! {
    #[test]
    fn the_account_is_true_whatever_the_network_does(
        lens in prop::collection::vec(0..1200_usize, 1..60),
        first in any::<u32>(),
        largest in FRAME_HEADER_LEN + 100..1500,
        loss in 0..30_usize,
        seed in 1..u64::MAX,
    ) {
        let limits = ReceiverLimits { frames: 64, total: 1 << 20, ..LIMITS };
        let mut chance = Chance(seed);
        let mut wire = Vec::new();
        let mut whole = 0;
        let mut doubled = 0;
        for (i, len) in lens.iter().enumerate() {
            let mut complete = true;
            for datagram in datagrams(first.wrapping_add(i as u32), *len, largest) {
                // The first frame comes: what was before it is not known.
                if i > 0 && chance.below(100) < loss {
                    complete = false;
                    continue;
                }
                if chance.below(10) == 0 {
                    wire.push(datagram.clone());
                    doubled += 1;
                }
                wire.push(datagram);
            }
            whole += u64::from(complete);
        }
        // Datagrams overtake others by a few, but not the first.
        for i in 2..wire.len() {
            wire.swap(i, i - chance.below(4.min(i)));
        }
        let mut receiver = Receiver::new(STREAM, limits);
        let mut frames = 0;
        let began = Fragment::parse(&wire[0]).unwrap().header.sequence;
        for datagram in &wire {
            if let Received::Frame(frame) = receiver.accept(datagram).expect("a fragment") {
                let at = frame.header.sequence.wrapping_sub(first);
                let sent = payload(frame.header.sequence, lens[at as usize]);
                prop_assert_eq!(frame.payload, &sent[..]);
                prop_assert_eq!(frame.header, header(frame.header.sequence));
                frames += 1;
            }
        }
        let statistics = receiver.statistics();
        prop_assert_eq!(statistics.frames, frames);
        if began == first {
            prop_assert_eq!((statistics.frames, statistics.duplicates), (whole, doubled));
            prop_assert_eq!(statistics.stale, 0);
            // Far beyond them all: what did not come by then is lost.
            let last = first.wrapping_add(lens.len() as u32 - 1);
            let _ = receiver.accept(&single(last.wrapping_add(64)));
            let lost = lens.len() as u64 - whole;
            prop_assert_eq!(receiver.statistics().lost, lost);
        }
    }

    #[test]
    fn damaged_datagrams_stay_within_the_limits(seed in 1..u64::MAX) {
        let mut chance = Chance(seed);
        let mut receiver = Receiver::new(STREAM, LIMITS);
        for sequence in 0..200 {
            for mut datagram in datagrams(sequence, 1500, 400) {
                chance.mutate(&mut datagram);
                if let Ok(Received::Frame(frame)) = receiver.accept(&datagram) {
                    prop_assert!(frame.payload.len() <= LIMITS.frame);
                }
                prop_assert!(receiver.octets() <= LIMITS.total);
            }
        }
    }
}
