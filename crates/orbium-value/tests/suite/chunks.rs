// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chunks in every form that peers write them in, by hand.

use orbium_cdr::{CdrWriter, Format};

use super::{Labelled, Many, Point, narrow, read_native};

const CHUNKED_LIST: u32 = 0x7fff_ff0e;
const CHUNKED_ID: u32 = 0x7fff_ff0a;

/// What a peer writes.
struct Peer(CdrWriter<'static>);

impl Peer {
    fn new() -> Self {
        Self(CdrWriter::new(Format::native()))
    }

    fn longs(mut self, longs: &[u32]) -> Self {
        for long in longs {
            self.0.write_u32(*long);
        }
        self
    }

    fn name(mut self, name: &str) -> Self {
        self.0.write_name(name);
        self
    }

    fn labelled(self) -> Self {
        self.longs(&[CHUNKED_LIST, 2])
            .name("IDL:Cap/Labelled:1.0")
            .name("IDL:Cap/Point:1.0")
    }

    fn octets(self) -> Vec<u8> {
        self.0.finish().unwrap()
    }
}

const END: u32 = -1i32 as u32;

/// Conformance: CDR - values: chunks, lists of ids, truncation
#[test]
fn the_state_may_be_cut_into_chunks_between_any_two_primitives() {
    let peer = Peer::new().labelled();
    let peer = peer
        .longs(&[4, 1, 4, 2])
        .longs(&[8, 4, 0x0063_6261])
        .longs(&[4, 9, END, 77]);
    let mut octets = peer.octets();
    if cfg!(target_endian = "big") {
        return;
    }
    let tail = octets.split_off(octets.len() - 4);
    assert_eq!(tail, 77u32.to_ne_bytes());
    let labelled = read_native::<Option<Labelled>>(&octets).unwrap().unwrap();
    assert_eq!((labelled.read().x, labelled.read().y), (1, 2));
    assert_eq!(
        (labelled.read().text.as_str(), labelled.read().hidden),
        ("abc", 9)
    );
    // Truncated, all of them are skipped but those of the base.
    let point = read_native::<Option<narrow::Point>>(&octets)
        .unwrap()
        .unwrap();
    assert_eq!((point.read().x, point.read().y), (1, 2));
}

/// TAO may write chunks of no octets.
#[test]
fn empty_chunks_are_skipped() {
    let peer = Peer::new().longs(&[CHUNKED_ID]).name("IDL:Cap/Point:1.0");
    let octets = peer.longs(&[0, 4, 1, 0, 0, 4, 2, 0, END]).octets();
    let point = read_native::<Option<Point>>(&octets).unwrap().unwrap();
    assert_eq!((point.read().x, point.read().y), (1, 2));
}

/// GlassFish's ORB closes several values with one tag.
#[test]
fn one_end_tag_may_close_several_values() {
    let finer = Peer::new().longs(&[CHUNKED_ID]).name("IDL:Cap/Finer:1.0");
    let finer = finer.longs(&[22, 1, 2, 1, 0, 5]);
    let mut finer = finer;
    finer.0.write_u16(9);
    let nested = finer
        .longs(&[CHUNKED_ID])
        .name("IDL:Cap/Point:1.0")
        .longs(&[8, 3, 4]);
    let octets = nested.longs(&[END, 0]).octets();
    let read = read_native::<Many<Option<Point>>>(&octets).unwrap().0;
    let finer: super::Finer = read[0].as_ref().unwrap().downcast().unwrap();
    assert_eq!((finer.read().hidden, finer.read().more), (5, 9));
    assert_eq!(finer.read().other.as_ref().unwrap().read().y, 4);
    assert_eq!(read[1], None);
}

#[test]
fn the_rest_of_a_state_is_skipped() {
    let peer = Peer::new().longs(&[CHUNKED_ID]).name("IDL:Cap/Point:1.0");
    let octets = peer.longs(&[16, 1, 2, 3, 4, 4, 5, END, 0]).octets();
    let read = read_native::<Many<Option<Point>>>(&octets).unwrap().0;
    assert_eq!(read[0].as_ref().unwrap().read().y, 2);
    assert_eq!(read[1], None);
}
