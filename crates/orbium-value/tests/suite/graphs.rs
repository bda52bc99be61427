// SPDX-License-Identifier: MIT OR Apache-2.0
//! Graphs of values there and back.

use orbium_cdr::{Any, ByteOrder, CdrErrorKind, CdrWriter, Decode, Encode, Format};
use orbium_value::{MAX_DEPTH, ValueBase, ValueType};

use super::{
    Chain, ChainState, Finer, Many, Point, PointState, Text, finer, labelled, narrow, read,
    read_native, written, written_in,
};

fn point(x: i32) -> Point {
    Point::new(PointState { x, y: 0 })
}

fn chain(length: u32) -> Option<Chain> {
    let mut first = None;
    for v in 0..length {
        let next = first.take();
        first = Some(Chain::new(ChainState { next, v: v as i32 }));
    }
    first
}

/// Conformance: CDR - values: null, sharing and indirections
#[test]
fn sharing_and_null_survive_in_both_byte_orders() {
    let shared = Some(point(1));
    let values = Many(vec![shared.clone(), None, Some(point(1)), shared]);
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let octets = written_in(&values, Format::native().with_order(order));
        let read = read::<Many<Option<Point>>>(&octets, order).unwrap().0;
        assert_eq!(read.len(), 4);
        assert_eq!(read[0], read[3]);
        assert_eq!(read[1], None);
        assert_ne!(read[0], read[2]);
        assert_eq!(
            *read[0].as_ref().unwrap().read(),
            *read[2].as_ref().unwrap().read()
        );
    }
}

/// Conformance: CDR - values: cycles
#[test]
fn cycles_survive_and_can_be_undone() {
    let link = Chain::new(ChainState { next: None, v: 1 });
    let other = Chain::new(ChainState {
        next: Some(link.clone()),
        v: 2,
    });
    link.write().next = Some(other);
    let value = Some(link.clone());
    let read: Chain = read_native::<Option<Chain>>(&written(&value))
        .unwrap()
        .unwrap();
    let next = read.read().next.clone().unwrap();
    assert_eq!((read.read().v, next.read().v), (1, 2));
    assert_eq!(next.read().next, Some(read.clone()));
    for end in [link, read, next] {
        end.unlink();
        assert_eq!(end.read().next, None);
    }
}

/// A derived value, where a base is expected, keeps its type; nested values of a chunked one
/// are chunked too.
#[test]
fn derived_values_survive() {
    let inner: Point = labelled(1, 2, "inner", 3).into_base();
    let values = Many(vec![
        Some(Point::from_finer(finer(4, Some(inner.clone())))),
        Some(inner),
        Some(Point::from_finer(finer(5, None))),
        Some(Point::from_finer(finer(6, Some(point(7))))),
    ]);
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let octets = written_in(&values, Format::native().with_order(order));
        let read = read::<Many<Option<Point>>>(&octets, order).unwrap().0;
        let first: Finer = read[0].as_ref().unwrap().downcast().unwrap();
        assert_eq!(first.read().other, read[1]);
        assert_eq!((first.read().x, first.read().more), (4, 9));
        let last: Finer = read[3].as_ref().unwrap().downcast().unwrap();
        assert_eq!(last.read().other.as_ref().unwrap().read().x, 7);
    }
    // One that knows `Point` alone sees points, but not those nested in what it cuts off.
    let octets = written(&Many(vec![values.0[0].clone(), values.0[2].clone()]));
    let read = read_native::<Many<Option<narrow::Point>>>(&octets)
        .unwrap()
        .0;
    let numbers: Vec<_> = read
        .iter()
        .map(|it| it.as_ref().unwrap().read().x)
        .collect();
    assert_eq!(numbers, [4, 5]);
}

trait IntoPoint {
    fn into_base(self) -> Point;
}

impl IntoPoint for super::Labelled {
    fn into_base(self) -> Point {
        self.into()
    }
}

impl Point {
    fn from_finer(finer: Finer) -> Self {
        super::Labelled::from(finer).into()
    }
}

#[test]
fn graphs_as_deep_as_the_limit_survive_and_deeper_ones_are_refused() {
    // In a thread with the stack that threads of servers may be given.
    let work = || {
        let value = chain(MAX_DEPTH);
        let octets = written(&value);
        let read = read_native::<Option<Chain>>(&octets).unwrap().unwrap();
        assert_eq!(read.read().v, MAX_DEPTH as i32 - 1);

        let value = chain(MAX_DEPTH + 1);
        let mut writer = CdrWriter::new(Format::native());
        value.encode(&mut writer);
        assert_eq!(writer.error().unwrap().kind, CdrErrorKind::TooDeep);
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    thread.spawn(work).unwrap().join().unwrap();
}

#[test]
fn a_ring_longer_than_the_limit_is_undone_and_freed() {
    let first = chain(3 * MAX_DEPTH).unwrap();
    let mut links = vec![first.clone()];
    while let Some(next) = next_of(links.last().unwrap()) {
        links.push(next);
    }
    links.last().unwrap().write().next = Some(first.clone());
    let middle = links[2 * MAX_DEPTH as usize].clone();
    drop(links);
    assert_eq!((first.handles(), middle.handles()), (2, 2));
    first.unlink();
    assert_eq!((first.handles(), middle.handles()), (1, 1));
}

fn next_of(link: &Chain) -> Option<Chain> {
    link.read().next.clone()
}

#[test]
fn values_in_anys_have_graphs_of_their_own() {
    let shared = Some(point(3));
    let any = Any::new(&shared).unwrap();
    assert_eq!(any.extract::<Option<Point>>().unwrap().unwrap().read().x, 3);
    assert!(any.type_code().to_string().contains("Point"));
}

#[test]
fn a_value_of_any_type_keeps_its_type() {
    let text = Text::from("something".to_owned());
    let base: ValueBase = text.clone().into();
    assert_eq!(base.repository_id(), "IDL:Cap/Text:1.0");
    assert_eq!(base.downcast::<Text>(), Some(text));
    assert_eq!(base.downcast::<Point>(), None);
    assert!(Text::class().is_a(<ValueBase as ValueType>::class()));
    assert!(
        Option::<ValueBase>::decode(&mut orbium_cdr::CdrReader::new(
            &mut [0; 4],
            Format::native()
        ))
        .unwrap()
        .is_none()
    );
}
