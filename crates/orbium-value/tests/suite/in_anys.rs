// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values within anys.

use std::sync::Arc;

use orbium_cdr::{
    Any, AnyError, ByteOrder, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode, Format, Owner,
    Typed,
};
use orbium_value::{Factories, ValueBase, ValueOwner};

use crate::{Chain, ChainState, Labelled, Point, PointState, Text, labelled, written_in};

/// An owner that knows the types of `register`.
pub(crate) fn owner(register: impl Fn(&Factories)) -> Owner {
    let owner: Owner = Arc::new(ValueOwner::new(()));
    register(ValueOwner::factories(&owner).unwrap());
    owner
}

pub(crate) fn read_by<T: Decode>(
    owner: &Owner,
    octets: &[u8],
    format: Format,
) -> Result<T, CdrErrorKind> {
    let mut octets = octets.to_vec();
    let mut reader = CdrReader::new(&mut octets, format).with_owner(Some(owner));
    T::decode(&mut reader).map_err(|error| error.kind)
}

/// Writes what need not outlive the writer.
pub(crate) fn put(value: &impl Encode, writer: &mut CdrWriter<'_>) {
    writer.copying(|writer| value.encode(writer));
}

pub(crate) fn formats() -> [Format; 2] {
    [ByteOrder::Big, ByteOrder::Little].map(|order| Format::native().with_order(order))
}

pub(crate) fn known() -> Owner {
    owner(|factories| {
        factories.register_type::<Point>();
        factories.register_type::<Labelled>();
        factories.register_type::<Chain>();
        factories.register_type::<Text>();
    })
}

/// Conformance: CDR - value types in anys
#[test]
fn values_of_registered_types_come_out_of_anys() {
    let owner = known();
    for format in formats() {
        let any = Any::new(&Some(Point::from(labelled(1, 2, "here", 3)))).unwrap();
        // A boolean before it, so that the value lies at every alignment.
        for before in 0..8 {
            let mut writer = CdrWriter::new(format);
            for _ in 0..before {
                writer.write_bool(true);
            }
            any.encode(&mut writer);
            let mut octets = writer.finish().unwrap();
            let mut reader = CdrReader::new(&mut octets, format).with_owner(Some(&owner));
            reader.take(before).unwrap();
            let got = Any::decode(&mut reader).unwrap();
            assert_eq!(reader.remaining(), 0);
            assert_eq!(format!("{got:?}"), "Any(Point: value of Point)");
            let point: Option<Point> = got.extract().unwrap();
            let got_labelled: Labelled = point.unwrap().downcast().unwrap();
            assert_eq!(got_labelled.read().text, "here");
            // It goes on to the next peer.
            let again: Any = read_by(&owner, &written_in(&got, format), format).unwrap();
            assert_eq!(again, got);
        }
    }
}

/// Conformance: CDR - value types in anys
#[test]
fn cycles_boxes_and_null_come_out_of_anys() {
    let owner = known();
    let link = Chain::new(ChainState { next: None, v: 7 });
    link.write().next = Some(link.clone());
    for format in formats() {
        let any = Any::new(&Some(&link)).unwrap();
        let got: Any = read_by(&owner, &written_in(&any, format), format).unwrap();
        let got = got.extract::<Option<Chain>>().unwrap().unwrap();
        assert_eq!(got.read().next, Some(got.clone()));
        got.unlink();

        let any = Any::new(&Some(Text::from("boxed".to_owned()))).unwrap();
        let got: Any = read_by(&owner, &written_in(&any, format), format).unwrap();
        let text = got.extract::<Option<Text>>().unwrap().unwrap();
        assert_eq!(text.read().value, "boxed");
        assert_eq!(got.extract::<Option<Point>>(), Err(AnyError::TypeMismatch));

        let any = Any::new(&None::<Point>).unwrap();
        let got: Any = read_by(&owner, &written_in(&any, format), format).unwrap();
        assert_eq!(got.extract::<Option<Point>>(), Ok(None));

        let many = vec![Some(Point::new(PointState { x: 1, y: 2 })), None];
        let any = Any::new(&many).unwrap();
        let got: Any = read_by(&owner, &written_in(&any, format), format).unwrap();
        let got: Vec<Option<Point>> = got.extract().unwrap();
        assert_eq!(got[0].as_ref().unwrap().read().y, 2);
        assert_eq!(got[1], None);
    }
    link.unlink();
}

/// A message in which an any refers to a value outside of it, as other ORBs write one.
///
/// Conformance: CDR - value types in anys
#[test]
fn an_any_may_share_a_value_with_the_message_around_it() {
    let owner = known();
    let point = Some(Point::new(PointState { x: 1, y: 2 }));
    let mut writer = CdrWriter::new(Format::native());
    point.encode(&mut writer);
    put(&Point::type_code(), &mut writer);
    point.encode(&mut writer);
    let mut octets = writer.finish().unwrap();
    let mut reader = CdrReader::new(&mut octets, Format::native()).with_owner(Some(&owner));
    Option::<ValueBase>::decode(&mut reader).unwrap().unwrap();
    let any = Any::decode(&mut reader).unwrap();
    let point = any.extract::<Option<Point>>().unwrap().unwrap();
    assert_eq!(point.read().x, 1);
}

/// Anys that refer to one large value again and again would take many times the octets of
/// their message.
///
/// Conformance: CDR - value types in anys - limits
#[test]
fn many_anys_of_one_large_value_are_refused() {
    let owner = known();
    let large = Some(Text::from("x".repeat(100_000)));
    let mut writer = CdrWriter::new(Format::native());
    large.encode(&mut writer);
    for _ in 0..1000 {
        put(&Text::type_code(), &mut writer);
        large.encode(&mut writer);
    }
    let mut octets = writer.finish().unwrap();
    let mut reader = CdrReader::new(&mut octets, Format::native()).with_owner(Some(&owner));
    Option::<ValueBase>::decode(&mut reader).unwrap().unwrap();
    let mut read = 0;
    let error = loop {
        match Any::decode(&mut reader) {
            Ok(_) => read += 1,
            Err(error) => break error.kind,
        }
    };
    assert_eq!(error, CdrErrorKind::CountTooLarge);
    assert!((1..200).contains(&read), "{read}");
}

mod nested {
    use orbium_cdr::Any;
    use orbium_value::idl_value;

    idl_value! {
        /// A value that holds an any.
        pub struct Holder(HolderState): HOLDER_TYPE = "IDL:Cap/Holder:1.0", Plain, [] {
            public held: Any,
        }
    }
}

/// Each level is read twice, so that many levels would take forever.
///
/// Conformance: CDR - value types in anys - limits
#[test]
fn anys_of_values_do_not_nest_without_end() {
    use nested::{HOLDER_TYPE, Holder, HolderState};
    use orbium_value::MAX_ANY_DEPTH;
    let owner = owner(|factories| {
        factories.register_type::<Holder>();
    });
    let nested = |levels: u32| {
        // Written by hand: the innermost any is empty.
        let mut writer = CdrWriter::new(Format::native());
        for _ in 0..levels {
            put(&orbium_cdr::TypeCode::from(&HOLDER_TYPE), &mut writer);
            writer.write_u32(0x7fff_ff02);
            writer.write_name("IDL:Cap/Holder:1.0");
        }
        put(&Any::default(), &mut writer);
        writer.finish().unwrap()
    };
    let octets = nested(MAX_ANY_DEPTH);
    let got: Any = read_by(&owner, &octets, Format::native()).unwrap();
    let holder: Option<Holder> = got.extract().unwrap();
    let state: HolderState = holder.unwrap().read().clone();
    assert!(state.held.is::<Holder>());
    let octets = nested(MAX_ANY_DEPTH + 1);
    let read = read_by::<Any>(&owner, &octets, Format::native());
    assert_eq!(read, Err(CdrErrorKind::TooDeep));
}
