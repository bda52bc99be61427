// SPDX-License-Identifier: MIT OR Apache-2.0
//! Custom values, and what stands where abstract types are expected.

use std::sync::Arc;

use orbium_cdr::{
    ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode, Format, Owner, TCKind,
    Typed,
};
use orbium_value::{
    Abstract, CustomMarshal, DataInput, DataOutput, Facet, ValueBase, ValueOwner, ValueType,
    idl_abstract_value, idl_value,
};

use crate::{Point, PointState, Text, written_in};

idl_abstract_value! {
    /// What has a weight.
    pub struct Weighed: WEIGHED_TYPE = "IDL:Cap/Weighed:1.0", [] [Packed, Heavy];
}

idl_abstract_value! {
    /// What has a great weight.
    pub struct Heavy: HEAVY_TYPE = "IDL:Cap/Heavy:1.0", [Weighed] [Stone];
}

idl_value! {
    /// A stone.
    pub struct Stone(StoneState): STONE_TYPE = "IDL:Cap/Stone:1.0", Plain + [Heavy, Weighed], [] {
        public grams: i32,
    }
}

idl_value! {
    /// A custom value.
    pub struct Packed(PackedState): PACKED_TYPE = "IDL:Cap/Packed:1.0", Custom + [Weighed], [] {
        public bits: Vec<bool>,
        public inside: Option<Point> = &crate::POINT_TYPE,
    }
}

/// Eight booleans to the octet.
struct InBits;

impl CustomMarshal<Packed> for InBits {
    fn marshal(&self, this: &Packed, output: &mut DataOutput<'_, '_>) -> Result<(), CdrError> {
        let state = this.read();
        output.write_ulong(state.bits.len() as u32);
        for eight in state.bits.chunks(8) {
            let octet = eight
                .iter()
                .rev()
                .fold(0, |sum, bit| sum << 1 | u8::from(*bit));
            output.write_octet(octet);
        }
        output.write_wstring("w€");
        output.write_array(&[1i16, 2, 3]);
        output.write_value(state.inside.as_ref());
        output.write_double(0.5);
        Ok(())
    }

    fn unmarshal(&self, this: &Packed, input: &mut DataInput<'_, '_>) -> Result<(), CdrError> {
        let count = input.read_ulong()? as usize;
        if count > 1000 {
            return Err(input.error(CdrErrorKind::BoundExceeded));
        }
        let octets: Vec<u8> = input.read_array(count.div_ceil(8))?;
        let bits = (0..count).map(|at| octets[at / 8] >> (at % 8) & 1 == 1);
        let bits = bits.collect();
        assert_eq!(input.read_wstring()?, "w€");
        assert_eq!(input.read_array::<i16>(3)?, [1, 2, 3]);
        let inside = input.read_value()?;
        assert_eq!(input.read_double()?, 0.5);
        *this.write() = PackedState { bits, inside };
        Ok(())
    }
}

fn packed(bits: &[bool], inside: Option<Point>) -> Packed {
    let facet = Facet::of::<dyn CustomMarshal<Packed>>(Arc::new(InBits));
    let state = PackedState {
        bits: bits.to_vec(),
        inside,
    };
    Packed::wrap(ValueBase::with_facets(Packed::class(), state, vec![facet]))
}

fn known() -> Owner {
    let owner: Owner = Arc::new(ValueOwner::new(()));
    let factories = ValueOwner::factories(&owner).unwrap();
    factories.register(|| packed(&[], None));
    factories.register_type::<Text>();
    factories.register_type::<Stone>();
    owner
}

fn read_by<T: Decode>(owner: &Owner, octets: &[u8], format: Format) -> Result<T, CdrErrorKind> {
    let mut octets = octets.to_vec();
    let mut reader = CdrReader::new(&mut octets, format).with_owner(Some(owner));
    let read = T::decode(&mut reader).map_err(|error| error.kind)?;
    assert_eq!(reader.remaining(), 0);
    Ok(read)
}

const BITS: [bool; 11] = [
    true, false, true, true, false, false, false, true, false, true, true,
];

/// Conformance: CDR - values: custom
#[test]
fn custom_values_are_marshalled_by_the_program() {
    let owner = known();
    let point = Point::new(PointState { x: 1, y: 2 });
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let format = Format::native().with_order(order);
        // The second shares the value within the first.
        let first = packed(&BITS, Some(point.clone()));
        let both = (Some(first), Some(point.clone()));
        let mut writer = CdrWriter::new(format);
        both.0.encode(&mut writer);
        both.1.encode(&mut writer);
        let mut octets = writer.finish().unwrap();
        let mut reader = CdrReader::new(&mut octets, format).with_owner(Some(&owner));
        let got = Option::<Packed>::decode(&mut reader).unwrap().unwrap();
        let shared = Option::<Point>::decode(&mut reader).unwrap();
        assert_eq!(reader.remaining(), 0);
        assert_eq!(got.read().bits, BITS);
        assert_eq!(got.read().inside, shared);
        assert_eq!(*shared.unwrap().read(), *point.read());
    }
}

idl_value! {
    /// A value with a custom one behind a plain one.
    pub struct Pair(PairState): PAIR_TYPE = "IDL:Cap/Pair:1.0", Plain, [] {
        public plain: Option<Point> = &crate::POINT_TYPE,
        public custom: Option<Packed> = &PACKED_TYPE,
    }
}

/// Writes the plain value of a pair instead of its own.
struct Reaching(Pair);

impl CustomMarshal<Packed> for Reaching {
    fn marshal(&self, _: &Packed, output: &mut DataOutput<'_, '_>) -> Result<(), CdrError> {
        let plain = self.0.read().plain.clone();
        output.write_value(plain.as_ref());
        Ok(())
    }

    fn unmarshal(&self, this: &Packed, input: &mut DataInput<'_, '_>) -> Result<(), CdrError> {
        let inside = input.read_value()?;
        let bits = Vec::new();
        *this.write() = PackedState { bits, inside };
        Ok(())
    }
}

fn reaching(pair: &Pair) -> Packed {
    let facet = Facet::of::<dyn CustomMarshal<Packed>>(Arc::new(Reaching(pair.clone())));
    let state = PackedState::default();
    Packed::wrap(ValueBase::with_facets(Packed::class(), state, vec![facet]))
}

/// Nothing but the state of the pair holds the plain value when it is written.
///
/// Conformance: CDR - values: custom
#[test]
fn a_value_that_a_custom_one_comes_by_is_written_once() {
    let pair = Pair::new(PairState::default());
    pair.write().plain = Some(Point::new(PointState { x: 1, y: 2 }));
    pair.write().custom = Some(reaching(&pair));
    let octets = written_in(&Some(pair.clone()), Format::native());

    let owner: Owner = Arc::new(ValueOwner::new(()));
    let unused = Pair::new(PairState::default());
    let factories = ValueOwner::factories(&owner).unwrap();
    factories.register(move || reaching(&unused));
    let got: Option<Pair> = read_by(&owner, &octets, Format::native()).unwrap();
    let got = got.unwrap();
    assert_eq!(got.read().plain.as_ref().unwrap().read().y, 2);
    let custom = got.read().custom.clone().unwrap();
    assert_eq!(custom.read().inside, got.read().plain);
    pair.unlink();
}

/// They always have an id and chunks.
///
/// Conformance: CDR - values: custom
#[test]
fn custom_values_are_written_in_chunks() {
    let octets = written_in(&Some(packed(&[true], None)), Format::native());
    let tag = u32::from_ne_bytes(octets[..4].try_into().unwrap());
    assert_eq!(tag, 0x7fff_ff0a);
}

/// JacORB 3.9 writes custom values without chunks.
///
/// Conformance: CDR - values: custom
#[test]
fn custom_values_without_chunks_are_read() {
    let mut writer = CdrWriter::new(Format::native());
    writer.write_u32(0x7fff_ff02);
    writer.write_name("IDL:Cap/Packed:1.0");
    writer.write_u32(1);
    writer.write_u8(1);
    writer.write_wstr("w€");
    for short in [1, 2, 3] {
        writer.write_u16(short);
    }
    writer.write_u32(0);
    writer.write_u64(0.5f64.to_bits());
    let octets = writer.finish().unwrap();
    let got: Option<Packed> = read_by(&known(), &octets, Format::native()).unwrap();
    assert_eq!(got.unwrap().read().bits, [true]);
}

/// Conformance: CDR - values: custom
#[test]
fn a_custom_value_ends_at_its_end() {
    let cut = |state: &dyn Fn(&mut CdrWriter<'_>)| {
        let mut writer = CdrWriter::new(Format::native());
        writer.write_u32(0x7fff_ff0a);
        writer.write_name("IDL:Cap/Packed:1.0");
        state(&mut writer);
        writer.write_u32(u32::MAX);
        // What follows is none of it.
        writer.write_u64(u64::MAX);
        writer.finish().unwrap()
    };
    let short = cut(&|writer| {
        writer.write_u32(5);
        writer.write_u32(3);
        writer.write_u8(7);
    });
    let read = read_by::<Option<Packed>>(&known(), &short, Format::native());
    assert_eq!(read, Err(CdrErrorKind::BeyondState));
    let bad = cut(&|writer| {
        writer.write_u32(4);
        writer.write_u32(1001);
    });
    let read = read_by::<Option<Packed>>(&known(), &bad, Format::native());
    assert_eq!(
        read,
        Err(CdrErrorKind::BoundExceeded),
        "what the program says"
    );
}

/// Conformance: CDR - values: custom
#[test]
fn a_custom_value_without_its_marshalling_is_an_error() {
    let bare = Some(Packed::new(PackedState::default()));
    let mut writer = CdrWriter::new(Format::native());
    bare.encode(&mut writer);
    let error = writer.finish().unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::UnknownValue);
    let octets = written_in(&Some(packed(&[true], None)), Format::native());
    let without: Owner = Arc::new(ValueOwner::new(()));
    let read = read_by::<Option<Packed>>(&without, &octets, Format::native());
    assert_eq!(read, Err(CdrErrorKind::UnknownValue));
}

/// Conformance: CDR - values: abstract
#[test]
fn abstract_value_types_take_what_inherits_them() {
    let owner = known();
    let stone = Stone::new(StoneState { grams: 900 });
    let given = Some(Weighed::from(stone));
    let octets = written_in(&given, Format::native());
    // Types of the same file are known without a factory.
    let without: Owner = Arc::new(ValueOwner::new(()));
    for owner in [&owner, &without] {
        let got: Option<Weighed> = read_by(owner, &octets, Format::native()).unwrap();
        let got = got.unwrap();
        assert_eq!(got.downcast::<Stone>().unwrap().read().grams, 900);
        assert!(got.downcast::<Heavy>().is_some());
        assert_eq!(got.downcast::<Packed>(), None);
    }
    let point = written_in(&Some(Point::new(PointState::default())), Format::native());
    let read = read_by::<Option<Weighed>>(&without, &point, Format::native());
    assert_eq!(read, Err(CdrErrorKind::UnknownValue));
    let mut writer = CdrWriter::new(Format::native());
    writer.write_u32(0x7fff_ff00);
    let anonymous = writer.finish().unwrap();
    let read = read_by::<Option<Weighed>>(&owner, &anonymous, Format::native());
    assert_eq!(read, Err(CdrErrorKind::BadValue), "there is no value of it");
    assert_eq!(Weighed::type_code().kind(), TCKind::Value);
    assert_eq!(Weighed::type_code().as_ref().value_modifier(), 2);
    assert_eq!(Packed::type_code().as_ref().value_modifier(), 1);
}

/// A reference, as far as this crate is concerned: nil is empty.
#[derive(Clone, Debug, PartialEq)]
struct Named(String);

impl orbium_cdr::EncodeNillable for Named {
    fn encode_nillable<'a>(value: Option<&'a Self>, writer: &mut CdrWriter<'a>) {
        writer.write_name(value.map_or("", |named| &named.0));
    }
}

impl orbium_cdr::DecodeNillable for Named {
    const MIN_SIZE: usize = 4;
    fn decode_nillable(reader: &mut CdrReader<'_>) -> Result<Option<Self>, CdrError> {
        let name = String::decode(reader)?;
        Ok((!name.is_empty()).then_some(Self(name)))
    }
}

type Item = Option<Abstract<Named>>;

/// Conformance: CDR - abstract interfaces: an object or a value
#[test]
fn an_abstract_interface_takes_objects_and_values() {
    let owner = known();
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let format = Format::native().with_order(order);
        let object: Item = Some(Abstract::Object(Named("here".to_owned())));
        let octets = written_in(&object, format);
        assert_eq!(octets[0], 1);
        assert_eq!(read_by::<Item>(&owner, &octets, format).unwrap(), object);

        let stone = Stone::new(StoneState { grams: 4 });
        let value: Item = Some(Abstract::of_value(&stone));
        let octets = written_in(&value, format);
        assert_eq!(octets[0], 0);
        let got: Item = read_by(&owner, &octets, format).unwrap();
        let got: Stone = got.unwrap().value().unwrap();
        assert_eq!(*got.read(), *stone.read());

        let nil: Item = None;
        let octets = written_in(&nil, format);
        assert_eq!(octets, [0; 8]);
        assert_eq!(read_by::<Item>(&owner, &octets, format).unwrap(), None);
        // So TAO has it.
        let octets = written_in(&NilReference, format);
        assert_eq!(read_by::<Item>(&owner, &octets, format).unwrap(), None);
    }
}

struct NilReference;

impl Encode for NilReference {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        writer.write_bool(true);
        writer.write_name("");
    }
}
