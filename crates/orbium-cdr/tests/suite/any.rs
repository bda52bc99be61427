// SPDX-License-Identifier: MIT OR Apache-2.0
//! An any keeps what it was given, says what it is, and passes it on in
//! whatever form the receiver reads.
use std::sync::Arc;

use orbium_cdr::{
    Any, AnyError, ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, Char, CharSet, Decode,
    Encode, Fixed, Format, LongDouble, Member, Owner, Type, TypeCode, Typed, WChar,
};

#[derive(Clone, Debug, PartialEq)]
struct Reading {
    level: i16,
    unit: String,
    at: f64,
}

static READING: Type = Type::structure(
    "IDL:Lab/Reading:1.0",
    "Reading",
    &[
        Member::new("level", Type::SHORT),
        Member::new("unit", Type::STRING),
        Member::new("at", Type::DOUBLE),
    ],
);

impl Typed for Reading {
    const TYPE: &'static Type = &READING;
}

impl Encode for Reading {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.level.encode(writer);
        self.unit.encode(writer);
        self.at.encode(writer);
    }
}

impl Decode for Reading {
    const MIN_SIZE: usize = 14;
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            level: Decode::decode(reader)?,
            unit: Decode::decode(reader)?,
            at: Decode::decode(reader)?,
        })
    }
}

/// An exception: encoded as its members, as all are.
#[derive(Debug, PartialEq)]
struct TooBig {
    limit: i32,
}

static TOO_BIG: Type = Type::exception(
    "IDL:TooBig:1.0",
    "TooBig",
    &[Member::new("limit", Type::LONG)],
);

impl Typed for TooBig {
    const TYPE: &'static Type = &TOO_BIG;
}

impl Encode for TooBig {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.limit.encode(writer);
    }
}

impl Decode for TooBig {
    const MIN_SIZE: usize = 4;
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let limit = reader.read_fixed()?;
        Ok(Self { limit })
    }
}

fn reading() -> Reading {
    Reading {
        level: -3,
        unit: "µV".to_owned(),
        at: 0.25,
    }
}

fn formats() -> Vec<Format> {
    let mut formats = Vec::new();
    for order in [ByteOrder::Big, ByteOrder::Little] {
        for minor in [1, 2] {
            for char_set in [CharSet::Utf8, CharSet::Utf8AndLatin1Char, CharSet::Latin1] {
                formats.push(Format {
                    order,
                    minor,
                    char_set,
                    ..Format::native()
                });
            }
        }
    }
    formats
}

fn encode_at<T: Encode>(value: &T, phase: usize, format: Format) -> Result<Vec<u8>, CdrErrorKind> {
    let mut writer = CdrWriter::new(format);
    writer.write_raw(&[0xEE; 8][..phase]);
    value.encode(&mut writer);
    writer.finish().map_err(|error| error.kind)
}

fn decode_at<T: Decode>(octets: &[u8], phase: usize, format: Format) -> Result<T, CdrErrorKind> {
    let mut octets = octets[phase..].to_vec();
    let mut reader = CdrReader::at(&mut octets, phase, format);
    let value = T::decode(&mut reader).map_err(|error| error.kind)?;
    assert_eq!(reader.remaining(), 0);
    Ok(value)
}

/// Through every format at every phase.
fn survives(any: &Any) {
    for format in formats() {
        for phase in 0..8 {
            let octets = encode_at(any, phase, format).expect("the value fits the format");
            let read: Any = decode_at(&octets, phase, format).expect("what was written");
            assert_eq!(&read, any);
            assert_eq!(read.value_octets(), any.value_octets());
            assert_eq!(encode_at(&read, phase, format).as_deref(), Ok(&octets[..]));
        }
    }
}

fn holds<T: Typed + Encode + Decode + PartialEq + std::fmt::Debug>(value: &T) {
    let any = Any::new(value).expect("the value can be written");
    assert!(any.is::<T>());
    assert_eq!(any.extract::<T>().as_ref(), Ok(value));
    survives(&any);
}

/// Conformance: TypeCode - insert, extract
#[test]
fn typed_values_go_in_and_come_out() {
    holds(&true);
    holds(&7u8);
    holds(&-7i16);
    holds(&7u16);
    holds(&-7i32);
    holds(&7u32);
    holds(&i64::MIN);
    holds(&u64::MAX);
    holds(&1.5f32);
    holds(&-2.5f64);
    holds(&LongDouble::from(1e300));
    holds(&Char(b'c'));
    holds(&WChar(0x20AC));
    holds(&"naïve".to_owned());
    holds(&vec!["a".to_owned(), String::new()]);
    holds(&vec![1.5f64, -0.0]);
    holds(&[[1u16, 2, 3], [4, 5, 6]]);
    holds(&vec![0xABu8; 1000]);
    holds(&"-12.34".parse::<Fixed<4, 2>>().expect("a decimal"));
    holds(&TypeCode::from(&READING));
    holds(&Any::from(5i32));
    holds(&vec![
        Any::from(5i32),
        Any::default(),
        Any::new(&reading()).expect("a struct"),
    ]);
    holds(&reading());
    holds(&vec![reading(), reading()]);
}

#[test]
fn a_value_encodes_the_same_whether_copied_or_walked() {
    for phase in 0..8 {
        let any = Any::new(&vec![1.5f64, 2.5]).expect("a sequence");
        let mut parts = CdrWriter::new(Format::native());
        parts.write_raw(&[0xEE; 8][..phase]);
        any.type_code().encode(&mut parts);
        let value = vec![1.5f64, 2.5];
        value.encode(&mut parts);
        assert_eq!(
            encode_at(&any, phase, Format::native()),
            Ok(parts.finish().expect("parts"))
        );
    }
}

#[test]
fn a_large_value_is_gathered() {
    let any = Any::new(&vec![1u8; 100_000]).expect("a sequence");
    let mut writer = CdrWriter::reuse(Vec::new(), Format::native());
    any.encode(&mut writer);
    assert!(writer.is_gathered());
    let octets = writer.finish().expect("the any can be written");
    assert_eq!(decode_at::<Any>(&octets, 0, Format::native()), Ok(any));
}

#[test]
fn an_empty_any_is_of_type_null() {
    let any = Any::default();
    assert_eq!(any.type_code().kind(), orbium_cdr::TCKind::Null);
    assert_eq!(encode_at(&any, 0, Format::native()), Ok(vec![0; 4]));
    assert_eq!(any.extract::<i32>(), Err(AnyError::TypeMismatch));
    assert_eq!(format!("{any:?}"), "Any(null)");
    survives(&any);
}

/// Conformance: TypeCode - insert, extract
#[test]
fn another_type_is_distinguished_from_a_broken_value() {
    let any = Any::new("text").expect("a string");
    assert_eq!(any.extract::<i32>(), Err(AnyError::TypeMismatch));
    assert_eq!(any.extract_wstring(), Err(AnyError::TypeMismatch));
    let broken = Any::with_type(&READING, &7i16).expect("nobody looks yet");
    assert!(matches!(
        broken.extract::<Reading>(),
        Err(AnyError::Marshal(CdrError {
            kind: CdrErrorKind::Truncated,
            ..
        }))
    ));
    assert_eq!(
        encode_at(&broken, 0, Format::native()),
        Err(CdrErrorKind::Truncated)
    );
    assert!(format!("{broken:?}").contains("the data ends before the value does"));
}

/// Conformance: TypeCode - insert, extract
#[test]
fn aliases_are_looked_through() {
    let volts = TypeCode::alias("IDL:Volts:1.0", "Volts", TypeCode::from(Type::DOUBLE));
    let any = Any::with_type(volts, &1.5f64).expect("a double");
    assert_eq!(any.extract::<f64>(), Ok(1.5));
    assert_eq!(format!("{any:?}"), "Any(Volts: 1.5)");
    survives(&any);
}

#[test]
fn wide_strings_are_of_their_own_type() {
    let any = Any::from_wstring("Ω 𝄞").expect("wide text");
    assert_eq!(any.extract_wstring().as_deref(), Ok("Ω 𝄞"));
    assert_eq!(any.extract::<String>(), Err(AnyError::TypeMismatch));
    survives(&any);
}

/// Conformance: TypeCode - exceptions in anys
#[test]
fn an_exception_is_its_id_and_then_its_members() {
    let any = Any::new(&TooBig { limit: 9 }).expect("an exception");
    let big = Format::native().with_order(ByteOrder::Big);
    let mut writer = CdrWriter::new(big);
    any.write_value(&mut writer);
    let octets = writer.finish().expect("the value can be written");
    assert_eq!(octets, b"\0\0\0\x0FIDL:TooBig:1.0\0\0\0\0\0\x09");
    assert_eq!(any.extract::<TooBig>(), Ok(TooBig { limit: 9 }));
    assert_eq!(format!("{any:?}"), "Any(TooBig: { limit: 9 })");
    survives(&any);
}

#[test]
fn a_char_beyond_ascii_is_kept_and_sent_where_it_can_be() {
    for any in [
        Any::from(Char(0xE9)),
        Any::new(&Char(0xE9)).expect("an any holds every char"),
    ] {
        assert_eq!(any.extract::<Char>(), Ok(Char(0xE9)));
        let latin1 = Format::plain(ByteOrder::NATIVE, 2);
        let octets = encode_at(&any, 0, latin1).expect("ISO 8859-1 has it");
        assert_eq!(decode_at::<Any>(&octets, 0, latin1), Ok(any.clone()));
        let utf8 = encode_at(&any, 0, Format::native());
        assert_eq!(utf8, Err(CdrErrorKind::CannotConvert));
    }
}

/// Conformance: TypeCode - unknown types kept and passed on
#[test]
fn text_is_converted_to_the_code_set_of_the_receiver() {
    let any = Any::new("naïve").expect("text");
    let latin1 = Format::plain(ByteOrder::Big, 0);
    let octets = encode_at(&any, 0, latin1).expect("ISO 8859-1 has it");
    assert_eq!(octets, b"\0\0\0\x12\0\0\0\0\0\0\0\x06na\xEFve\0");
    assert_eq!(decode_at::<Any>(&octets, 0, latin1), Ok(any));
    let greek = Any::new("Ω").expect("text");
    assert_eq!(
        encode_at(&greek, 0, latin1),
        Err(CdrErrorKind::CannotConvert)
    );
}

#[test]
fn values_that_cannot_be_written_make_no_any() {
    let nul = Any::new("a\0b").map_err(|error| error.kind);
    assert_eq!(nul, Err(CdrErrorKind::BadString));
}

/// No owner of the reader knows their types.
///
/// Conformance: CDR - value types in anys - of unknown types: MARSHAL, minor code 1
#[test]
fn value_types_are_refused() {
    let value = TypeCode::from(const { &Type::value_box("IDL:Box:1.0", "Box", Type::LONG) });
    let mut writer = CdrWriter::new(Format::native());
    value.encode(&mut writer);
    writer.write_u32(0);
    let octets = writer.finish().expect("a null value");
    let read = decode_at::<Any>(&octets, 0, Format::native());
    assert_eq!(read, Err(CdrErrorKind::NotSupported));
}

/// Conformance: TypeCode - nesting without end
#[test]
fn anys_do_not_nest_without_end() {
    let mut writer = CdrWriter::new(Format::native());
    for _ in 0..100_000 {
        writer.write_u32(11);
    }
    let octets = writer.finish().expect("anys in anys");
    let read = decode_at::<Any>(&octets, 0, Format::native());
    assert_eq!(read, Err(CdrErrorKind::TooDeep));
}

#[test]
fn the_owner_of_the_reader_is_there_when_the_value_is_taken_out() {
    let owner: Owner = Arc::new("the ORB");
    let mut octets = encode_at(&Any::from(1i32), 0, Format::native()).expect("a long");
    let mut reader = CdrReader::new(&mut octets, Format::native()).with_owner(Some(&owner));
    let any = Any::decode(&mut reader).expect("a long");
    let seen = any.read_with(|reader| {
        Ok(reader
            .owner()
            .and_then(|owner| owner.downcast_ref::<&str>().copied()))
    });
    assert_eq!(seen, Ok(Some("the ORB")));
}

/// A reference, as far as this crate is concerned.
struct Owned(Owner);

impl Typed for Owned {
    const TYPE: &'static Type = Type::LONG;
}

impl Encode for Owned {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        writer.note_owner(&self.0);
        writer.write_u32(7);
    }
}

fn owner_in(any: &Any) -> Option<&'static str> {
    let seen = any.read_with(|reader| {
        let owner = reader.owner();
        Ok(owner.and_then(|owner| owner.downcast_ref::<&str>().copied()))
    });
    seen.expect("a value")
}

#[test]
fn the_owner_of_a_reference_is_there_when_the_value_is_taken_out() {
    let owned = |name: &'static str| Owned(Arc::new(name));
    let any = Any::new(&owned("one")).expect("a long");
    assert_eq!(owner_in(&any), Some("one"));
    let several = Any::with_type(
        TypeCode::sequence(TypeCode::from(Type::LONG), 0),
        &vec![owned("first"), owned("second")],
    );
    assert_eq!(owner_in(&several.expect("longs")), Some("first"));
    // In an any in an any, too.
    assert_eq!(owner_in(&Any::new(&any).expect("an any")), Some("one"));
    assert_eq!(owner_in(&Any::new(&1i32).expect("a long")), None);
    // A message has no owner to note, nor what is encapsulated in it.
    let one = owned("one");
    let mut writer = CdrWriter::reuse(Vec::new(), Format::native());
    writer.encapsulation(|writer| one.encode(writer));
    one.encode(&mut writer);
    assert!(writer.error().is_none());
}

/// Conformance: TypeCode - unknown types kept and passed on
#[test]
fn values_of_unknown_types_are_readable() {
    let any = Any::new(&vec![reading()]).expect("a sequence");
    assert_eq!(
        format!("{any:?}"),
        "Any(sequence<Reading>: [{ level: -3, unit: \"µV\", at: 0.25 }])"
    );
    let nested = Any::new(&vec![Any::from(true), Any::from(WChar(0xD800))]).expect("anys");
    assert_eq!(
        format!("{nested:?}"),
        "Any(sequence<any>: [Any(boolean: true), Any(wchar: '\\u{d800}')])"
    );
    let long = Any::new(&vec![0u8; 1000]).expect("octets");
    assert!(format!("{long:?}").ends_with("0, … 936 more])"));
}

#[test]
fn anys_are_equal_by_type_and_value() {
    let sequence = TypeCode::sequence(TypeCode::from(Type::LONG), 0);
    let built = Any::with_type(sequence, &vec![1i32]).expect("a sequence");
    assert_eq!(built, Any::new(&vec![1i32]).expect("a sequence"));
    assert_ne!(Any::from(1i32), Any::from(1u32));
    assert_ne!(Any::from(1i32), Any::from(2i32));
}
