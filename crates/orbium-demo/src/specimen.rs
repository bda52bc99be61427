// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common test values of all peers, derived from a number.

use orbium::{Char, WChar};

use crate::cubit::Many;
use crate::kitchen::{ByColour, Colour, Mixed, Node, Refused, Scalars};
use crate::ttcp::BinStruct;

/// The last eight bits of a number.
fn low(n: usize) -> u8 {
    n as u8
}

/// A value of every basic type, none of which reads the same at another offset or in the other byte
/// order. `n` is a small positive number.
#[must_use]
pub fn scalars(n: i32) -> Scalars {
    let positive = n.unsigned_abs();
    Scalars {
        b: n % 2 == 1,
        c: Char(b'a' + low(positive as usize % 26)),
        o: 128 + low(positive as usize % 128),
        s: -(n as i16),
        us: 65535 - positive as u16,
        l: -70_000 - n,
        ul: 4_000_000_000 + positive,
        ll: -5_000_000_000 - i64::from(n),
        ull: (1 << 63) + u64::from(positive),
        f: n as f32 + 0.5,
        d: f64::from(-n) - 0.25,
        w: WChar(0x20AC),
    }
}

/// A struct with members of all kinds.
#[must_use]
pub fn mixed(n: i32) -> Mixed {
    let row = |i| [0, 1, 2].map(|j| n * 100 + i * 10 + j);
    Mixed {
        name: format!("name-{n}"),
        wide: format!("wide-\u{20ac}-{n}"),
        shade: Colour::try_from(n.unsigned_abs() % 3).unwrap_or_default(),
        m: [row(0), row(1)],
        id: std::array::from_fn(|i| low(n.unsigned_abs() as usize + i)),
        list: ["one", "", "three"].map(String::from).into(),
        few: vec![n, -n],
        flags: vec![true, false, true],
        inner: scalars(n),
    }
}

/// The exception raised by `Kitchen::Peer::refuse`.
#[must_use]
pub fn refused() -> Refused {
    Refused {
        why: "refused".into(),
        detail: ByColour::Text {
            discriminator: Colour::Blue,
            value: "detail".into(),
        },
        evidence: vec![mixed(1), mixed(2)],
    }
}

/// A tree of that depth, with a leaf as the sibling of every other branch.
#[must_use]
pub fn tree(depth: u32) -> Node {
    let leaf = Node {
        name: "leaf".into(),
        children: Vec::new(),
    };
    let bottom = Node {
        name: "depth 0".into(),
        children: Vec::new(),
    };
    (1..=depth).fold(bottom, |below, depth| {
        let mut children = vec![below];
        if depth % 2 == 1 {
            children.push(leaf.clone());
        }
        Node {
            name: format!("depth {depth}"),
            children,
        }
    })
}

/// The octet at an index of bulk data: with a period that divides no buffer size.
#[must_use]
pub fn octet(i: usize) -> u8 {
    low(i % 251)
}

/// The short at an index of bulk data: both signs.
#[must_use]
pub fn short(i: usize) -> i16 {
    i.wrapping_mul(13).wrapping_sub(20_000) as i16
}

/// The char at an index of bulk data: printable ASCII, which is the same in all code sets.
#[must_use]
pub fn char(i: usize) -> Char {
    Char(b' ' + low(i % 95))
}

/// The long at an index of bulk data: both signs.
#[must_use]
pub fn long(i: usize) -> i32 {
    i.wrapping_mul(1_000_003).wrapping_sub(2_000_000_000) as i32
}

/// The double at an index of bulk data: with a fraction.
#[must_use]
pub fn double(i: usize) -> f64 {
    i as f64 * 1.75 - 4000.0
}

/// The struct at an index of bulk data.
#[must_use]
pub fn bin_struct(i: usize) -> BinStruct {
    BinStruct {
        s: short(i),
        c: char(i),
        l: long(i),
        o: octet(i),
        d: double(i),
    }
}

/// The `Many` at an index of bulk data.
#[must_use]
pub fn many(i: usize) -> Many {
    Many {
        o: octet(i),
        l: long(i),
        s: short(i),
    }
}

/// The contribution of so many octets to the checksum of `Ttcp::Receiver`.
#[must_use]
pub fn octets_checksum(size: usize) -> u64 {
    (0..size).fold(0, |sum, i| sum + u64::from(octet(i)))
}
