// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generated types at run time: the golden files, compiled and run.

use std::fmt::Debug;

use orbium_cdr::{ByteOrder, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode, Format};

mod golden {
    include!("../golden/types.rs");
    include!("../golden/unions.rs");
    include!("../golden/constants.rs");
    pub(crate) mod across {
        include!("../golden/modules.rs");
    }
    pub(crate) mod local_file {
        include!("../golden/local.rs");
    }
    pub(crate) mod left_out {
        include!("../golden/unmapped.rs");
    }
    // Names of the prelude and of Rust, as names of IDL.
    pub(crate) mod names_file {
        include!("../golden/names.rs");
    }
    pub(crate) mod many_file {
        include!("../golden/many.rs");
    }
}

use golden::types::{self, Level, Point, Steady, Text, Tree};
use golden::unions::{self, ByBool, ByChar, ByEnum, ByLong, Colour, Ranged};

const FOREIGN: ByteOrder = if cfg!(target_endian = "big") {
    ByteOrder::Little
} else {
    ByteOrder::Big
};

fn written(value: &impl Encode, shift: usize, format: Format) -> Result<Vec<u8>, CdrErrorKind> {
    let mut writer = CdrWriter::new(format);
    writer.write_raw(&[0xEE; 8][..shift]);
    value.encode(&mut writer);
    writer.finish().map_err(|error| error.kind)
}

fn read<T: Decode>(mut octets: Vec<u8>, shift: usize, format: Format) -> Result<T, CdrErrorKind> {
    let mut reader = CdrReader::new(&mut octets, format);
    reader.take(shift).unwrap();
    let value = T::decode(&mut reader).map_err(|error| error.kind)?;
    assert_eq!(reader.remaining(), 0);
    Ok(value)
}

/// Written and read back from every position, in both byte orders.
#[track_caller]
fn survives<T: Encode + Decode + PartialEq + Debug>(value: &T) {
    for order in [ByteOrder::NATIVE, FOREIGN] {
        for shift in 0..8 {
            let format = Format::native().with_order(order);
            let octets = written(value, shift, format).unwrap();
            assert!(octets.len() - shift >= T::MIN_SIZE);
            for length in shift..octets.len() {
                assert!(read::<T>(octets[..length].to_vec(), shift, format).is_err());
            }
            assert_eq!(&read::<T>(octets, shift, format).unwrap(), value);
        }
    }
}

fn native(value: &impl Encode) -> Result<Vec<u8>, CdrErrorKind> {
    written(value, 0, Format::native())
}

fn text() -> Text {
    Text {
        plain: "plain ä".into(),
        short_one: "12345678".into(),
        wide: "wide €".into(),
        a_tag: "5 wid".into(),
        few: vec!["a".into(), String::new()],
        many: vec!["x".into(), "€".into()],
        nested: vec![vec!["ab".into()], Vec::new(), vec!["c".into(), "d".into()]],
        table: [["a", "b", "c"], ["d", "e", "12345678"]].map(|row| row.map(str::to_owned)),
    }
}

/// Conformance: CDR - every mapped type, at every alignment, in both orders
#[test]
fn structs_come_back_as_they_went() {
    let point = Point { x: 1.5, y: -2.0 };
    survives(&point);
    survives(&types::Tiny { o: 7 });
    survives(&Steady {
        from: point,
        to: [point, Point::default()],
        how: Level::HighLevel,
        on: true,
        c: orbium::Char(b'c'),
        ld: orbium::LongDouble::from(0.1),
        g: [[1, 2, 3], [4, 5, 6]],
    });
    survives(&types::Wide {
        w: orbium::WChar(0x20AC),
    });
    survives(&types::Numbers {
        o: 1,
        s: -2,
        us: 3,
        l: -4,
        ul: 5,
        ll: -6,
        ull: 7,
        f: 0.5,
        d: -0.25,
    });
    survives(&text());
    survives(&types::Flags {
        a: true,
        b: false,
        c: true,
        d: false,
    });
    survives(&types::Outer {
        inside: types::outer::Inner { depth: 3 },
        sort: types::outer::Kind::Second,
    });
    survives(&types::Failed {
        why: "why".into(),
        number: 1,
    });
}

/// Conformance: CDR - every mapped type, at every alignment, in both orders
#[test]
fn sequences_of_structs_come_back_as_they_went() {
    survives(&vec![Point { x: 1.0, y: 2.0 }; 3]);
    survives(&vec![Level::Low, Level::HighLevel]);
    survives(&vec![text(), text()]);
}

#[test]
fn a_value_is_read_into_one_that_is_there() {
    let mut octets = native(&text()).unwrap();
    let mut value = Text::default();
    value
        .decode_into(&mut CdrReader::new(&mut octets, Format::native()))
        .unwrap();
    assert_eq!(value, text());
}

/// Conformance: CDR - bounds, on both sides
#[test]
fn bounds_hold_at_every_depth_for_the_sender() {
    let spoilt: [fn(&mut Text); 8] = [
        |text| text.short_one.push('9'),
        |text| text.a_tag.push('x'),
        |text| text.few = vec![String::new(); 5],
        |text| text.few[0] = "123456789".into(),
        |text| text.nested.push(Vec::new()),
        |text| text.nested[2][1] = "abc".into(),
        |text| text.table[1][2].push('9'),
        |text| text.nested[1] = vec!["ab".into(), "abc".into()],
    ];
    for spoil in spoilt {
        let mut text = text();
        spoil(&mut text);
        assert_eq!(native(&text), Err(CdrErrorKind::BoundExceeded));
    }
}

/// Conformance: CDR - bounds, on both sides
#[test]
fn bounds_count_characters_not_octets() {
    let mut text = text();
    text.short_one = "äöüßéèêà".into();
    survives(&text);
}

/// The same members without bounds: what a careless peer would send.
fn unbounded(few: &Vec<String>, nested: &Vec<Vec<String>>) -> Vec<u8> {
    let mut writer = CdrWriter::new(Format::native());
    for short in ["", ""] {
        short.encode(&mut writer);
    }
    writer.write_wstr("");
    writer.write_wstr("");
    few.encode(&mut writer);
    writer.write_count(0);
    nested.encode(&mut writer);
    let table = [""; 6];
    for cell in &table {
        cell.encode(&mut writer);
    }
    writer.finish().unwrap()
}

/// Conformance: CDR - bounds, on both sides
#[test]
fn bounds_hold_at_every_depth_for_the_receiver() {
    let strings = |count: usize, text: &str| vec![text.to_owned(); count];
    let read = |octets| read::<Text>(octets, 0, Format::native());
    assert!(
        read(unbounded(
            &strings(4, "12345678"),
            &vec![strings(9, "ab"); 3]
        ))
        .is_ok()
    );
    for octets in [
        unbounded(&strings(5, ""), &Vec::new()),
        unbounded(&strings(1, "123456789"), &Vec::new()),
        unbounded(&Vec::new(), &vec![Vec::new(); 4]),
        unbounded(&Vec::new(), &vec![strings(1, "abc")]),
    ] {
        assert_eq!(read(octets), Err(CdrErrorKind::BoundExceeded));
    }
}

/// Conformance: CDR - enumerators, discriminators
#[test]
fn enumerators_are_checked() {
    assert_eq!(Level::try_from(2), Ok(Level::HighLevel));
    assert_eq!(Level::try_from(3), Err(3));
    assert_eq!(Level::default(), Level::Low);
    let octets = native(&3u32).unwrap();
    assert_eq!(
        read::<Level>(octets, 0, Format::native()),
        Err(CdrErrorKind::BadEnumerator)
    );
    let octets = native(&vec![0u32, 1, 9]).unwrap();
    assert_eq!(
        read::<Vec<Level>>(octets, 0, Format::native()),
        Err(CdrErrorKind::BadEnumerator)
    );
}

/// Conformance: CDR - recursive types, bounded
#[test]
fn recursion_is_followed_and_bounded() {
    let grow = |depth: usize| {
        (0..depth).fold(Tree::default(), |tree, _| Tree {
            name: "t".into(),
            branches: vec![tree],
        })
    };
    survives(&grow(3));
    let octets = native(&grow(1000)).unwrap();
    assert_eq!(
        read::<Tree>(octets, 0, Format::native()),
        Err(CdrErrorKind::TooDeep)
    );
}

/// Conformance: CDR - every mapped type, at every alignment, in both orders
#[test]
fn unions_come_back_as_they_went() {
    for value in [
        ByLong::O(1),
        ByLong::Text("text".into()),
        ByLong::Other { discriminator: 77 },
    ] {
        survives(&value);
    }
    for value in [
        Ranged::Few {
            discriminator: 9,
            value: -1,
        },
        Ranged::Rest {
            discriminator: -5,
            value: "rest".into(),
        },
    ] {
        survives(&value);
    }
    survives(&ByBool::No("no".into()));
    survives(&unions::HalfBool::Other {
        discriminator: true,
    });
    survives(&unions::DefaultBool::No {
        discriminator: false,
        value: "no".into(),
    });
    survives(&ByChar::Letter {
        discriminator: orbium::Char(b'z'),
        value: 5,
    });
    survives(&ByChar::None {
        discriminator: orbium::Char(b'y'),
        value: true,
    });
    survives(&ByEnum::Text {
        discriminator: Colour::Blue,
        value: "blue".into(),
    });
    survives(&ByEnum::Other {
        discriminator: Colour::Black,
    });
    survives(&unions::AllEnum::O(4));
    survives(&unions::DefaultEnum::Other {
        discriminator: Colour::Green,
        value: "green".into(),
    });
    survives(&unions::ByULongLong::Most(1));
    survives(&unions::Bounded::Wide("€".into()));
    survives(&unions::InPlace::Grid([1, 2]));
    survives(&unions::Named::Other(1));
    let leaf = unions::Recursive::Leaf(5);
    survives(&unions::Recursive::Branches(vec![leaf.clone(), leaf]));
}

/// Conformance: CDR - enumerators, discriminators
#[test]
fn a_discriminator_must_fit_its_variant() {
    let wrong = Err(CdrErrorKind::BadDiscriminator);
    assert_eq!(native(&ByLong::Other { discriminator: -2 }), wrong);
    assert_eq!(
        native(&Ranged::Few {
            discriminator: 4,
            value: 0
        }),
        wrong
    );
    assert_eq!(
        native(&Ranged::Rest {
            discriminator: 2,
            value: String::new()
        }),
        wrong
    );
    assert_eq!(
        native(&unions::HalfBool::Other {
            discriminator: false
        }),
        wrong
    );
    assert_eq!(
        native(&unions::DefaultBool::No {
            discriminator: true,
            value: String::new()
        }),
        wrong
    );
    assert_eq!(
        native(&ByChar::None {
            discriminator: orbium::Char(b'b'),
            value: true
        }),
        wrong
    );
    assert_eq!(
        native(&ByEnum::Other {
            discriminator: Colour::Green
        }),
        wrong
    );
}

/// Conformance: CDR - bounds, on both sides
#[test]
fn union_members_keep_their_bounds() {
    let text = unions::Bounded::Text("12345".into());
    assert_eq!(native(&text), Err(CdrErrorKind::BoundExceeded));
    let octets = unions::Bounded::Octets {
        discriminator: 9,
        value: vec![0; 9],
    };
    assert_eq!(native(&octets), Err(CdrErrorKind::BoundExceeded));
}

#[test]
fn constants_have_their_values() {
    use golden::constants as c;
    assert_eq!((c::AN_OCTET, c::A_SHORT, c::HEX), (255, -32768, u32::MAX));
    assert_eq!((c::LARGE, c::LARGEST), (i64::MIN, u64::MAX));
    assert!((c::RATIO - 0.1).abs() < f32::EPSILON);
    assert!((c::SUM - 1_234_567.0 / 3.0).abs() < 1e-9);
    assert_eq!(f64::from(c::EXTENDED).to_bits(), (-2.5f64).to_bits());
    assert_eq!(c::PRICE.to_string(), "12.5");
    assert_eq!(
        (c::NEWLINE, c::EURO),
        (orbium::Char(b'\n'), orbium::WChar(0x20AC))
    );
    assert_eq!(c::TEXT, "tab\tquote\"back\\slash$dollarAé");
    assert_eq!(c::WIDE, "wide €");
    assert_eq!(c::FAVOURITE, c::Colour::Green);
    assert_eq!((c::LIMIT, c::A_LOWER_CASE), (1_000_000, 1_999_999));
    assert_eq!(golden::AT_FILE_SCOPE, 7);
}

/// Conformance: TypeCode - insert, extract
#[test]
fn anys_hold_generated_types() {
    let point = Point { x: 1.0, y: 2.0 };
    let any = orbium::Any::new(&point).unwrap();
    assert_eq!(any.type_code().id(), "IDL:example.org/Types/Point:1.0");
    assert_eq!(any.extract::<Point>(), Ok(point));
    assert!(any.extract::<Steady>().is_err());
    let any = orbium::Any::new(&text()).unwrap();
    assert_eq!(any.extract::<Text>(), Ok(text()));
    survives(&any);
    let union = Ranged::Rest {
        discriminator: 42,
        value: "rest".into(),
    };
    assert_eq!(
        orbium::Any::new(&union).unwrap().extract::<Ranged>(),
        Ok(union)
    );
}

/// Conformance: TypeCode - TypeCodes of the compiler
#[test]
fn interfaces_have_the_name_that_idl_gave_them() {
    use golden::names_file::{clashes, r#type};
    use orbium::cdr::Typed;
    assert_eq!(r#type::Send::type_code().name(), "Send");
    // In Rust they are called otherwise.
    assert_eq!(clashes::FooBar_::type_code().name(), "FooBar");
    assert_eq!(clashes::Std::type_code().name(), "std");
    assert_eq!(clashes::Std::type_code().id(), "IDL:Clashes/std:1.0");
}

/// Conformance: TypeCode - TypeCodes of the compiler
#[test]
fn type_codes_of_recursive_types_come_back_as_they_went() {
    let code = orbium::TypeCode::from(&types::TREE_TYPE);
    let octets = native(&code).unwrap();
    let back: orbium::TypeCode = read(octets, 0, Format::native()).unwrap();
    assert!(back.equal(&code));
    assert_eq!(back.member(1).unwrap().name(), "branches");
}

#[test]
fn a_struct_with_everything_has_a_default() {
    let others = types::Others::default();
    assert_eq!(others.reference, None);
    survives(&others);
}

// Unions had no default, and so no struct of one had.
#[test]
fn unions_are_their_first_case_by_default() {
    use golden::unions::{ByEnum, ByLong, Paint, Ranged};
    assert_eq!(ByLong::default(), ByLong::O(0));
    let first = Ranged::Few {
        discriminator: 1,
        value: 0,
    };
    assert_eq!(Ranged::default(), first);
    survives(&Ranged::default());
    assert_eq!(ByEnum::default(), ByEnum::L(0));
    let _ = Paint::default();
}

// `?` led neither from an any nor from a value that cannot be read to the error
// of an operation, and nothing took a reference of unknown interface out.
#[test]
fn anys_are_read_where_operations_fail() {
    use orbium::{Any, ExceptionKind, ObjectRef, SystemException, cdr::AnyError};
    fn read(any: &Any) -> Result<i32, SystemException> {
        Ok(any.extract::<i32>()?)
    }
    assert_eq!(read(&Any::from(5i32)), Ok(5));
    let text = Any::from("five");
    assert_eq!(text.extract::<String>().unwrap(), "five");
    assert_eq!(read(&text).unwrap_err().kind, ExceptionKind::BadParam);
    let wrong = text.extract_object::<ObjectRef>();
    assert_eq!(wrong, Err(AnyError::TypeMismatch));
    let nil = Any::new(&None::<ObjectRef>).unwrap();
    assert_eq!(nil.extract_object::<ObjectRef>(), Ok(None));
    assert_eq!(nil.type_code().kind(), orbium::cdr::TCKind::ObjRef);
}

// An any was made of text by `try_from` only, for the sake of a NUL that `string`
// parameters report when they are written.
#[test]
fn anys_are_made_of_text_and_numbers() {
    use orbium::cdr::{CdrErrorKind, CdrWriter, Encode, Format};
    use orbium::{Any, cdr::CdrError};

    fn encoded(value: &impl Encode) -> Result<Vec<u8>, CdrError> {
        let mut writer = CdrWriter::new(Format::native());
        value.encode(&mut writer);
        writer.finish()
    }
    for text in [
        "",
        "five",
        "€ and Ž",
        "a longer one that is not held in place\n",
    ] {
        let any = Any::from(text);
        assert_eq!(any, Any::new(text).unwrap());
        assert_eq!(any, Any::from(text.to_owned()));
        assert_eq!(any.extract::<String>().unwrap(), text);
        assert_eq!(encoded(&any), encoded(&Any::new(text).unwrap()));
    }
    let wrong = Any::from("a\0b");
    let refused = encoded(&wrong).unwrap_err();
    assert_eq!(refused.kind, CdrErrorKind::BadString);
    assert_eq!(encoded(&"a\0b".to_owned()).unwrap_err().kind, refused.kind);
    // In other code sets and within other values too.
    let nested = Any::new(&wrong).unwrap_err();
    assert_eq!(nested.kind, CdrErrorKind::BadString);
    assert!(wrong.extract::<String>().is_err());
    assert!(format!("{wrong:?}").starts_with("Any(string: "));
    for (any, shown) in [
        (Any::from(true), "Any(boolean: true)"),
        (Any::from(-5i16), "Any(short: -5)"),
        (Any::from(2.5f64), "Any(double: 2.5)"),
    ] {
        assert_eq!(format!("{any:?}"), shown);
    }
}
