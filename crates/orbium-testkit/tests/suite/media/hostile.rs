// SPDX-License-Identifier: MIT OR Apache-2.0
//! Media streams over bad networks and from bad senders.

use orbium::media::datagram::{FRAME_HEADER_LEN, FrameHeader};
use orbium::media::{FrameKind, MediaOptions, MediaSender, Time};
use orbium_testkit::Chance;

use super::assembly::{OPTIONS, time};
use super::memory::Memory;
use super::{Line, picture};

/// Datagrams that no honest sender sends.
#[test]
fn hostile_datagrams_cost_nothing_but_themselves() {
    let mut line = Line::new(OPTIONS);
    let head = |sequence, index, count| {
        let header = FrameHeader {
            stream: 3,
            sequence,
            kind: FrameKind::Key,
            time: time(sequence),
        };
        header.encode(index, count).to_vec()
    };
    let with = |mut datagram: Vec<u8>, len: usize| {
        datagram.resize(datagram.len() + len, 1);
        datagram
    };
    let mut forged = vec![
        Vec::new(),
        b"OM".to_vec(),
        vec![0xFF; 2000],
        // Larger than a frame may be, at once or in the end.
        with(head(0, 0, 1), 100_001),
        with(head(1, 0, 3), 50_001),
        with(head(2, 0, 65_535), 2),
        with(head(3, 65_534, 65_535), 60_000),
        // Nothing in a fragment, which could go on for ever.
        head(4, 0, 2),
        head(5, 1, 2),
        // The last larger than the others, in both orders.
        with(head(6, 0, 2), 10),
        with(head(6, 1, 2), 11),
        with(head(7, 1, 2), 11),
        with(head(7, 0, 2), 10),
        // Fragments that disagree.
        with(head(8, 0, 3), 10),
        with(head(8, 1, 3), 9),
        with(head(9, 0, 3), 10),
        with(head(9, 1, 4), 10),
    ];
    let mut other = with(head(10, 0, 1), 5);
    other[7] = 4;
    forged.push(other);
    let count = forged.len() as u64;
    line.memory.arrive(forged);
    line.expect_nothing();
    let statistics = line.receiver.statistics();
    assert_eq!(statistics.stream.frames, 0);
    assert_eq!(statistics.stream.lost, 9);
    // Four of them were the good half of a frame.
    assert_eq!(statistics.refused, count - 4);
    for _ in 0..10 {
        line.sender.skip();
    }
    // Everything is still to be had.
    let mut held = Vec::new();
    for _ in 0..OPTIONS.frames {
        let (sequence, datagrams) = line.cut(100_000, 1452);
        line.memory.arrive(datagrams);
        let frame = line.receiver.receive().unwrap();
        assert!(*frame == picture(sequence, 100_000)[..]);
        held.push(frame);
    }
}

/// Loses, doubles and shuffles datagrams, and forges some if it may.
fn mistreat(chance: &mut Chance, datagrams: &mut Vec<Vec<u8>>, forge: bool) -> usize {
    let before = datagrams.len();
    datagrams.retain(|_| chance.below(40) != 0);
    let lost = before - datagrams.len();
    for _ in 0..datagrams.len() / 20 {
        let at = chance.below(datagrams.len());
        datagrams.insert(at, datagrams[at].clone());
    }
    for _ in 0..datagrams.len() / 4 {
        let at = chance.below(datagrams.len());
        let to = (at + chance.below(12)).min(datagrams.len() - 1);
        let moved = datagrams.remove(at);
        datagrams.insert(to, moved);
    }
    if forge {
        for _ in 0..datagrams.len() / 4 {
            let at = chance.below(datagrams.len());
            let datagram = &mut datagrams[at];
            if datagram.is_empty() {
                continue;
            }
            let cut = chance.below(3) == 0;
            let octet = chance.below(datagram.len().min(FRAME_HEADER_LEN));
            if cut {
                datagram.truncate(octet);
            } else {
                datagram[octet] = chance.below(256) as u8;
            }
        }
    }
    lost
}

#[test]
fn the_account_is_true_whatever_the_network_does() {
    for seed in 1..40 {
        let mut chance = Chance::seeded(0x1234_5678_9ABC_DEF1_u64.wrapping_mul(seed));
        let mut line = Line::new(MediaOptions {
            incomplete: 8,
            ..OPTIONS
        });
        let datagram = 25 + chance.below(300);
        let most = 20 * (datagram - FRAME_HEADER_LEN);
        let mut all = Vec::new();
        let lens: Vec<_> = (0..200).map(|_| chance.below(most)).collect();
        for len in &lens {
            all.extend(line.cut(*len, datagram).1);
        }
        // The account begins with the first one.
        let rest = all.split_off(lens[0].div_ceil(datagram - FRAME_HEADER_LEN).max(1));
        line.memory.arrive(std::mem::replace(&mut all, rest));
        let lost = mistreat(&mut chance, &mut all, false);
        line.memory.arrive(all);
        let mut delivered = 0;
        let mut latest = None;
        let mut missing = 0;
        while let Ok(frame) = line.receiver.receive() {
            let sequence = frame.sequence();
            assert!(
                *frame == picture(sequence, lens[sequence as usize])[..],
                "{seed}: {sequence}"
            );
            assert_eq!(
                frame.is_late(),
                latest.is_some_and(|latest| sequence < latest)
            );
            missing += u64::from(frame.missing());
            if !frame.is_late() {
                latest = Some(sequence);
            }
            delivered += 1;
        }
        let statistics = line.statistics();
        assert_eq!(statistics.frames, delivered);
        assert!(lost > 0 && delivered < 200);
        // What was not lost on its way was given up to make room.
        assert!(delivered + lost as u64 + statistics.lost >= 200);
        // From the first to the latest, each came or was missing.
        let first_and_last = missing + delivered - statistics.late;
        assert!(first_and_last <= 200, "{first_and_last}");
        let (sequence, datagrams) = line.cut(0, datagram);
        let before = statistics.lost;
        line.memory.arrive(datagrams);
        for _ in 0..64 {
            line.memory.arrive(line_end(&mut line.sender, &line.memory));
        }
        while line.receiver.receive().is_ok() {}
        let statistics = line.statistics();
        assert!(statistics.lost >= before && sequence == 200);
        assert_eq!(statistics.frames + statistics.lost, 200 + 65, "{seed}");
    }
}

fn line_end(sender: &mut MediaSender, memory: &Memory) -> Vec<Vec<u8>> {
    sender.send(FrameKind::End, Time::Ticks(0), &[]).unwrap();
    memory.take()
}

#[test]
fn damaged_datagrams_break_nothing() {
    for seed in 1..60 {
        let mut chance = Chance::seeded(0x0123_4567_89AB_CDE7_u64.wrapping_mul(seed));
        let mut line = Line::new(OPTIONS);
        let mut all = Vec::new();
        for _ in 0..200 {
            let len = chance.below(3000);
            let datagram = 25 + chance.below(500);
            all.extend(line.cut(len, datagram).1);
        }
        mistreat(&mut chance, &mut all, true);
        line.memory.arrive(all);
        while line.receiver.receive().is_ok() {}
        let held: Vec<_> = (0..OPTIONS.frames)
            .map(|_| {
                // Wherever forgery has led it, the stream is found again.
                for _ in 0..100 {
                    let (_, datagrams) = line.cut(600, 124);
                    line.memory.arrive(datagrams);
                    if let Ok(frame) = line.receiver.receive() {
                        return frame;
                    }
                }
                panic!("{seed}: nothing arrives any more");
            })
            .collect();
        assert_eq!(held.len(), OPTIONS.frames);
    }
}
