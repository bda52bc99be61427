// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records of TLS behind the handshake: from a peer that holds the keys and
//! seals what it likes, and from somebody between who does not.

use std::ops::Range;

use orbium_tls::TlsVersion;
use orbium_tls::testing::{Making, Opener, Sealer};

const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const DATA: u8 = 23;

/// Octets on their way at most: more are delivered first.
const MOST_UNDERWAY: usize = 1 << 17;

/// Records without data that must be borne.
const MOST_BARREN: u32 = 32;

/// The input is a program: what the peer seals, and what becomes of it on its
/// way. What is delivered is always the beginning of the data sealed, and all
/// of it as long as nobody does what is not allowed; memory is bounded; what
/// has failed or ended stays so.
pub fn tls_records(input: &[u8]) {
    let mut program = Program(input);
    let first = program.octet();
    let making = Making {
        version: match first & 1 {
            0 => TlsVersion::V1_3,
            _ => TlsVersion::V1_2,
        },
        is_chacha: first & 2 != 0,
    };
    let mut link = Link {
        making,
        sealer: Sealer::new(making),
        opener: Opener::new(making, first & 4 != 0),
        wire: Vec::new(),
        last: 0..0,
        sealed: Vec::new(),
        delivered: 0,
        barren: 0,
        is_lawful: true,
        is_over: false,
    };
    while !program.0.is_empty() {
        link.step(&mut program);
    }
    link.deliver(usize::MAX, 4096);
    if link.is_lawful {
        assert_eq!(link.delivered, link.sealed.len());
        assert!(!link.is_over);
    }
}

struct Program<'p>(&'p [u8]);

impl<'p> Program<'p> {
    /// The next octet, zero behind the end.
    fn octet(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// As many octets as the next one says, or as there are.
    fn octets(&mut self) -> &'p [u8] {
        let count = usize::from(self.octet()).min(self.0.len());
        let (octets, rest) = self.0.split_at(count);
        self.0 = rest;
        octets
    }

    /// A size of any order of magnitude.
    fn size(&mut self) -> usize {
        let (a, b) = (self.octet(), self.octet());
        usize::from(a) << (b % 8)
    }
}

struct Link {
    making: Making,
    sealer: Sealer,
    opener: Opener,
    /// What has been sent and has not arrived.
    wire: Vec<u8>,
    /// Where in it the record made last is.
    last: Range<usize>,
    /// All data that was ever sealed, in order.
    sealed: Vec<u8>,
    delivered: usize,
    barren: u32,
    /// Whether all that was sealed may be, and nothing was tampered with.
    is_lawful: bool,
    /// Whether an end or a failure was told.
    is_over: bool,
}

impl Link {
    fn step(&mut self, program: &mut Program<'_>) {
        match program.octet() % 12 {
            0 => {
                let octets = program.octets();
                self.data(octets, 0);
            }
            1 => {
                let mark = program.octet();
                let octets = vec![mark; program.size()];
                self.data(&octets, 0);
            }
            2 => {
                let octets = program.octets();
                let zeros = program.size();
                self.data(octets, zeros);
            }
            3 => self.update_key(program.octet()),
            4 => {
                self.is_lawful = false;
                let octets = program.octets();
                self.seal(HANDSHAKE, octets);
            }
            5 => {
                self.is_lawful = false;
                let octets = [program.octet(), program.octet()];
                self.seal(ALERT, &octets);
            }
            6 => {
                // Of any kind; it is data all the same if it says so.
                self.is_lawful = false;
                let (kind, octets) = (program.octet(), program.octets());
                if kind != DATA && kind != 0 {
                    self.seal(kind, octets);
                }
            }
            7 => {
                self.is_lawful = false;
                self.sealer.change_key();
            }
            8 | 9 => {
                let (most, room) = (program.size(), program.size());
                self.deliver(most, room);
            }
            _ => self.tamper(program),
        }
        if self.wire.len() > MOST_UNDERWAY {
            self.deliver(usize::MAX, 4096);
        }
    }

    fn seal(&mut self, kind: u8, octets: &[u8]) {
        let start = self.wire.len();
        self.sealer.seal(kind, octets, &mut self.wire);
        self.last = start..self.wire.len();
    }

    /// Data, in TLS 1.3 with so many zeros to hide its length.
    fn data(&mut self, octets: &[u8], zeros: usize) {
        self.sealed.extend_from_slice(octets);
        if zeros > 0 && self.making.version == TlsVersion::V1_3 {
            let mut padded = [octets, &[DATA]].concat();
            padded.resize(octets.len() + zeros, 0);
            self.seal(0, &padded);
        } else {
            self.seal(DATA, octets);
        }
        self.is_lawful &= octets.len() + zeros <= 1 << 14;
        self.count(!octets.is_empty());
    }

    fn count(&mut self, brings_data: bool) {
        self.barren = if brings_data { 0 } else { self.barren + 1 };
        self.is_lawful &= self.barren <= MOST_BARREN;
    }

    /// In one record or two.
    fn update_key(&mut self, how: u8) {
        let message = [24, 0, 0, 1, how & 1];
        self.is_lawful &= self.making.version == TlsVersion::V1_3;
        let cut = usize::from(how >> 1) % message.len();
        for part in [&message[..cut], &message[cut..]] {
            if !part.is_empty() {
                self.seal(HANDSHAKE, part);
                self.count(false);
            }
        }
        self.sealer.change_key();
    }

    /// What somebody between can do.
    fn tamper(&mut self, program: &mut Program<'_>) {
        let (how, place) = (program.octet(), program.size());
        self.is_lawful = false;
        let last = self.last.clone();
        match how % 6 {
            0 => self.wire.extend_from_slice(program.octets()),
            1 => {
                let length = self.wire.len().max(1);
                if let Some(octet) = self.wire.get_mut(place % length) {
                    *octet ^= how | 1;
                }
            }
            2 => self.wire.truncate(self.wire.len().saturating_sub(place)),
            3 if last.end <= self.wire.len() => self.wire.extend_from_within(last),
            4 if last.end <= self.wire.len() => drop(self.wire.drain(last)),
            _ => {
                let half = self.wire.len() / 2;
                self.wire.rotate_left(half);
            }
        }
        // It is where it was no more.
        self.last = 0..0;
    }

    /// Lets so many octets arrive, and takes what there is.
    fn deliver(&mut self, most: usize, room: usize) {
        let arriving: Vec<_> = self.wire.drain(..most.min(self.wire.len())).collect();
        self.last = 0..0;
        let mut rest = &arriving[..];
        self.take(room);
        while !rest.is_empty() && !self.is_over {
            match self.opener.add(rest) {
                Ok(0) => panic!("no room, and nothing to take"),
                Ok(count) => rest = &rest[count..],
                Err(_) => self.end(),
            }
            self.take(room);
        }
    }

    fn take(&mut self, room: usize) {
        let mut room = vec![0xEE; room.clamp(1, 1 << 15)];
        loop {
            assert!(self.opener.held() <= Opener::MOST);
            match self.opener.take(&mut room) {
                Ok(0) => {
                    assert!(!self.opener.has_news() || self.opener.has_ended());
                    if self.opener.has_ended() {
                        self.end();
                    }
                    return;
                }
                Ok(count) => {
                    assert!(!self.is_over, "octets behind the end");
                    let expected = &self.sealed[self.delivered..];
                    assert!(expected.starts_with(&room[..count]), "never sealed");
                    self.delivered += count;
                }
                Err(_) => return self.end(),
            }
        }
    }

    fn end(&mut self) {
        assert!(!self.is_lawful, "what is allowed was refused");
        self.is_over = true;
    }
}
