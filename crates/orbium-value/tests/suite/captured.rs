// SPDX-License-Identifier: MIT OR Apache-2.0
//! Octets that omniORB 4.2.5 wrote on a little-endian machine, by `_NP_marshal` into a
//! `cdrMemoryStream` of 8192 octets, for:
//!
//! ```idl
//! module Cap {
//!   valuetype Point { public long x; public long y; };
//!   valuetype Labelled : truncatable Point { public string text; private long hidden; };
//!   valuetype Finer : truncatable Labelled { public short more; public Point other; };
//!   valuetype Chain { public Chain next; public long v; };
//!   valuetype Text string;
//! };
//! ```

use orbium_cdr::{ByteOrder, CdrErrorKind, Format};

use super::{
    Chain, Finer, Labelled, Many, Point, PointState, Text, finer, labelled, narrow, read,
    written_in,
};

fn octets(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let octet = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks_exact(2).map(octet).collect()
}

fn little<T: orbium_cdr::Decode>(hex: &str) -> Result<T, CdrErrorKind> {
    read(&octets(hex), ByteOrder::Little)
}

/// A `Labelled` where a `Point` is expected: a list of ids, and a chunk.
const LABELLED: &str = "
    0effff7f 02000000 15000000 49444c3a 4361702f 4c616265 6c6c6564 3a312e30
    00000000 12000000 49444c3a 4361702f 506f696e 743a312e 30000000 14000000
    03000000 04000000 04000000 61626300 05000000 ffffffff";

/// A `Finer` that holds a `Point`, a `Labelled`, that `Point` and that `Finer` again: one end
/// tag closes the `Finer` and the `Point` in it. The state that `Finer` has of its bases is what omniORB's constructor left in it.
const FOUR: &str = "
    0effff7f 03000000 12000000 49444c3a 4361702f 46696e65 723a312e 30000000
    15000000 49444c3a 4361702f 4c616265 6c6c6564 3a312e30 00000000 12000000
    49444c3a 4361702f 506f696e 743a312e 30000000 18000000 ffff0000 ffffffff
    03000000 64650000 08000000 09000000 0affff7f ffffffff c4ffffff 08000000
    01000000 02000000 ffffffff 0effff7f 02000000 ffffffff 88ffffff ffffffff
    9cffffff 14000000 03000000 04000000 04000000 61626300 05000000 ffffffff
    ffffffff acffffff ffffffff 34ffffff";

/// Conformance: CDR - values: null, sharing and indirections
#[test]
fn omniorbs_values_are_read() {
    let point: Option<Point> = little("00ffff7f 01000000 02000000").unwrap();
    let point = point.unwrap();
    assert_eq!((point.read().x, point.read().y), (1, 2));
    assert_eq!(little::<Option<Point>>("00000000"), Ok(None));
    let shared: Many<Option<Point>> =
        little("00ffff7f 01000000 02000000 ffffffff f0ffffff").unwrap();
    assert_eq!(shared.0[0], shared.0[1]);
    let text: Many<Option<Text>> =
        little("00ffff7f 06000000 626f786564000000 ffffffff ecffffff").unwrap();
    assert_eq!(text.0[0].as_ref().unwrap().read().value, "boxed");
    assert_eq!(text.0[0], text.0[1]);
}

/// Conformance: CDR - values: cycles
#[test]
fn a_cycle_of_omniorb_is_read() {
    let first: Option<Chain> =
        little("00ffff7f 00ffff7f ffffffff f4ffffff 02000000 01000000").unwrap();
    let first = first.unwrap();
    let second = first.read().next.clone().unwrap();
    assert_eq!((first.read().v, second.read().v), (1, 2));
    assert_eq!(second.read().next, Some(first.clone()));
    first.unlink();
}

/// Conformance: CDR - values: chunks, lists of ids, truncation
#[test]
fn a_derived_value_of_omniorb_is_read_whole() {
    let point: Point = little::<Option<Point>>(LABELLED).unwrap().unwrap();
    assert_eq!(point.read().x, 3);
    let labelled: Labelled = point.downcast().unwrap();
    assert_eq!(labelled.read().text, "abc");
    assert_eq!((labelled.read().y, labelled.read().hidden), (4, 5));
    assert_eq!(labelled.downcast::<Finer>(), None);
}

/// Conformance: CDR - values: chunks, lists of ids, truncation
#[test]
fn a_derived_value_of_omniorb_is_truncated_where_its_type_is_unknown() {
    let point = little::<Option<narrow::Point>>(LABELLED).unwrap().unwrap();
    assert_eq!((point.read().x, point.read().y), (3, 4));
    assert_eq!(point.repository_id(), "IDL:Cap/Point:1.0");
}

/// Conformance: CDR - values: chunks, lists of ids, truncation
#[test]
fn a_message_of_several_derived_values_of_omniorb_is_read() {
    let points = little::<Many<Option<Point>>>(FOUR).unwrap().0;
    assert_eq!(points.len(), 4);
    let finer: Finer = points[0].as_ref().unwrap().downcast().unwrap();
    assert_eq!((finer.read().text.as_str(), finer.read().more), ("de", 9));
    assert_eq!(finer.read().other, points[2]);
    let labelled: Labelled = points[1].as_ref().unwrap().downcast().unwrap();
    assert_eq!(labelled.read().text, "abc");
    assert_eq!(points[2].as_ref().unwrap().read().y, 2);
    assert_eq!(points[3], points[0]);
}

/// Conformance: CDR - values: chunks, lists of ids, truncation
#[test]
fn a_derived_value_is_written_as_omniorb_writes_it() {
    let little = Format::native().with_order(ByteOrder::Little);
    let labelled = labelled(3, 4, "abc", 5);
    let value: Option<Point> = Some(labelled.into());
    assert_eq!(written_in(&value, little), octets(LABELLED));
}

/// omniORB 4.2.5 aborts ("pd_nestLevel == 0") when it reads the end tag of a nested value and
/// then that of the value around it, which the writer had written: values that end together
/// must have one. omniORB counts the padding before a nested value to the chunk.
///
/// Conformance: CDR - values: chunks, lists of ids, truncation
#[test]
fn values_that_end_together_have_one_end_tag_as_omniorb_needs_it() {
    let little = Format::native().with_order(ByteOrder::Little);
    let point = Point::new(PointState { x: 1, y: 2 });
    let finer = finer(0xffff, Some(point.clone()));
    finer.write().y = -1;
    let finer: Labelled = finer.into();
    let values = Many(vec![
        Some(finer.clone().into()),
        Some(labelled(3, 4, "abc", 5).into()),
        Some(point),
        Some(Point::from(finer)),
    ]);
    let expected = FOUR.replace("18000000 ffff0000", "16000000 ffff0000");
    assert_ne!(expected, FOUR);
    assert_eq!(written_in(&values, little), octets(&expected));
}

/// The `Point` in the `Finer` lies in the part that is cut off.
///
/// Conformance: CDR - values: chunks, lists of ids, truncation
#[test]
fn an_indirection_into_what_was_cut_off_leads_to_the_value() {
    let points = little::<Many<Option<narrow::Point>>>(FOUR).unwrap().0;
    let at = |index: usize| points[index].as_ref().unwrap().read();
    assert_eq!((at(1).x, at(1).y), (3, 4));
    assert_eq!((at(2).x, at(2).y), (1, 2));
    assert_eq!(points[3], points[0]);
}

/// A value of an unknown type that is nested in what is cut off is lost; what points to it
/// later is refused rather than made null.
#[test]
fn an_indirection_to_an_unknown_value_in_what_was_cut_off_is_refused() {
    // The nested value has the id of the one around it.
    let unknown = FOUR.replace("c4ffffff 08000000", "90ffffff 08000000");
    assert_ne!(unknown, FOUR);
    let read = little::<Many<Option<narrow::Point>>>(&unknown);
    assert_eq!(read.unwrap_err(), CdrErrorKind::UnknownValue);
}
