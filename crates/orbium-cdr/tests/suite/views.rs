// SPDX-License-Identifier: MIT OR Apache-2.0
//! Views: what is read in place is what an owned value would be, and octets that are no such
//! value are refused alike.

use orbium_cdr::{
    Arena, AsArgument, BoundedSequence, BoundedString, ByteOrder, CdrError, CdrErrorKind,
    CdrReader, CdrWriter, CharSet, Decode, Encode, Format, Type, View, WideSet, WideString,
    idl_enum, idl_fixed_struct, idl_struct, idl_view,
};
use proptest::prelude::*;

idl_enum! {
    pub enum Colour: COLOUR_TYPE = "IDL:Colour:1.0" { Red("red") = 0, Green("green") = 1 }
}
// Its elements lie in CDR as they lie in memory.
idl_fixed_struct! {
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Point: POINT_TYPE = "IDL:Point:1.0" { pub x: f64, pub y: f64 }
}
// And of this they do not.
idl_fixed_struct! {
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Many: MANY_TYPE = "IDL:Many:1.0" { pub o: u8, pub l: i32, pub s: i16 }
}
idl_struct! {
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Entry: ENTRY_TYPE = "IDL:Entry:1.0" { pub key: String, pub value: i32 }
}
idl_view! {
    pub struct EntryRef<'a>: Entry { pub key: &'a str, pub value: i32 }
}
idl_struct! {
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Batch: BATCH_TYPE = "IDL:Batch:1.0" {
        pub odd: u8,
        pub name: String,
        pub data: Vec<u8>,
        pub samples: Vec<f64>,
        pub path: Vec<Point>,
        pub many: Vec<Many>,
        pub colours: Vec<Colour>,
        pub entries: Vec<Entry>,
        pub few: Vec<Entry> as BoundedSequence<Entry, 2>,
        pub words: [String; 2],
        pub code: String as BoundedString<4>,
        pub wide: String as WideString,
        pub at: Point,
    }
}
idl_view! {
    pub struct BatchRef<'a>: Batch {
        pub odd: u8,
        pub name: &'a str,
        pub data: &'a [u8],
        pub samples: &'a [f64],
        pub path: &'a [Point],
        pub many: &'a [Many],
        pub colours: &'a [Colour],
        pub entries: &'a [EntryRef<'a>],
        pub few: &'a [EntryRef<'a>] as BoundedSequence<Entry, 2>,
        pub words: &'a [&'a str; 2],
        pub code: &'a str as BoundedString<4>,
        pub wide: &'a str as WideString,
        pub at: Point,
    }
}
idl_struct! {
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Tree: TREE_TYPE = "IDL:Tree:1.0", recursive {
        pub name: String,
        pub branches: Vec<Tree> = &Type::sequence(&TREE_TYPE, 0),
    }
}
idl_view! {
    pub struct TreeRef<'a>: Tree, recursive { pub name: &'a str, pub branches: &'a [TreeRef<'a>] }
}

const FOREIGN: ByteOrder = match ByteOrder::NATIVE {
    ByteOrder::Little => ByteOrder::Big,
    ByteOrder::Big => ByteOrder::Little,
};

fn format(order: ByteOrder, char_set: CharSet) -> Format {
    Format {
        order,
        minor: 2,
        char_set,
        wide_set: Some(WideSet::Utf16),
    }
}

fn formats() -> impl Iterator<Item = Format> {
    let orders = [ByteOrder::NATIVE, FOREIGN].into_iter();
    let sets = [CharSet::Utf8AndLatin1Char, CharSet::Latin1];
    let formats = orders.flat_map(move |order| sets.map(|set| format(order, set)));
    formats.chain([Format::native().with_natural_elements(true)])
}

fn batch(text: &str, count: usize) -> Batch {
    let entry = |value| Entry {
        key: text.repeat(3),
        value,
    };
    Batch {
        odd: 7,
        name: text.to_owned(),
        data: vec![9; count],
        samples: (0..count).map(|it| it as f64 / 4.0).collect(),
        path: vec![Point { x: 1.5, y: -2.5 }; count],
        many: vec![Many { o: 1, l: -2, s: 3 }; count],
        colours: vec![Colour::Green; count],
        entries: (0..count).map(|it| entry(it as i32)).collect(),
        few: vec![entry(-1)],
        words: [text.to_owned(), String::new()],
        code: "code".to_owned(),
        wide: format!("{text}w"),
        at: Point { x: 0.5, y: 0.25 },
    }
}

fn written(value: &impl Encode, at: usize, format: Format) -> Vec<u8> {
    let mut writer = CdrWriter::new(format);
    writer.write_raw(&vec![0; at]);
    value.encode(&mut writer);
    writer.finish().unwrap().split_off(at)
}

fn viewed<'v, V: View<'v>>(
    octets: &'v mut [u8],
    at: usize,
    format: Format,
) -> Result<V::Owned, CdrError> {
    let mut reader = CdrReader::at(octets, at, format);
    // The arena outlives no test.
    let arena = Box::leak(Box::new(Arena::new(&reader)));
    V::view(&mut reader, arena).map(View::into_owned)
}

fn owned<T: Decode>(octets: &mut [u8], at: usize, format: Format) -> Result<T, CdrError> {
    T::decode(&mut CdrReader::at(octets, at, format))
}

#[test]
fn a_view_holds_what_was_written_in_every_format_and_at_every_position() {
    for format in formats() {
        for at in 0..8 {
            for (text, count) in [("", 0), ("name", 1), ("é", 3), ("plain", 20)] {
                let value = batch(text, count);
                let mut octets = written(&value, at, format);
                let view = viewed::<BatchRef<'_>>(&mut octets, at, format);
                assert_eq!(view, Ok(value), "{format:?}, {at}");
            }
        }
    }
}

#[test]
fn strings_and_numbers_lie_in_the_message() {
    let format = format(ByteOrder::NATIVE, CharSet::Utf8AndLatin1Char);
    let mut octets = written(&batch("name", 3), 0, format);
    let range = octets.as_ptr_range();
    let mut reader = CdrReader::new(&mut octets, format);
    let arena = Arena::new(&reader);
    let batch = BatchRef::view(&mut reader, &arena).unwrap();
    for start in [
        batch.name.as_ptr(),
        batch.data.as_ptr(),
        batch.samples.as_ptr().cast(),
        batch.path.as_ptr().cast(),
        batch.entries[2].key.as_ptr(),
        batch.words[0].as_ptr(),
        batch.code.as_ptr(),
    ] {
        assert!(range.contains(&start));
    }
}

#[test]
fn a_view_is_written_as_the_owned_value_is() {
    for format in formats() {
        let value = batch("é", 3);
        let mut octets = written(&value, 0, format);
        let wanted = octets.clone();
        let mut reader = CdrReader::new(&mut octets, format);
        let arena = Arena::new(&reader);
        let view = BatchRef::view(&mut reader, &arena).unwrap();
        assert_eq!(written(&view, 0, format), wanted, "{format:?}");
        assert_eq!(AsArgument::<Batch>::keep(&view), value);
        assert_eq!(Batch::from(view), value);
    }
}

#[test]
fn sequences_of_views_are_arguments_in_every_form() {
    fn wire(argument: &(impl AsArgument<[Entry]> + ?Sized)) -> (Vec<u8>, Vec<Entry>) {
        let mut writer = CdrWriter::new(Format::native());
        argument.write(&mut writer);
        (writer.finish().unwrap(), argument.keep())
    }
    let views = [
        EntryRef { key: "a", value: 1 },
        EntryRef { key: "b", value: 2 },
    ];
    let entries: Vec<Entry> = views.iter().map(|it| it.into_owned()).collect();
    let wanted = (written(&entries, 0, Format::native()), entries.clone());
    assert_eq!(wire(&views), wanted);
    assert_eq!(wire(&views[..]), wanted);
    assert_eq!(wire(&views.to_vec()), wanted);
    assert_eq!(wire(&entries), wanted);
    assert_eq!(wire(&entries[..]), wanted);
    assert_eq!(wire(&[&entries[0], &entries[1]]), wanted);
}

/// Every message that ends early, and every message with one octet changed: a view accepts
/// what an owned value accepts, and no more.
#[test]
fn views_refuse_what_owned_values_refuse() {
    for format in formats() {
        let whole = written(&batch("né", 2), 0, format);
        for end in 0..whole.len() {
            let (mut once, mut twice) = (whole[..end].to_vec(), whole[..end].to_vec());
            let view = viewed::<BatchRef<'_>>(&mut once, 0, format);
            assert!(view.is_err(), "{end}");
            assert!(owned::<Batch>(&mut twice, 0, format).is_err(), "{end}");
        }
        for at in 0..whole.len() {
            for change in [0xFF, 0x80, 0x01] {
                let mut once = whole.clone();
                once[at] ^= change;
                let mut twice = once.clone();
                let view = viewed::<BatchRef<'_>>(&mut once, 0, format);
                let owned = owned::<Batch>(&mut twice, 0, format);
                // What is not a number is not equal to itself.
                assert_eq!(
                    format!("{:?}", view.as_ref().ok()),
                    format!("{:?}", owned.as_ref().ok()),
                    "octet {at}, {format:?}"
                );
            }
        }
    }
}

#[test]
fn wrong_octets_are_typed_errors() {
    let format = format(ByteOrder::NATIVE, CharSet::Utf8AndLatin1Char);
    let entry = written(&batch("name", 1).entries, 0, format);
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut octets = entry.clone();
        change(&mut octets);
        viewed::<&[EntryRef<'_>]>(&mut octets, 0, format)
            .unwrap_err()
            .kind
    };
    let count = |at: usize, count: u32| {
        move |octets: &mut Vec<u8>| octets[at..at + 4].copy_from_slice(&count.to_ne_bytes())
    };
    assert_eq!(refused(&count(0, u32::MAX)), CdrErrorKind::CountTooLarge);
    assert_eq!(refused(&count(0, 4)), CdrErrorKind::CountTooLarge);
    assert_eq!(refused(&count(0, 2)), CdrErrorKind::Truncated);
    assert_eq!(refused(&count(4, u32::MAX)), CdrErrorKind::CountTooLarge);
    assert_eq!(refused(&|it| it[8] = 0xFF), CdrErrorKind::CannotConvert);
    assert_eq!(refused(&|it| it[8] = 0), CdrErrorKind::BadString);
    assert_eq!(refused(&count(4, 12)), CdrErrorKind::BadString);
    assert_eq!(refused(&|it| it.truncate(3)), CdrErrorKind::Truncated);

    let mut long = batch("x", 1);
    long.few = vec![Entry::default(); 2];
    let mut octets = written(&long.few, 0, format);
    octets.extend_from_slice(&octets.clone());
    octets[0..4].copy_from_slice(&3u32.to_ne_bytes());
    let mut reader = CdrReader::new(&mut octets, format);
    let arena = Arena::new(&reader);
    type Few = BoundedSequence<Entry, 2>;
    let few = <Few as orbium_cdr::ViewCodec<'_, &[EntryRef<'_>]>>::view(&mut reader, &arena);
    assert_eq!(few.unwrap_err().kind, CdrErrorKind::BoundExceeded);
}

/// A count may promise as many elements as octets are left. Where sequences lie in sequences,
/// each of them may: together they get no more memory than the message justifies.
#[test]
fn counts_in_counts_are_bounded_by_the_message() {
    const LEVELS: usize = 100;
    const REST: usize = 1 << 20;
    let format = Format::native();
    let mut octets = Vec::new();
    for _ in 0..LEVELS {
        octets.extend_from_slice(&0u32.to_ne_bytes());
        // Eight octets on the wire, at least, for each branch.
        octets.extend_from_slice(&((REST / 8) as u32).to_ne_bytes());
    }
    octets.resize(octets.len() + REST, 0);
    let error = viewed::<TreeRef<'_>>(&mut octets, 0, format).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::CountTooLarge);
    // After as many levels as eight times the message are enough for.
    assert!(error.offset < 8 * 8, "{error:?}");
}

#[test]
fn recursive_views_are_bounded_in_depth() {
    fn tree(depth: usize) -> Tree {
        let mut tree = Tree::default();
        for _ in 0..depth {
            tree = Tree {
                name: "branch".to_owned(),
                branches: vec![tree],
            };
        }
        tree
    }
    let format = Format::native();
    let mut octets = written(&tree(50), 0, format);
    assert_eq!(viewed::<TreeRef<'_>>(&mut octets, 0, format), Ok(tree(50)));
    let mut octets = written(&tree(500), 0, format);
    let error = viewed::<TreeRef<'_>>(&mut octets, 0, format).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::TooDeep);
}

/// In GIOP 1.1 fragments are aligned each on its own.
#[test]
fn views_cross_boundaries_of_fragments() {
    let format = Format {
        minor: 1,
        ..format(ByteOrder::NATIVE, CharSet::Utf8AndLatin1Char)
    };
    let mut octets = vec![0; 12];
    octets.extend_from_slice(&5u32.to_ne_bytes());
    octets.extend_from_slice(b"nam");
    let boundaries = [octets.len() as u32];
    // The string ends in the second fragment; the number is aligned within that one.
    octets.extend_from_slice(b"e\0\0\0");
    octets.extend_from_slice(&77i32.to_ne_bytes());
    let mut reader = CdrReader::at(&mut octets[12..], 12, format);
    reader.set_fragment_boundaries(&boundaries);
    let arena = Arena::new(&reader);
    let entry = EntryRef::view(&mut reader, &arena).unwrap();
    assert_eq!((entry.key, entry.value), ("name", 77));
}

proptest! {
    #[test]
    fn no_octets_make_a_view_panic(mut octets in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in formats() {
            let mut again = octets.clone();
            let view = viewed::<TreeRef<'_>>(&mut again, 0, format);
            prop_assert_eq!(view, owned::<Tree>(&mut octets.clone(), 0, format));
        }
        let _ = viewed::<BatchRef<'_>>(&mut octets, 0, Format::native());
    }
}
