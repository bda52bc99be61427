// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of types of which no more than the TypeCode is known.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use orbium_cdr::{
    Any, CdrErrorKind, CdrReader, CdrWriter, Char, CharSet, Decode, Encode, Format, Owner, Type,
    TypeCode, Typed,
};
use orbium_value::{Facet, Factories, Linked, ValueBase, ValueOwner, ValueType, idl_value};

use crate::in_anys::{formats, known, owner, put, read_by};
use crate::{
    Chain, ChainState, Finer, Labelled, POINT_TYPE, Point, PointState, Text, finer, written_in,
};

idl_value! {
    /// Text that no format but that of two orbiums, and of anys, has whole.
    pub struct Letter(LetterState): LETTER_TYPE = "IDL:Letter:1.0", Plain, [] {
        public c: Char,
        public text: String,
    }
}

idl_value! {
    /// A value with an any.
    pub struct Held(HeldState): HELD_TYPE = "IDL:Held:1.0", Plain, [] {
        public any: Any,
    }
}

idl_value! {
    /// A point that holds a value.
    pub struct Holder(HolderState): HOLDER_TYPE = "IDL:Holder:1.0", Truncatable,
    base: Point[PointState] = POINT_TYPE, [] {
        public held: Option<Held> = &HELD_TYPE,
    }
}

idl_value! {
    /// Two values.
    pub struct Pair(PairState): PAIR_TYPE = "IDL:Pair:1.0", Plain, [] {
        public first: Option<Point> = &POINT_TYPE,
        public second: Option<Held> = &HELD_TYPE,
    }
}

/// An owner that knows no type.
fn empty() -> Owner {
    owner(|_| {})
}

/// An any as it comes out of a program that has no code for any of the types, in a format.
fn relayed(any: &Any, format: Format) -> Any {
    let received: Any = read_by(&empty(), &written_in(any, format), format).unwrap();
    let sent = written_in(&received, Format::native());
    read_by(&known(), &sent, Format::native()).unwrap()
}

/// Conformance: CDR - value types in anys - of unknown types: by their TypeCodes
#[test]
fn anys_of_unknown_value_types_are_relayed() {
    let shared = Point::new(PointState { x: 3, y: 4 });
    for format in formats() {
        let points = vec![Some(shared.clone()), None, Some(shared.clone())];
        let relayed = relayed(&Any::new(&points).unwrap(), format);
        let points: Vec<Option<Point>> = relayed.extract().unwrap();
        assert_eq!(*points[0].as_ref().unwrap().read(), *shared.read());
        assert_eq!(points[1], None);
        assert_eq!(points[2], points[0], "sharing is kept");
    }
    for format in formats() {
        let any = Any::new(&Some(finer(1, Some(shared.clone())))).unwrap();
        let any = relayed(&any, format).with_owner(any.owner().cloned());
        let finer = any.extract::<Option<Finer>>().unwrap().unwrap();
        assert_eq!(finer.read().more, 9);
        assert_eq!(finer.read().base.text, "de");
        assert_eq!(finer.read().other.as_ref().unwrap().read().y, 4);
        let text = Any::new(&Some(Text::from("boxed".to_owned()))).unwrap();
        let text = relayed(&text, format).extract::<Option<Text>>().unwrap();
        assert_eq!(text.unwrap().read().value, "boxed");
        let null = relayed(&Any::new(&None::<Point>).unwrap(), format);
        assert_eq!(null.extract::<Option<Point>>(), Ok(None));
    }
}

/// Conformance: CDR - value types in anys - of unknown types: by their TypeCodes
#[test]
fn cycles_of_unknown_value_types_are_relayed() {
    let link = Chain::new(ChainState { next: None, v: 7 });
    link.write().next = Some(link.clone());
    for format in formats() {
        let relayed = relayed(&Any::new(&Some(&link)).unwrap(), format);
        let got = relayed.extract::<Option<Chain>>().unwrap().unwrap();
        assert_eq!(got.read().v, 7);
        assert_eq!(got.read().next, Some(got.clone()));
        got.unlink();
    }
    link.unlink();
}

/// A value of type `Finer` where a `Point` is expected, in an any.
fn finer_as_point(format: Format) -> Vec<u8> {
    let mut writer = CdrWriter::new(format);
    put(&Point::type_code(), &mut writer);
    put(
        &Some(Point::from(Labelled::from(finer(5, None)))),
        &mut writer,
    );
    put(&17i32, &mut writer);
    writer.finish().unwrap()
}

/// Conformance: CDR - value types in anys - of unknown types: by their TypeCodes
#[test]
fn an_unknown_value_is_truncated_to_what_the_type_code_describes() {
    let described = owner(|factories| {
        assert!(
            !factories
                .register_described(Labelled::type_code().as_ref())
                .unwrap()
        );
        assert!(
            factories
                .register_described(Labelled::type_code().as_ref())
                .unwrap()
        );
    });
    for format in formats() {
        for (owner, id) in [
            (empty(), Point::class().id),
            (described.clone(), Labelled::class().id),
        ] {
            let mut octets = finer_as_point(format);
            let mut reader = CdrReader::new(&mut octets, format).with_owner(Some(&owner));
            let any = Any::decode(&mut reader).unwrap();
            assert_eq!(i32::decode(&mut reader).unwrap(), 17, "the rest is skipped");
            let linked = Linked::new(&any).unwrap();
            let value = linked.values()[0].as_ref().unwrap();
            assert_eq!(value.repository_id(), id);
        }
    }
}

/// What is read in the part that is cut off from a value is no part of the data around that
/// value: the any of `Held` kept the number of a value instead of the value.
#[test]
fn a_value_first_met_in_a_part_that_is_cut_off_is_whole() {
    let point = Point::new(PointState { x: 3, y: 4 });
    let held = Held::new(HeldState {
        any: Any::new(&Some(point)).unwrap(),
    });
    let holder = Holder::new(HolderState {
        base: PointState { x: 1, y: 2 },
        held: Some(held.clone()),
    });
    let pair = Pair::new(PairState {
        first: Some(holder.into()),
        second: Some(held),
    });
    let any = Any::new(&Some(pair)).unwrap();
    let narrow = owner(|factories| {
        factories
            .register_described(Point::type_code().as_ref())
            .unwrap();
        factories.register_type::<Held>();
    });
    for format in formats() {
        let any: Any = read_by(&narrow, &written_in(&any, format), format).unwrap();
        let sent = written_in(&any, format);
        let any: Any = read_by(&known(), &sent, format).unwrap();
        let pair = any.extract::<Option<Pair>>().unwrap().unwrap();
        let first = pair.read().first.clone().unwrap();
        assert_eq!(first.repository_id(), Point::class().id);
        let held = pair.read().second.clone().unwrap();
        let point = held.read().any.extract::<Option<Point>>().unwrap();
        assert_eq!(point.unwrap().read().y, 4);
    }
}

/// Conformance: CDR - value types in anys - of unknown types: by their TypeCodes
#[test]
fn values_in_anys_may_have_chars_beyond_ascii() {
    let letter = Letter::new(LetterState {
        c: Char(0xe9),
        text: "€".to_owned(),
    });
    let any = Any::new(&Some(letter)).unwrap();
    let compiled = owner(|factories| {
        factories.register_type::<Letter>();
    });
    for owner in [empty(), compiled.clone()] {
        for format in formats() {
            let both = Format {
                char_set: CharSet::Utf8AndLatin1Char,
                ..format
            };
            let received: Any = read_by(&owner, &written_in(&any, both), both).unwrap();
            let received: Any = read_by(&compiled, &written_in(&received, both), both).unwrap();
            let letter = received.extract::<Option<Letter>>().unwrap().unwrap();
            assert_eq!(letter.read().c, Char(0xe9));
            assert_eq!(letter.read().text, "€");
            let mut writer = CdrWriter::new(format);
            put(&received, &mut writer);
            let error = writer.error().map(|error| error.kind);
            assert_eq!(error, Some(CdrErrorKind::CannotConvert));
        }
    }
}

/// Conformance: CDR - value types in anys - of unknown types: MARSHAL, minor code 1
#[test]
fn a_value_of_a_type_that_no_type_code_describes_is_refused() {
    let mut writer = CdrWriter::new(Format::native());
    put(&Point::type_code(), &mut writer);
    writer.write_u32(0x7fff_ff02);
    writer.write_name("IDL:Unknown:1.0");
    let unknown = writer.finish().unwrap();
    let read = read_by::<Any>(&empty(), &unknown, Format::native());
    assert_eq!(read, Err(CdrErrorKind::UnknownValue));
    // A type that is known, but is none of those expected.
    let mut writer = CdrWriter::new(Format::native());
    put(&Point::type_code(), &mut writer);
    put(
        &Some(Chain::new(ChainState { next: None, v: 1 })),
        &mut writer,
    );
    let other = writer.finish().unwrap();
    for owner in [empty(), known()] {
        let read = read_by::<Any>(&owner, &other, Format::native());
        assert_eq!(read, Err(CdrErrorKind::UnknownValue));
    }
}

/// Conformance: CDR - value types in anys - of custom types that are not registered: MARSHAL, minor code 1
#[test]
fn the_state_of_a_custom_value_is_not_interpreted() {
    let members = [("x", Type::LONG.into(), true)];
    let code = TypeCode::value("IDL:Custom:1.0", "Custom", 1, None, members);
    let mut writer = CdrWriter::new(Format::native());
    put(&code, &mut writer);
    writer.write_u32(0x7fff_ff0a);
    writer.write_name("IDL:Custom:1.0");
    for long in [4, 1, -1i32] {
        writer.write_u32(long as u32);
    }
    let octets = writer.finish().unwrap();
    let read = read_by::<Any>(&empty(), &octets, Format::native());
    assert_eq!(read, Err(CdrErrorKind::UnknownValue));
    let value = ValueBase::described(code.as_ref());
    assert_eq!(value.unwrap_err().kind, CdrErrorKind::UnknownValue);
}

/// Without an id it is of the type of the any, as omniORB writes one.
///
/// Conformance: CDR - value types in anys - of unknown types: by their TypeCodes
#[test]
fn a_value_without_an_id_has_the_type_of_its_any() {
    let mut writer = CdrWriter::new(Format::native());
    put(&Point::type_code(), &mut writer);
    for long in [0x7fff_ff00, 5, 6] {
        writer.write_u32(long);
    }
    let octets = writer.finish().unwrap();
    for owner in [empty(), known()] {
        let any: Any = read_by(&owner, &octets, Format::native()).unwrap();
        let again: Any = read_by(
            &known(),
            &written_in(&any, Format::native()),
            Format::native(),
        )
        .unwrap();
        let point = again.extract::<Option<Point>>().unwrap().unwrap();
        assert_eq!(*point.read(), PointState { x: 5, y: 6 });
    }
}

fn chain(links: i32) -> Option<Chain> {
    (0..links).fold(None, |next, v| Some(Chain::new(ChainState { next, v })))
}

/// Conformance: CDR - value types in anys - limits
#[test]
fn the_depth_of_unknown_values_is_bounded() {
    let any = Any::new(&chain(100)).unwrap();
    let relayed = relayed(&any, Format::native());
    let mut link = relayed.extract::<Option<Chain>>().unwrap();
    for v in (0..100).rev() {
        let chain = link.unwrap();
        assert_eq!(chain.read().v, v);
        link = chain.read().next.clone();
    }
    let octets = written_in(&Any::new(&chain(200)).unwrap(), Format::native());
    let read = read_by::<Any>(&empty(), &octets, Format::native());
    assert_eq!(read, Err(CdrErrorKind::TooDeep));
}

/// An any holds octets: the values that they were read as must not be left behind in a cycle.
#[test]
fn cycles_that_are_read_into_anys_are_freed() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            MADE.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let counted = owner(|factories| {
        factories.register::<Chain>(|| {
            MADE.fetch_add(1, Ordering::Relaxed);
            let facets = vec![Facet::of(Arc::new(Counted))];
            Chain::wrap(ValueBase::with_facets(
                Chain::class(),
                ChainState::default(),
                facets,
            ))
        });
    });
    let link = Chain::new(ChainState { next: None, v: 7 });
    link.write().next = Some(link.clone());
    let mut octets = written_in(&Any::new(&Some(&link)).unwrap(), Format::native());
    let any = {
        let mut reader = CdrReader::new(&mut octets, Format::native()).with_owner(Some(&counted));
        let any = Any::decode(&mut reader).unwrap();
        assert_eq!(MADE.load(Ordering::Relaxed), 1);
        any
    };
    assert_eq!(MADE.load(Ordering::Relaxed), 0);
    let got = any.extract::<Option<Chain>>().unwrap().unwrap();
    assert_eq!(got.read().next, Some(got.clone()));
    got.unlink();
    link.unlink();
}

/// Each state of a value has a handle on the owner of the any.
#[test]
fn cycles_of_an_any_that_is_refused_are_freed() {
    let link = Chain::new(ChainState { next: None, v: 7 });
    link.write().next = Some(link.clone());
    let any = Any::new(&vec![Some(link.clone()), chain(200)]).unwrap();
    let owner = any.owner().unwrap();
    let handles = Arc::strong_count(owner);
    assert_eq!(Linked::new(&any).unwrap_err().kind, CdrErrorKind::TooDeep);
    assert_eq!(Arc::strong_count(owner), handles);
    link.unlink();
}

/// Conformance: CDR - value types in anys - of unknown types: by their TypeCodes
#[test]
fn states_are_made_by_their_type_codes() {
    let value = ValueBase::described(Point::type_code().as_ref()).unwrap();
    assert_eq!(value.repository_id(), Point::class().id);
    assert!(value.state().is_none());
    let unset = written_error(&value);
    assert_eq!(unset, Some(CdrErrorKind::BadValue));
    let mut octets = [5i32, 6].map(i32::to_ne_bytes).concat();
    let state = Linked::of_parts(value.state_type().unwrap(), &mut octets, Vec::new()).unwrap();
    value.set_state(state.clone()).unwrap();
    let other = ValueBase::described(Chain::type_code().as_ref()).unwrap();
    assert_eq!(
        other.set_state(state).unwrap_err().kind,
        CdrErrorKind::BadValue
    );

    // Two numbers of one value, in a sequence.
    let points = TypeCode::sequence(Point::type_code(), 0);
    let mut octets = [2u32, 1, 1].map(u32::to_ne_bytes).concat();
    let linked = Linked::of_parts(points.clone(), &mut octets, vec![None, Some(value)]).unwrap();
    let any = linked.to_any().unwrap();
    let any: Any = read_by(
        &known(),
        &written_in(&any, Format::native()),
        Format::native(),
    )
    .unwrap();
    let got: Vec<Option<Point>> = any.extract().unwrap();
    assert_eq!(*got[0].as_ref().unwrap().read(), PointState { x: 5, y: 6 });
    assert_eq!(got[0], got[1]);

    // A number that no value has, and a value of another type.
    for values in [vec![], vec![None, Some(other)]] {
        let mut octets = [1u32, 1].map(u32::to_ne_bytes).concat();
        let bad = Linked::of_parts(points.clone(), &mut octets, values);
        assert_eq!(bad.unwrap_err().kind, CdrErrorKind::BadValue);
    }
}

fn written_error(value: &ValueBase) -> Option<CdrErrorKind> {
    let mut writer = CdrWriter::new(Format::native());
    put(&Some(value), &mut writer);
    writer.error().map(|error| error.kind)
}

/// Conformance: CDR - value types in anys - of unknown types: by their TypeCodes
#[test]
fn an_unknown_value_may_be_shared_by_several_anys_of_a_message() {
    let described = owner(|factories: &Factories| {
        factories
            .register_described(Point::type_code().as_ref())
            .unwrap();
    });
    let point = Some(Point::new(PointState { x: 1, y: 2 }));
    let mut writer = CdrWriter::new(Format::native());
    point.encode(&mut writer);
    put(&Point::type_code(), &mut writer);
    point.encode(&mut writer);
    let mut octets = writer.finish().unwrap();
    let mut reader = CdrReader::new(&mut octets, Format::native()).with_owner(Some(&described));
    let first = Option::<ValueBase>::decode(&mut reader).unwrap().unwrap();
    assert_eq!(first.repository_id(), Point::class().id);
    let any = Any::decode(&mut reader).unwrap();
    assert!(ValueOwner::factories(any.owner().unwrap()).is_some());
    let point = any.extract::<Option<Point>>().unwrap().unwrap();
    assert_eq!(point.read().y, 2);
}

/// Every octet string of a real any cut short, or with one octet changed, is read as something
/// or refused.
#[test]
fn damaged_values_of_unknown_types_are_read_or_refused() {
    let point = Point::new(PointState { x: 3, y: 4 });
    let values = vec![
        Some(Point::from(Labelled::from(finer(1, Some(point.clone()))))),
        Some(point),
    ];
    for format in formats() {
        let whole = written_in(&Any::new(&values).unwrap(), format);
        let mut read = 0;
        for at in 0..whole.len() {
            let _ = read_by::<Any>(&empty(), &whole[..at], format);
            for change in [0x01, 0x02, 0x08, 0x80, 0xff] {
                let mut octets = whole.clone();
                octets[at] ^= change;
                read += usize::from(read_by::<Any>(&empty(), &octets, format).is_ok());
            }
        }
        assert!(read > 0);
    }
}

/// An any of so many values, the state of each of which is so many structs without members.
fn values_of_nothing(values: u32, structs: u32) -> Vec<u8> {
    let nothing = TypeCode::structure("IDL:Nothing:1.0", "Nothing", []);
    let members = [("all", TypeCode::array(nothing, structs), true)];
    let code = TypeCode::value("IDL:Idle:1.0", "Idle", 0, None, members);
    let mut writer = CdrWriter::new(Format::native());
    put(&TypeCode::sequence(code, 0), &mut writer);
    writer.write_u32(values);
    (0..values).for_each(|_| writer.write_u32(0x7fff_ff00));
    writer.finish().unwrap()
}

/// Four octets of a message are a value: they must not be worth thousands of steps.
///
/// Conformance: CDR - value types in anys - limits
#[test]
fn states_without_octets_are_bounded() {
    let read = |values, structs| {
        let octets = values_of_nothing(values, structs);
        read_by::<Any>(&empty(), &octets, Format::native()).map(drop)
    };
    assert_eq!(read(20, 100), Ok(()));
    assert_eq!(read(1, 1000), Err(CdrErrorKind::CountTooLarge));
    // What each may take is not taken once for every four octets, as it was.
    assert_eq!(read(10_000, 100), Err(CdrErrorKind::CountTooLarge));
    assert_eq!(read(10_000, 1), Ok(()));
}
