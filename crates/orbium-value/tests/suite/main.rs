// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values on the wire, as one program.

mod captured;
mod chunks;
mod customs;
mod described;
mod described_base;
mod graphs;
mod hostile;
mod in_anys;
mod natural;

use orbium_cdr::{ByteOrder, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode, Format};
use orbium_value::{idl_value, idl_value_box};

idl_value! {
    /// As in `captured.rs`.
    pub struct Point(PointState): POINT_TYPE = "IDL:Cap/Point:1.0", Plain, [Labelled] {
        public x: i32,
        public y: i32,
    }
}

idl_value! {
    /// As in `captured.rs`.
    pub struct Labelled(LabelledState): LABELLED_TYPE = "IDL:Cap/Labelled:1.0", Truncatable,
    base: Point[PointState] = POINT_TYPE, [Finer] {
        public text: String,
        private hidden: i32,
    }
}

idl_value! {
    /// As in `captured.rs`.
    pub struct Finer(FinerState): FINER_TYPE = "IDL:Cap/Finer:1.0", Truncatable,
    base: Labelled[LabelledState] = LABELLED_TYPE, [] {
        public more: i16,
        public other: Option<Point> = &POINT_TYPE,
    }
}

idl_value! {
    /// As in `captured.rs`.
    pub struct Chain(ChainState): CHAIN_TYPE = "IDL:Cap/Chain:1.0", Plain, [] {
        public next: Option<Chain> = &CHAIN_TYPE,
        public v: i32,
    }
}

idl_value_box! {
    /// As in `captured.rs`.
    pub struct Text(TextState): TEXT_TYPE = "IDL:Cap/Text:1.0", String;
}

/// A receiver that knows `Point` alone: the same repository ids, nothing derived.
mod narrow {
    use orbium_value::idl_value;

    idl_value! {
        /// A point, of which nothing derived is known.
        pub struct Point(PointState): POINT_TYPE = "IDL:Cap/Point:1.0", Plain, [] {
            public x: i32,
            public y: i32,
        }
    }
}

fn labelled(x: i32, y: i32, text: &str, hidden: i32) -> Labelled {
    Labelled::new(LabelledState {
        base: PointState { x, y },
        text: text.to_owned(),
        hidden,
    })
}

fn finer(x: i32, other: Option<Point>) -> Finer {
    Finer::new(FinerState {
        base: LabelledState {
            base: PointState { x, y: 7 },
            text: "de".to_owned(),
            hidden: 8,
        },
        more: 9,
        other,
    })
}

fn written(value: &impl Encode) -> Vec<u8> {
    written_in(value, Format::native())
}

fn written_in(value: &impl Encode, format: Format) -> Vec<u8> {
    let mut writer = CdrWriter::new(format);
    value.encode(&mut writer);
    writer.finish().unwrap()
}

/// Reads all of it.
fn read<T: Decode>(octets: &[u8], order: ByteOrder) -> Result<T, CdrErrorKind> {
    let mut octets = octets.to_vec();
    let mut reader = CdrReader::new(&mut octets, Format::native().with_order(order));
    let value = T::decode(&mut reader).map_err(|error| error.kind)?;
    assert_eq!(reader.remaining(), 0);
    Ok(value)
}

fn read_native<T: Decode>(octets: &[u8]) -> Result<T, CdrErrorKind> {
    read(octets, ByteOrder::NATIVE)
}

/// Several values of one message.
#[derive(Debug)]
struct Many<T>(Vec<T>);

impl<T: Encode> Encode for Many<T> {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        for item in &self.0 {
            item.encode(writer);
        }
    }
}

impl<T: Decode> Decode for Many<T> {
    const MIN_SIZE: usize = 0;
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, orbium_cdr::CdrError> {
        let mut items = Vec::new();
        while reader.remaining() > 0 {
            items.push(T::decode(reader)?);
        }
        Ok(Self(items))
    }
}
