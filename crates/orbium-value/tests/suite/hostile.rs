// SPDX-License-Identifier: MIT OR Apache-2.0
//! Octets that are no graph of values, or one too large.

use std::sync::Arc;

use orbium_cdr::{ByteOrder, CdrErrorKind, CdrReader, CdrWriter, Decode, Format, Owner};
use orbium_value::{Facet, MAX_DEPTH, ValueBase, ValueOwner, ValueType};

use super::{
    Chain, ChainState, Labelled, Many, Point, finer, labelled, read, read_native, written,
};

const TAG: u32 = 0x7fff_ff00;
const INDIRECTION: u32 = u32::MAX;

fn longs(longs: &[u32]) -> Vec<u8> {
    longs.iter().flat_map(|long| long.to_ne_bytes()).collect()
}

fn offset(octets: i32) -> u32 {
    octets as u32
}

#[track_caller]
fn refused(octets: &[u8], kind: CdrErrorKind) {
    assert_eq!(
        read_native::<Many<Option<Point>>>(octets).unwrap_err(),
        kind
    );
}

/// Conformance: CDR - values: indirections that cannot be
#[test]
fn indirections_lead_to_a_value_before_them() {
    let bad = CdrErrorKind::BadValue;
    for target in [0, 4, -4, -8, i32::MIN, i32::MAX, -12, -16] {
        // In front: one point of twelve octets, at 0; the offset is at 16.
        let octets = longs(&[TAG, 1, 2, INDIRECTION, offset(target)]);
        match target {
            -16 => assert_eq!(
                read_native::<Many<Option<Point>>>(&octets).unwrap().0.len(),
                2
            ),
            _ => refused(&octets, bad),
        }
    }
    // To null, and to an indirection.
    refused(&longs(&[0, INDIRECTION, offset(-8)]), bad);
    refused(
        &longs(&[
            TAG,
            1,
            2,
            INDIRECTION,
            offset(-16),
            INDIRECTION,
            offset(-12),
        ]),
        bad,
    );
}

/// Conformance: CDR - values: indirections that cannot be
#[test]
fn an_indirection_to_a_value_of_another_type_is_refused() {
    let mut writer = CdrWriter::new(Format::native());
    for long in [TAG, 0, 5] {
        writer.write_u32(long);
    }
    let mut octets = writer.finish().unwrap();
    octets.extend(longs(&[INDIRECTION, offset(-16)]));
    let mut reader = orbium_cdr::CdrReader::new(&mut octets, Format::native());
    use orbium_cdr::Decode;
    Option::<Chain>::decode(&mut reader).unwrap();
    let error = Option::<Point>::decode(&mut reader).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::BadValue);
}

#[test]
fn indirections_of_ids_lead_to_ids() {
    for target in [-4, -8, -12, 0, 8, -1000] {
        let octets = longs(&[TAG, 1, 2, TAG + 2, INDIRECTION, offset(target), 1, 2]);
        refused(&octets, CdrErrorKind::BadValue);
        let octets = longs(&[TAG + 6, INDIRECTION, offset(target), 1, 2]);
        refused(&octets, CdrErrorKind::BadValue);
        let octets = longs(&[TAG + 1, INDIRECTION, offset(target), 1, 2]);
        refused(&octets, CdrErrorKind::BadValue);
    }
}

#[test]
fn tags_that_cannot_be_are_refused() {
    for tag in [
        1,
        0x7fff_feff,
        TAG + 4,
        TAG + 0x10,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_fffe,
    ] {
        refused(&longs(&[tag, 1, 2, 3]), CdrErrorKind::BadValue);
    }
}

#[test]
fn an_unknown_type_is_refused_and_lists_are_bounded() {
    let mut writer = CdrWriter::new(Format::native());
    writer.write_u32(TAG + 2);
    writer.write_name("IDL:Unknown:1.0");
    refused(&writer.finish().unwrap(), CdrErrorKind::UnknownValue);
    refused(&longs(&[TAG + 6, 0, 0, 0]), CdrErrorKind::CountTooLarge);
    refused(
        &longs(&[TAG + 6, 1_000_000, 0, 0]),
        CdrErrorKind::CountTooLarge,
    );
}

/// A value that is not chunked cannot be cut short: nothing says where it ends.
#[test]
fn a_value_without_chunks_is_not_truncated() {
    let mut writer = CdrWriter::new(Format::native());
    writer.write_u32(TAG + 6);
    writer.write_u32(2);
    writer.write_name("IDL:Unknown:1.0");
    writer.write_name("IDL:Cap/Point:1.0");
    writer.write_u64(0);
    refused(&writer.finish().unwrap(), CdrErrorKind::BadValue);
}

#[test]
fn a_chain_without_an_end_is_refused_before_the_stack_is_full() {
    let octets = longs(&vec![TAG; 100_000]);
    let refused = read_native::<Option<Chain>>(&octets).unwrap_err();
    assert_eq!(refused, CdrErrorKind::TooDeep);
    // Nested in what is cut off, too.
    let mut writer = CdrWriter::new(Format::native());
    writer.write_u32(TAG + 0xa);
    writer.write_name("IDL:Cap/Point:1.0");
    for long in [8, 1, 2] {
        writer.write_u32(long);
    }
    for _ in 0..2 * MAX_DEPTH {
        writer.write_u32(TAG + 8);
    }
    let octets = writer.finish().unwrap();
    self::refused(&octets, CdrErrorKind::TooDeep);
}

/// Values side by side, each of which refers back to the one before, nest nowhere in the message and
/// are a chain all the same. The last handle freed them within one another, until the stack of the
/// thread was full and the process ended.
#[test]
fn a_chain_that_no_message_nests_is_freed() {
    const LINKS: usize = 200_000;
    let mut octets = longs(&[TAG, 0, 0]);
    let to_first = [TAG, INDIRECTION, offset(-20), 1];
    octets.extend(longs(&to_first));
    let to_one_before = longs(&[TAG, INDIRECTION, offset(-24), 2]);
    octets.extend(to_one_before.repeat(LINKS - 2));
    let work = move || {
        let links = read_native::<Many<Option<Chain>>>(&octets).unwrap().0;
        assert_eq!(links.len(), LINKS);
        let (last, before) = (&links[LINKS - 1], &links[LINKS - 2]);
        assert_eq!(&last.as_ref().unwrap().read().next, before);
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    thread.spawn(work).unwrap().join().unwrap();
}

/// An id is looked up for each value that has it, and a value refers to it by a few octets: with one of
/// a megabyte, a message of two took minutes to read.
#[test]
fn a_repository_id_that_is_too_long_is_refused() {
    for (length, kind) in [
        (1024, CdrErrorKind::UnknownValue),
        (1025, CdrErrorKind::BadValue),
    ] {
        let id = "x".repeat(length);
        let mut writer = CdrWriter::new(Format::native());
        writer.write_u32(TAG + 2);
        writer.write_name(&id);
        refused(&writer.finish().unwrap(), kind);
        // In a list, as well.
        let mut writer = CdrWriter::new(Format::native());
        writer.write_u32(TAG + 6);
        writer.write_u32(1);
        writer.write_name(&id);
        refused(&writer.finish().unwrap(), kind);
    }
}

/// Every octet string of a real message cut short, or with one octet changed, is read as
/// something or refused: nothing panics, and nothing hangs.
#[test]
fn damaged_graphs_are_read_or_refused() {
    let inner: Point = labelled(1, 2, "inner", 3).into();
    let outer: Labelled = finer(4, Some(inner.clone())).into();
    let whole = written(&Many(vec![Some(Point::from(outer)), Some(inner), None]));
    for order in [ByteOrder::NATIVE, ByteOrder::Little, ByteOrder::Big] {
        for length in 0..whole.len() {
            let _ = try_read(&whole[..length], order);
        }
        for at in 0..whole.len() {
            for change in [0x01, 0x02, 0x04, 0x08, 0x7f, 0x80, 0xff] {
                let mut octets = whole.clone();
                octets[at] ^= change;
                let _ = try_read(&octets, order);
            }
        }
    }
    assert!(read::<Many<Option<Point>>>(&whole, ByteOrder::NATIVE).is_ok());
}

fn try_read(octets: &[u8], order: ByteOrder) -> Result<(), CdrErrorKind> {
    let points = read::<Many<Option<Point>>>(octets, order)?;
    for point in points.0.into_iter().flatten() {
        point.unlink();
    }
    Ok(())
}

/// What the values of one factory share.
trait Mark: Send + Sync + 'static {}

struct Marked;

impl Mark for Marked {}

/// Conformance: CDR - values: a cycle in a value that ends too early is freed
///
/// Each such message leaked the values of the cycle: no program had them, to unlink them. The
/// fuzz target `values` found it.
#[test]
fn cycles_of_a_value_that_is_refused_are_freed() {
    let mark = Arc::new(Marked);
    let owner: Owner = Arc::new(ValueOwner::new(()));
    let factories = ValueOwner::factories(&owner).unwrap();
    let made = Arc::clone(&mark);
    factories.register(move || {
        let facets = vec![Facet::of::<dyn Mark>(made.clone())];
        Chain::wrap(ValueBase::with_facets(
            Chain::class(),
            ChainState::default(),
            facets,
        ))
    });
    let before = Arc::strong_count(&mark);
    // A chain of one, a value that holds itself, and of the first one no `v`.
    let cut_off = [TAG, 0, 3, TAG, TAG, INDIRECTION, offset(-8), 4];
    let mut octets = longs(&cut_off);
    let mut reader = CdrReader::new(&mut octets, Format::native()).with_owner(Some(&owner));
    let first = Option::<Chain>::decode(&mut reader).unwrap().unwrap();
    let refused = Option::<Chain>::decode(&mut reader).unwrap_err();
    assert_eq!(refused.kind, CdrErrorKind::Truncated);
    drop(reader);
    // What was read before is as it was.
    assert_eq!(first.read().v, 3);
    drop(first);
    assert_eq!(Arc::strong_count(&mark), before);
}
