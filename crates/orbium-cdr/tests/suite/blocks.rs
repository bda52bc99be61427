// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elements of fixed size that the interpreter takes as a block: the same as member by member.
use orbium_cdr::{
    Block, ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, CharSet, Format, Group, Leaf,
    Member, Type, TypeCode, Visitor, copy_value, skip_value, walk_value,
};
use proptest::prelude::*;

static SWITCH: Type = Type::enumeration(
    "IDL:Switch:1.0",
    "Switch",
    &[Member::enumerator("off"), Member::enumerator("on")],
);

/// Types of fixed size, with arrays too short for a block of their own.
fn fixed_type() -> impl Strategy<Value = TypeCode> {
    let primitives: Vec<&'static Type> = vec![
        Type::BOOLEAN,
        Type::OCTET,
        Type::CHAR,
        Type::SHORT,
        Type::ULONG,
        Type::FLOAT,
        Type::DOUBLE,
        Type::LONGLONG,
        Type::LONGDOUBLE,
        &SWITCH,
    ];
    let primitive = proptest::sample::select(primitives).prop_map(TypeCode::from);
    primitive.prop_recursive(3, 16, 5, |inner| {
        let members = proptest::collection::vec(inner.clone(), 1..5);
        prop_oneof![
            (inner.clone(), 1u32..4).prop_map(|(code, length)| TypeCode::array(code, length)),
            inner.prop_map(|code| TypeCode::alias("IDL:A:1.0", "A", code)),
            members.prop_map(|codes| structure(&codes)),
        ]
    })
}

fn structure(codes: &[TypeCode]) -> TypeCode {
    let members = codes.iter().map(|code| ("m", code.clone()));
    TypeCode::structure("IDL:S:1.0", "S", members)
}

fn format(is_big: bool, char_set: CharSet) -> Format {
    let order = if is_big {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    };
    Format {
        char_set,
        ..Format::native().with_order(order)
    }
}

/// What a copy of `read` leaves, from one phase to another.
fn copied(
    octets: &[u8],
    from: (Format, usize),
    to: (Format, usize),
    read: impl Fn(&mut CdrReader<'_>, &mut CdrWriter<'_>) -> Result<(), CdrError>,
) -> Result<(Vec<u8>, usize), CdrErrorKind> {
    let mut octets = octets.to_vec();
    let mut reader = CdrReader::at(&mut octets, from.1, from.0);
    let mut writer = CdrWriter::new(to.0);
    writer.write_raw(&[0; 8][..to.1]);
    read(&mut reader, &mut writer).map_err(|error| error.kind)?;
    let left = reader.remaining();
    writer
        .finish()
        .map(|written| (written, left))
        .map_err(|error| error.kind)
}

/// Octets of which most are zero, so that most enumerators exist.
fn octets() -> impl Strategy<Value = Vec<u8>> {
    let octet = prop_oneof![20 => Just(0u8), 2 => Just(1u8), 1 => any::<u8>()];
    proptest::collection::vec(octet, 0..600)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// An array copies as its elements do one by one, and fails where they fail.
    #[test]
    fn a_block_is_copied_as_its_elements_are(
        element in fixed_type(),
        count in 4u32..10,
        octets in octets(),
        phases in (0usize..8, 0usize..8),
        is_big in any::<bool>(),
        to_utf8 in any::<bool>(),
    ) {
        let char_set = if to_utf8 { CharSet::Utf8 } else { CharSet::Latin1 };
        let from = (format(is_big, CharSet::Latin1), phases.0);
        let to = (Format { char_set, ..Format::native() }, phases.1);
        let array = TypeCode::array(element.clone(), count);
        let at_once = copied(&octets, from, to, |reader, writer| {
            copy_value(array.as_ref(), reader, writer)
        });
        let one_by_one = copied(&octets, from, to, |reader, writer| {
            (0..count).try_for_each(|_| copy_value(element.as_ref(), reader, writer))
        });
        match (at_once, one_by_one) {
            (Ok(at_once), Ok(one_by_one)) => prop_assert_eq!(at_once, one_by_one),
            // Which error is found first may differ where there are several.
            (at_once, one_by_one) => {
                prop_assert!(at_once.is_err() && one_by_one.is_err(), "{at_once:?} {one_by_one:?}");
            }
        }
    }
}

/// Counts what it is shown.
#[derive(Default)]
struct Counting {
    leaves: usize,
    blocks: Vec<Vec<u8>>,
}

impl Visitor for Counting {
    type Error = CdrError;

    fn leaf(&mut self, _: Leaf<'_>) -> Result<(), CdrError> {
        self.leaves += 1;
        Ok(())
    }

    fn begin(&mut self, _: Group<'_>) -> Result<(), CdrError> {
        Ok(())
    }

    fn member(&mut self, _: &str) -> Result<(), CdrError> {
        Ok(())
    }

    fn end(&mut self, _: Group<'_>) -> Result<(), CdrError> {
        Ok(())
    }

    fn takes_blocks(&self) -> bool {
        true
    }

    fn block(&mut self, block: Block<'_>) -> Result<(), CdrError> {
        self.blocks.push(block.octets().to_vec());
        Ok(())
    }
}

fn counted(element: TypeCode, octets: &mut [u8], order: ByteOrder) -> Counting {
    let mut reader = CdrReader::new(octets, Format::native().with_order(order));
    let mut counting = Counting::default();
    let sequence = TypeCode::sequence(element, 0);
    walk_value(sequence.as_ref(), &mut reader, &mut counting).expect("a valid sequence");
    assert_eq!(reader.remaining(), 0);
    counting
}

#[test]
fn elements_behind_the_first_are_one_valid_block_in_native_order() {
    let element = structure(&[TypeCode::from(Type::BOOLEAN), TypeCode::from(Type::SHORT)]);
    // Five elements, with octets that are no zeros in the padding.
    let mut octets = vec![0, 0, 0, 5];
    octets.extend([7, 0xEE, 0x12, 0x34].repeat(5));
    let counting = counted(element, &mut octets, ByteOrder::Big);
    let [low, high] = 0x1234u16.to_ne_bytes();
    assert_eq!(counting.leaves, 2);
    assert_eq!(counting.blocks, [[1, 0, low, high].repeat(4)]);
}

#[test]
fn elements_of_no_fixed_size_are_no_block() {
    let element = structure(&[TypeCode::from(Type::OCTET), TypeCode::from(Type::STRING)]);
    let mut octets = vec![0, 0, 0, 4];
    octets.extend(
        [9, 0, 0, 0, 0, 0, 0, 1]
            .iter()
            .chain([0, 9, 0, 0, 0, 0, 0, 1].repeat(3).iter()),
    );
    octets.push(0);
    let counting = counted(element, &mut octets, ByteOrder::Big);
    assert_eq!(counting.leaves, 8);
    assert!(counting.blocks.is_empty());
}

#[test]
fn elements_of_many_parts_and_of_none_are_no_block() {
    let many = structure(&vec![TypeCode::from(Type::OCTET); 100]);
    let mut octets = vec![0, 0, 0, 4];
    octets.extend([9; 400]);
    let counting = counted(many, &mut octets, ByteOrder::Big);
    assert_eq!(counting.leaves, 400);
    assert!(counting.blocks.is_empty());

    let counting = counted(structure(&[]), &mut [0, 0, 0, 9], ByteOrder::Big);
    assert!(counting.blocks.is_empty());
}

#[test]
fn a_block_ends_before_the_octets_do() {
    let element = structure(&[TypeCode::from(Type::LONG), TypeCode::from(Type::OCTET)]);
    let sequence = TypeCode::sequence(element, 0);
    // Five octets each and three of padding between them: the last octet is missing.
    let mut octets = vec![0; 4 + 4 * 8 - 4];
    octets[3] = 4;
    let mut reader = CdrReader::new(&mut octets, Format::native().with_order(ByteOrder::Big));
    let skipped = skip_value(sequence.as_ref(), &mut reader);
    assert_eq!(
        skipped.map_err(|error| error.kind),
        Err(CdrErrorKind::Truncated)
    );
}
