// SPDX-License-Identifier: MIT OR Apache-2.0
//! A video that never was: pictures whose octets can be checked.

use orbium::media::{FrameKind, Time};

/// Pictures from one that needs no other to the next.
const GROUP: u32 = 12;

/// Ticks of the 90 kHz clock from picture to picture: 25 in a second.
pub(crate) const TICKS: u64 = 3600;

/// What picture is at that place of the video.
pub(crate) fn kind(number: u32) -> FrameKind {
    match number % GROUP {
        0 => FrameKind::Key,
        n if n % 3 == 0 => FrameKind::Predicted,
        _ => FrameKind::Bidirectional,
    }
}

/// How many pictures are due before a time.
pub(crate) fn pictures_before(time: Time) -> u32 {
    match time {
        Time::Ticks(ticks) => u32::try_from(ticks / TICKS).unwrap_or(0),
        Time::Nanoseconds(_) => 0,
    }
}

/// Draws a picture; one that needs no other is larger.
pub(crate) fn draw(number: u32, picture: &mut Vec<u8>) {
    let len = match kind(number) {
        FrameKind::Key => 48_000,
        FrameKind::Predicted => 16_000,
        _ => 5_000,
    };
    picture.clear();
    picture.extend((0..len).map(|at| octet(number, at)));
}

/// Whether a picture came through as it was drawn.
pub(crate) fn is_intact(number: u32, picture: &[u8]) -> bool {
    let mut octets = (0..).zip(picture);
    octets.all(|(at, octet_there)| *octet_there == octet(number, at))
}

fn octet(number: u32, at: u32) -> u8 {
    (number.wrapping_mul(7) ^ at ^ at >> 8) as u8
}
