// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames out of fragments, however they come.

use orbium::media::datagram::{FRAME_HEADER_LEN, FrameHeader};
use orbium::media::{FrameKind, MediaError, MediaOptions, Statistics, Time};

use super::{Line, picture};

pub(crate) const OPTIONS: MediaOptions = MediaOptions {
    stream: 3,
    frame_size: 100_000,
    frames: 3,
    incomplete: 2,
};

pub(crate) fn time(sequence: u32) -> Time {
    Time::Ticks(u64::from(sequence) * 3600)
}

impl Line {
    pub(crate) fn send(&mut self, payload: &[u8]) -> u32 {
        let kind = FrameKind::Predicted;
        self.sender.send(kind, Time::Ticks(9), payload).unwrap()
    }

    /// The datagrams of the next frame, which has so many octets.
    pub(crate) fn cut(&mut self, len: usize, datagram: usize) -> (u32, Vec<Vec<u8>>) {
        self.sender.set_datagram_size(datagram).unwrap();
        let sequence = self.send(&[]);
        self.memory.take();
        // Again, with what belongs to that number.
        let header = FrameHeader {
            stream: 3,
            sequence,
            kind: FrameKind::Key,
            time: time(sequence),
        };
        let payload = picture(sequence, len);
        let parts = header.fragments(len, datagram).unwrap();
        let datagrams = parts.map(|part| [&part.head[..], &payload[part.range]].concat());
        (sequence, datagrams.collect())
    }

    fn expect(&mut self, sequence: u32, len: usize, missing: u32, is_late: bool) {
        let frame = self.receiver.receive().unwrap();
        assert_eq!(frame.sequence(), sequence);
        assert!(*frame == picture(sequence, len)[..], "frame {sequence}");
        assert_eq!((frame.missing(), frame.is_late()), (missing, is_late));
    }

    pub(crate) fn expect_nothing(&mut self) {
        let outcome = self.receiver.receive();
        assert!(matches!(outcome, Err(MediaError::TimedOut)), "{outcome:?}");
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.receiver.statistics().stream
    }
}

#[test]
fn frames_of_every_size_are_put_together_without_a_copy() {
    let mut line = Line::new(OPTIONS);
    for datagram in [25, 40, 47, 48, 49, 1452, 65_507] {
        line.sender.set_datagram_size(datagram).unwrap();
        let part = datagram - FRAME_HEADER_LEN;
        for len in [
            0,
            1,
            part - 1,
            part,
            part + 1,
            3 * part,
            10 * part + 7,
            100_000,
        ] {
            if len > OPTIONS.frame_size || len.div_ceil(part) > 65_535 {
                continue;
            }
            let payload = picture(1, len);
            let sequence = line.send(&payload);
            line.memory.deliver();
            let frame = line.receiver.receive().unwrap();
            assert!(*frame == payload[..], "{len} octets in {datagram}");
            let header = frame.header();
            assert_eq!((header.sequence, header.stream), (sequence, 3));
            assert_eq!(
                (frame.kind(), frame.time()),
                (FrameKind::Predicted, Time::Ticks(9))
            );
            assert_eq!((frame.missing(), frame.is_late()), (0, false));
        }
    }
    assert_eq!(line.receiver.statistics().copied, 0);
    assert_eq!(line.receiver.statistics().refused, 0);
    let error = line
        .sender
        .send(FrameKind::Key, Time::Ticks(0), &vec![0; 70_000]);
    assert!(error.is_ok());
    line.sender.set_datagram_size(25).unwrap();
    let error = line
        .sender
        .send(FrameKind::Key, Time::Ticks(0), &vec![0; 70_000]);
    assert!(
        matches!(error, Err(MediaError::TooLarge(70_000))),
        "{error:?}"
    );
    assert!(line.sender.set_datagram_size(24).is_err());
    assert!(line.sender.set_datagram_size(65_508).is_err());
}

/// All orders of the fragments of one frame, each fragment twice.
#[test]
fn fragments_may_come_in_any_order() {
    fn orders(of: usize) -> Vec<Vec<usize>> {
        if of == 0 {
            return vec![Vec::new()];
        }
        let shorter = orders(of - 1).into_iter();
        let inserted = |order: Vec<usize>| {
            (0..of).map(move |at| {
                let mut order = order.clone();
                order.insert(at, of - 1);
                order
            })
        };
        shorter.flat_map(inserted).collect()
    }
    for (len, datagram) in [
        (5 * 100, 124),
        (4 * 100 + 1, 124),
        (4 * 10 + 9, 34),
        (5, 25),
    ] {
        let mut line = Line::new(OPTIONS);
        for order in orders(5) {
            let (sequence, datagrams) = line.cut(len, datagram);
            assert_eq!(datagrams.len(), 5);
            let doubled = order.iter().flat_map(|at| [*at, *at]);
            line.memory.arrive(doubled.map(|at| datagrams[at].clone()));
            line.expect(sequence, len, 0, false);
            line.expect_nothing();
        }
        assert_eq!(line.statistics().frames, 120);
        assert_eq!(line.statistics().duplicates, 120 * 5);
        assert_eq!(line.receiver.statistics().refused, 0);
    }
}

#[test]
fn missing_and_late_frames_are_reported_with_each_frame() {
    let mut line = Line::new(OPTIONS);
    let frames: Vec<_> = (0..6).map(|_| line.cut(500, 124).1).collect();
    // The second is lost, the third has a hole that is filled late.
    line.memory.arrive(frames[0].clone());
    line.memory.arrive(frames[2][..4].to_vec());
    line.memory.arrive(frames[3].clone());
    line.memory.arrive(frames[2][4..].to_vec());
    line.memory.arrive(frames[4].clone());
    line.memory.arrive(frames[3].clone());
    line.sender.skip();
    let (_, after) = line.cut(7, 124);
    line.memory.arrive(after);
    line.expect(0, 500, 0, false);
    line.expect(3, 500, 2, false);
    line.expect(2, 500, 0, true);
    line.expect(4, 500, 0, false);
    line.expect(7, 7, 2, false);
    line.expect_nothing();
    let expected = Statistics {
        frames: 5,
        late: 1,
        duplicates: 5,
        ..Statistics::default()
    };
    assert_eq!(line.statistics(), expected);
    // Lost for good once 64 later ones were seen.
    for _ in 0..64 {
        let (sequence, datagrams) = line.cut(1, 124);
        line.memory.arrive(datagrams);
        line.expect(sequence, 1, 0, false);
    }
    assert_eq!(line.statistics().lost, 3);
}

#[test]
fn a_frame_that_is_never_completed_makes_room() {
    let mut line = Line::new(OPTIONS);
    for _ in 0..3 {
        let (_, datagrams) = line.cut(500, 124);
        line.memory.arrive(datagrams[1..].to_vec());
    }
    let (sequence, datagrams) = line.cut(500, 124);
    line.memory.arrive(datagrams);
    line.expect(sequence, 500, 0, false);
    // Two of them, for the newest one needed a place as well.
    assert_eq!(line.statistics().lost, 2);
}

#[test]
fn frames_are_held_as_long_as_one_likes() {
    let mut line = Line::new(OPTIONS);
    let mut held = Vec::new();
    // Unfinished frames take nothing from what the application may hold.
    for _ in 0..2 {
        let (_, datagrams) = line.cut(500, 124);
        line.memory.arrive(datagrams[..4].to_vec());
    }
    for _ in 0..OPTIONS.frames {
        let (_, datagrams) = line.cut(100, 124);
        line.memory.arrive(datagrams);
        held.push(line.receiver.receive().unwrap());
    }
    let (_, datagrams) = line.cut(100, 124);
    line.memory.arrive(datagrams);
    // One more than promised, out of the spare buffer.
    held.push(line.receiver.receive().unwrap());
    let outcome = line.receiver.receive();
    assert!(
        matches!(outcome, Err(MediaError::BuffersHeld)),
        "{outcome:?}"
    );
    for frame in &held {
        assert!(**frame == picture(frame.sequence(), 100)[..]);
    }
    held.remove(1);
    let (sequence, datagrams) = line.cut(200, 124);
    line.memory.arrive(datagrams);
    line.expect_nothing_before(sequence);
    // They outlive their receiver.
    drop(line);
    assert!(*held[0] == picture(held[0].sequence(), 100)[..]);
}

impl Line {
    fn expect_nothing_before(&mut self, sequence: u32) {
        // Two fragments need a slot; the oldest unfinished frame gives its up.
        self.expect(sequence, 200, 0, false);
        self.expect_nothing();
    }
}

#[test]
fn a_frame_can_be_copied_into_room_of_ones_own() {
    let mut line = Line::new(OPTIONS);
    let mut room = vec![0xEE; 600];
    let (_, datagrams) = line.cut(500, 124);
    line.memory.arrive(datagrams);
    let info = line.receiver.receive_into(&mut room).unwrap();
    assert_eq!(
        (info.header.sequence, info.len, info.missing, info.is_late),
        (0, 500, 0, false)
    );
    assert_eq!(room[..500], picture(0, 500));
    assert_eq!(room[500..], [0xEE; 100]);
    let (_, datagrams) = line.cut(601, 124);
    line.memory.arrive(datagrams);
    let outcome = line.receiver.receive_into(&mut room);
    assert!(
        matches!(outcome, Err(MediaError::RoomTooSmall(601))),
        "{outcome:?}"
    );
}
