// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fixed-size values lie on the wire where clause 9.3 puts them, whatever way
//! they were moved there.
use std::borrow::Cow;

use orbium_cdr::{
    ByteOrder, CdrErrorKind, CdrReader, CdrWriter, Char, Decode, Encode, FixedSize, Format,
    fixed_struct,
};

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Many {
    o: u8,
    l: i32,
    s: i16,
}
fixed_struct!(Many {
    o: u8,
    l: i32,
    s: i16
});

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct BinStruct {
    s: i16,
    c: Char,
    l: i32,
    o: u8,
    d: f64,
}
fixed_struct!(BinStruct {
    s: i16,
    c: Char,
    l: i32,
    o: u8,
    d: f64
});

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Tail {
    d: f64,
    o: u8,
}
fixed_struct!(Tail { d: f64, o: u8 });

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Nest {
    id: [u8; 4],
    b: BinStruct,
    flag: bool,
    m: [Many; 2],
}
fixed_struct!(Nest {
    id: [u8; 4],
    b: BinStruct,
    flag: bool,
    m: [Many; 2]
});

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Stretched {
    l: i32,
    o: u8,
    d: f64,
}
fixed_struct!(Stretched {
    l: i32,
    o: u8,
    d: f64
});

fn many(i: i32) -> Many {
    Many {
        o: i as u8,
        l: i * 77777,
        s: i as i16 - 9,
    }
}
fn bin(i: i32) -> BinStruct {
    BinStruct {
        s: i as i16,
        c: Char(b'a' + (i % 26) as u8),
        l: -i,
        o: i as u8,
        d: f64::from(i) * 1.5,
    }
}

/// What clause 9.3 says, member by member.
fn reference_many(items: &[Many], w: &mut CdrWriter<'_>) {
    for m in items {
        w.write_u8(m.o);
        w.write_u32(m.l as u32);
        w.write_u16(m.s as u16);
    }
}
fn reference_bin(items: &[BinStruct], w: &mut CdrWriter<'_>) {
    for b in items {
        w.write_u16(b.s as u16);
        w.write_u8(b.c.0);
        w.write_u32(b.l as u32);
        w.write_u8(b.o);
        w.write_u64(b.d.to_bits());
    }
}

fn orders() -> [Format; 2] {
    [ByteOrder::Big, ByteOrder::Little].map(|order| Format::native().with_order(order))
}

/// Conformance: CDR - blocks: one copy, borrowed, turned in place; padding is zero
#[test]
fn which_types_are_blocks() {
    assert!(BinStruct::LAYOUT.is_block());
    assert_eq!(BinStruct::LAYOUT.gaps(), [(3, 4), (9, 16)]);
    assert!(Tail::LAYOUT.is_block());
    assert!(Stretched::LAYOUT.is_block());
    assert!(!Many::LAYOUT.is_block());
    assert!(!Nest::LAYOUT.is_block());
    assert!(!bool::LAYOUT.is_block());
    assert_eq!(Many::LAYOUT.stride(), 8);
}

fn round_trip<T>(items: &[T], reference: impl Fn(&[T], &mut CdrWriter<'_>))
where
    T: FixedSize + Encode + Decode + PartialEq + std::fmt::Debug,
{
    for format in orders() {
        for phase in 0..8 {
            // Garbage in the buffer must not show through as padding.
            let mut w = CdrWriter::reuse(vec![0xAA; 4096], format);
            let mut expected = CdrWriter::reuse(vec![0x55; 64], format);
            for _ in 0..phase {
                w.write_u8(7);
                expected.write_u8(7);
            }
            items.encode(&mut w);
            expected.write_u32(items.len() as u32);
            reference(items, &mut expected);
            let mut bytes = w.finish().unwrap();
            assert_eq!(
                bytes,
                expected.finish().unwrap(),
                "phase {phase}, {format:?}"
            );

            let mut reader = CdrReader::new(&mut bytes, format);
            reader.take(phase).unwrap();
            assert_eq!(Vec::<T>::decode(&mut reader).unwrap(), items);
            assert_eq!(reader.remaining(), 0);

            let mut reader = CdrReader::new(&mut bytes, format);
            reader.take(phase).unwrap();
            assert_eq!(*reader.read_fixed_slice::<T>().unwrap(), *items);
            assert_eq!(reader.remaining(), 0);
        }
    }
}

/// Conformance: CDR - blocks: one copy, borrowed, turned in place; padding is zero
#[test]
fn sequences_at_every_phase_and_order() {
    // Blocks are copied in pieces of 4096 octets: 170 or 256 of these.
    let long: &[i32] = if cfg!(miri) {
        &[]
    } else {
        &[171, 172, 257, 258, 1000]
    };
    for n in [0, 1, 2, 3, 17].iter().chain(long).copied() {
        let manys: Vec<_> = (0..n).map(many).collect();
        round_trip(&manys, reference_many);
        let bins: Vec<_> = (0..n).map(bin).collect();
        round_trip(&bins, reference_bin);
        let tails: Vec<_> = (0..n)
            .map(|i| Tail {
                d: f64::from(i),
                o: i as u8,
            })
            .collect();
        round_trip(&tails, |items, w| {
            for t in items {
                w.write_u64(t.d.to_bits());
                w.write_u8(t.o);
            }
        });
        let stretched: Vec<_> = (0..n)
            .map(|i| Stretched {
                l: i,
                o: i as u8,
                d: f64::from(i),
            })
            .collect();
        round_trip(&stretched, |items, w| {
            for t in items {
                w.write_u32(t.l as u32);
                w.write_u8(t.o);
                w.write_u64(t.d.to_bits());
            }
        });
        let nests: Vec<_> = (0..n)
            .map(|i| Nest {
                id: [i as u8; 4],
                b: bin(i),
                flag: i % 2 == 0,
                m: [many(i), many(i + 1)],
            })
            .collect();
        round_trip(&nests, |items, w| {
            for t in items {
                for o in t.id {
                    w.write_u8(o);
                }
                reference_bin(&[t.b], w);
                w.write_bool(t.flag);
                reference_many(&t.m, w);
            }
        });
        let longs: Vec<i64> = (0..n).map(i64::from).collect();
        round_trip(&longs, |items, w| {
            items.iter().for_each(|l| w.write_u64(*l as u64));
        });
    }
}

/// Conformance: CDR - blocks: one copy, borrowed, turned in place; padding is zero
#[test]
fn blocks_are_borrowed_from_an_aligned_message() {
    let items: Vec<_> = (0..5).map(bin).collect();
    for format in orders() {
        let mut w = CdrWriter::new(format);
        items.encode(&mut w);
        let bytes = w.finish().unwrap();
        // A buffer of u64 is what the connections read into.
        let mut aligned = vec![0u64; bytes.len() / 8 + 1];
        for (word, chunk) in aligned.iter_mut().zip(bytes.chunks(8)) {
            let mut octets = [0; 8];
            octets[..chunk.len()].copy_from_slice(chunk);
            *word = u64::from_ne_bytes(octets);
        }
        // Test data only: an owned copy that happens to be aligned or is skipped.
        let mut octets: Vec<u8> = aligned.iter().flat_map(|w| w.to_ne_bytes()).collect();
        octets.truncate(bytes.len());
        if octets.as_ptr().align_offset(8) != 0 {
            continue;
        }
        let mut reader = CdrReader::new(&mut octets, format);
        let slice = reader.read_fixed_slice::<BinStruct>().unwrap();
        assert!(matches!(slice, Cow::Borrowed(_)));
        assert_eq!(*slice, *items);
    }
}

/// Conformance: CDR - counts need data behind them
#[test]
fn counts_beyond_the_data_are_refused_before_anything_is_allocated() {
    for count in [2u32, 1000, u32::MAX] {
        let mut w = CdrWriter::new(Format::native());
        w.write_u32(count);
        w.write_u64(1);
        let mut bytes = w.finish().unwrap();
        let mut reader = CdrReader::new(&mut bytes, Format::native());
        let error = Vec::<u64>::decode(&mut reader).unwrap_err();
        assert_eq!(error.kind, CdrErrorKind::CountTooLarge);
        let mut reader = CdrReader::new(&mut bytes, Format::native());
        let error = reader.read_fixed_slice::<u64>().unwrap_err();
        assert_eq!(error.kind, CdrErrorKind::CountTooLarge);
    }
}

/// Conformance: CDR - blocks: one copy, borrowed, turned in place; padding is zero
#[test]
fn large_octets_are_gathered_and_alignment_goes_on_behind_them() {
    let octets = vec![9u8; 20_001];
    let mut gathered = CdrWriter::reuse(Vec::new(), Format::native());
    let mut copied = CdrWriter::new(Format::native());
    for w in [&mut gathered, &mut copied] {
        octets.encode(w);
        w.write_u64(5);
    }
    assert!(gathered.is_gathered());
    assert!(!copied.is_gathered());
    assert_eq!(gathered.pieces().count(), 3);
    assert_eq!(gathered.len(), copied.len());
    assert_eq!(gathered.finish().unwrap(), copied.finish().unwrap());
}

/// Conformance: code sets - what cannot be converted: DATA_CONVERSION
#[test]
fn a_char_beyond_ascii_cannot_be_sent_in_utf_8() {
    let item = BinStruct {
        c: Char(0xE5),
        ..bin(1)
    };
    for (len, at) in [
        (1, 0),
        (3, 0),
        (3, 1),
        (3, 2),
        (400, 171),
        (400, 300),
        (400, 399),
    ] {
        let mut items: Vec<_> = (0..len).map(bin).collect();
        items[at] = item;
        for format in orders() {
            let mut w = CdrWriter::new(format);
            items.encode(&mut w);
            let error = w.finish().unwrap_err();
            assert_eq!((error.kind, error.offset), (CdrErrorKind::CannotConvert, 4));
        }
        let mut w = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 2));
        items.encode(&mut w);
        assert!(w.finish().is_ok());
    }
}
