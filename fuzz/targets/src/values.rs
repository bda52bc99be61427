// SPDX-License-Identifier: MIT OR Apache-2.0
//! Target `values`: the type and the byte order in one octet, then values of one message.

use std::sync::Arc;

use orbium_cdr::{
    Any, ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, Decode, DecodeNillable, Encode,
    Format, Owner,
};
use orbium_value::{
    Abstract, CustomMarshal, DataInput, DataOutput, Facet, Linked, ValueBase, ValueOwner,
    ValueType, idl_value,
};

use crate::types::kitchen::{BoxedText, Chain, Labelled, Point};

idl_value! {
    /// A custom value: anys and values, as many as its state says.
    pub struct Packed(PackedState): PACKED_TYPE = "IDL:Packed:1.0", Custom, [] {
        public anys: Vec<Any>,
        public next: Option<Packed> = &PACKED_TYPE,
    }
}

struct Anys;

impl CustomMarshal<Packed> for Anys {
    fn marshal(&self, this: &Packed, output: &mut DataOutput<'_, '_>) -> Result<(), CdrError> {
        let state = this.read();
        output.write_value(state.next.as_ref());
        output.write(&state.anys);
        Ok(())
    }

    fn unmarshal(&self, this: &Packed, input: &mut DataInput<'_, '_>) -> Result<(), CdrError> {
        let next = input.read_value()?;
        let anys: Vec<Any> = input.read()?;
        if anys.len() > 100 {
            return Err(input.error(CdrErrorKind::BoundExceeded));
        }
        *this.write() = PackedState { anys, next };
        Ok(())
    }
}

fn packed() -> Packed {
    let facets = vec![Facet::of::<dyn CustomMarshal<Packed>>(Arc::new(Anys))];
    let state = PackedState::default();
    Packed::wrap(ValueBase::with_facets(Packed::class(), state, facets))
}

fn owner() -> Owner {
    let owner: Owner = Arc::new(ValueOwner::new(()));
    if let Some(factories) = ValueOwner::factories(&owner) {
        factories.register_type::<Point>();
        factories.register_type::<Labelled>();
        factories.register_type::<Chain>();
        factories.register_type::<BoxedText>();
        factories.register(packed);
    }
    owner
}

/// Values of `idl/kitchen.idl` are read or refused. What is read is written, to octets that are
/// read again and written alike: sharing, cycles and types are the same.
///
/// # Panics
/// If one of these laws is broken.
pub fn values(input: &[u8]) {
    let Some((kind, octets)) = input.split_first() else {
        return;
    };
    let order = ByteOrder::from_flag(kind & 1);
    match (kind >> 1) % 7 {
        0 => graph::<Point>(octets, order),
        1 => graph::<Chain>(octets, order),
        2 => graph::<BoxedText>(octets, order),
        3 => graph::<Packed>(octets, order),
        // An any of values is written with what it shares with others as values of its own,
        // which makes it longer than what was read.
        4 => drop(read::<Any>(octets, Format::native().with_order(order))),
        5 => described(octets, order),
        _ => {
            let values = message::<Option<Abstract<Chain>>>(octets, order);
            for value in values.into_iter().flatten() {
                match value {
                    Abstract::Object(chain) => chain.unlink(),
                    Abstract::Value(value) => value.unlink(),
                }
            }
        }
    }
}

/// An any of values that are known by its TypeCode alone: taken apart and put together it is
/// the same.
fn described(octets: &[u8], order: ByteOrder) {
    let owner: Owner = Arc::new(ValueOwner::new(()));
    let mut octets = octets.to_vec();
    let format = Format::native().with_order(order);
    let mut reader = CdrReader::new(&mut octets, format).with_owner(Some(&owner));
    let Ok(any) = Any::decode(&mut reader) else {
        return;
    };
    let data = Linked::new(&any).expect("it was read before");
    let again = data.to_any().expect("it was written before");
    assert_eq!(again.value_octets(), any.value_octets());
    data.reachable().iter().for_each(ValueBase::clear_state);
}

fn graph<T: ValueType + DecodeNillable>(octets: &[u8], order: ByteOrder)
where
    Option<T>: Encode,
{
    for value in message::<Option<T>>(octets, order).iter().flatten() {
        ValueBase::unlink(value.as_value());
    }
}

fn message<T: Decode + Encode>(octets: &[u8], order: ByteOrder) -> Vec<T> {
    let format = Format::native().with_order(order);
    let mut read = read::<T>(octets, format);
    let first = written(&read, format);
    let mut again = self::read::<T>(&first, format);
    assert_eq!(again.len(), read.len());
    assert_eq!(written(&again, format), first);
    read.append(&mut again);
    read
}

/// The values up to the first that is none.
fn read<T: Decode>(octets: &[u8], format: Format) -> Vec<T> {
    let owner = owner();
    let mut octets = octets.to_vec();
    let mut reader = CdrReader::new(&mut octets, format).with_owner(Some(&owner));
    let mut values = Vec::new();
    while reader.remaining() > 0 {
        match T::decode(&mut reader) {
            Ok(value) => values.push(value),
            Err(_) => break,
        }
    }
    values
}

fn written<T: Encode>(values: &[T], format: Format) -> Vec<u8> {
    let mut writer = CdrWriter::new(format);
    for value in values {
        value.encode(&mut writer);
    }
    writer.finish().expect("what was read can be written")
}
