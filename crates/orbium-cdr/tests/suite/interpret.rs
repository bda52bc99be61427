// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interpreter walks types and data together, and stops where they part.
use orbium_cdr::{
    ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, Encode, Format, Group, Leaf, Member,
    Type, TypeCode, TypeRef, Visitor, WideSet, copy_value, skip_value, walk_value,
};

static COLOR: Type = Type::enumeration(
    "IDL:Color:1.0",
    "Color",
    &[Member::enumerator("red"), Member::enumerator("green")],
);

static SHAPE: Type = Type::union(
    "IDL:Shape:1.0",
    "Shape",
    &COLOR,
    &[
        Member::case(1, "radius", Type::DOUBLE),
        Member::otherwise("name", Type::STRING),
    ],
);

static TREE: Type = Type::structure(
    "IDL:Tree:1.0",
    "Tree",
    &[
        Member::new("shape", &SHAPE),
        Member::new("branches", &Type::sequence(&TREE, 0)),
    ],
);

static EMPTY: Type = Type::structure("IDL:Empty:1.0", "Empty", &[]);

fn code(description: &'static Type) -> TypeCode {
    TypeCode::from(description)
}

/// Records the parts that a walk visits.
#[derive(Default)]
struct Transcript(Vec<String>);

impl Visitor for Transcript {
    type Error = CdrError;
    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), CdrError> {
        self.0.push(format!("{leaf:?}"));
        Ok(())
    }
    fn begin(&mut self, group: Group<'_>) -> Result<(), CdrError> {
        let named = |word: &str, code: TypeRef<'_>| format!("{word} {}", code.name());
        self.0.push(match group {
            Group::Struct(code) => named("struct", code),
            Group::Exception(code) => named("exception", code),
            Group::Union(code, discriminator) => {
                format!("{} {discriminator:?}", named("union", code))
            }
            Group::Sequence(_, count) => format!("sequence of {count}"),
            Group::Array(_, count) => format!("array of {count}"),
            Group::Any(code) => format!("any {code}"),
        });
        Ok(())
    }
    fn member(&mut self, name: &str) -> Result<(), CdrError> {
        self.0.push(format!(".{name}"));
        Ok(())
    }
    fn end(&mut self, _: Group<'_>) -> Result<(), CdrError> {
        self.0.push("end".to_owned());
        Ok(())
    }
}

fn transcript(code: &TypeCode, octets: &[u8], format: Format) -> Result<Vec<String>, CdrErrorKind> {
    let mut octets = octets.to_vec();
    let mut visitor = Transcript::default();
    let mut reader = CdrReader::new(&mut octets, format);
    walk_value(code.as_ref(), &mut reader, &mut visitor).map_err(|error| error.kind)?;
    Ok(visitor.0)
}

fn written(write: impl FnOnce(&mut CdrWriter<'static>)) -> Vec<u8> {
    let mut writer = CdrWriter::new(Format::native());
    write(&mut writer);
    writer.finish().expect("the value can be written")
}

fn skipped(code: &TypeCode, octets: &[u8], format: Format) -> Result<usize, CdrErrorKind> {
    let mut octets = octets.to_vec();
    let mut reader = CdrReader::new(&mut octets, format);
    skip_value(code.as_ref(), &mut reader).map_err(|error| error.kind)?;
    Ok(reader.remaining())
}

fn copied(
    code: &TypeCode,
    octets: &[u8],
    from: Format,
    to: Format,
) -> Result<Vec<u8>, CdrErrorKind> {
    let mut octets = octets.to_vec();
    let mut writer = CdrWriter::new(to);
    copy_value(
        code.as_ref(),
        &mut CdrReader::new(&mut octets, from),
        &mut writer,
    )
    .and_then(|()| writer.finish())
    .map_err(|error| error.kind)
}

#[test]
fn a_walk_visits_every_part_in_order() {
    let octets = written(|w| {
        w.write_u32(1);
        w.write_u64(2.5f64.to_bits());
        w.write_u32(1);
        w.write_u32(0);
        w.write_str("leaf");
        w.write_u32(0);
    });
    let visited = transcript(&code(&TREE), &octets, Format::native()).expect("a tree");
    let expected = [
        "struct Tree",
        ".shape",
        "union Shape Enum { ordinal: 1, name: \"green\" }",
        ".radius",
        "Double(2.5)",
        "end",
        ".branches",
        "sequence of 1",
        "struct Tree",
        ".shape",
        "union Shape Enum { ordinal: 0, name: \"red\" }",
        ".name",
        "String(\"leaf\")",
        "end",
        ".branches",
        "sequence of 0",
        "end",
        "end",
        "end",
        "end",
    ];
    assert_eq!(visited, expected);
}

#[test]
fn runs_of_primitives_are_visited_one_by_one_unless_asked_for() {
    let longs = TypeCode::array(TypeCode::sequence(code(Type::LONG), 0), 2);
    let big = Format::native().with_order(ByteOrder::Big);
    let octets = [0, 0, 0, 2, 0, 0, 0, 1, 255, 255, 255, 254, 0, 0, 0, 0];
    let visited = transcript(&longs, &octets, big).expect("two sequences");
    let expected = [
        "array of 2",
        "sequence of 2",
        "Long(1)",
        "Long(-2)",
        "end",
        "sequence of 0",
        "end",
        "end",
    ];
    assert_eq!(visited, expected);
}

#[test]
fn a_union_value_without_a_member_is_its_discriminator() {
    let union = TypeCode::union(
        "",
        "",
        code(Type::SHORT),
        [(Some(1), "m", code(Type::LONG))],
    )
    .expect("a union");
    let octets = written(|w| w.write_u16(2));
    let visited = transcript(&union, &octets, Format::native()).expect("nothing selected");
    assert_eq!(visited, ["union  Short(2)", "end"]);
}

#[test]
fn references_are_copied_whole_and_not_looked_into() {
    let octets = written(|w| {
        w.write_name("IDL:Cube:1.0");
        w.write_u32(2);
        w.write_u32(0);
        w.write_octets(&[1, 2, 3]);
        w.write_u32(0x7777);
        w.write_octets(&[]);
    });
    let cube = TypeCode::interface("IDL:Cube:1.0", "Cube");
    let foreign = match ByteOrder::NATIVE {
        ByteOrder::Little => Format::native().with_order(ByteOrder::Big),
        ByteOrder::Big => Format::native().with_order(ByteOrder::Little),
    };
    let there = copied(&cube, &octets, Format::native(), foreign).expect("a reference");
    assert_ne!(there, octets);
    assert_eq!(copied(&cube, &there, foreign, Format::native()), Ok(octets));
}

/// Conformance: CDR - wide text by version
#[test]
fn wide_text_changes_with_the_version() {
    let old = Format {
        minor: 1,
        order: ByteOrder::Big,
        ..Format::native()
    };
    let new = Format { minor: 2, ..old };
    let wide = code(Type::WSTRING);
    let in_old = [0, 0, 0, 3, 0x20, 0xAC, 0, b'x', 0, 0];
    let in_new = [0, 0, 0, 4, 0x20, 0xAC, 0, b'x'];
    assert_eq!(copied(&wide, &in_old, old, new).as_deref(), Ok(&in_new[..]));
    assert_eq!(copied(&wide, &in_new, new, old).as_deref(), Ok(&in_old[..]));
    // A byte-order mark, which omniORB always writes, is not part of the text.
    let marked = [0, 0, 0, 6, 0xFF, 0xFE, 0xAC, 0x20, b'x', 0];
    assert_eq!(copied(&wide, &marked, new, new).as_deref(), Ok(&in_new[..]));

    let wchar = code(Type::WCHAR);
    assert_eq!(
        copied(&wchar, &[0x20, 0xAC], old, new).as_deref(),
        Ok(&[2, 0x20, 0xAC][..])
    );
    assert_eq!(
        copied(&wchar, &[2, 0x20, 0xAC], new, old).as_deref(),
        Ok(&[0x20, 0xAC][..])
    );
}

#[test]
fn values_that_the_other_format_lacks_are_an_error() {
    let native = Format::native();
    let text = written(|w| w.write_str("Ω"));
    let plain = Format::plain(ByteOrder::NATIVE, 2);
    assert_eq!(
        copied(&code(Type::STRING), &text, native, plain),
        Err(CdrErrorKind::CannotConvert)
    );
    let wide = written(|w| w.write_wstr("x"));
    let wstring = code(Type::WSTRING);
    assert_eq!(
        copied(&wstring, &wide, native, plain),
        Err(CdrErrorKind::WideNotNegotiated)
    );
    let old = Format {
        wide_set: Some(WideSet::Utf16),
        ..Format::plain(ByteOrder::NATIVE, 0)
    };
    assert_eq!(
        copied(&wstring, &wide, native, old),
        Err(CdrErrorKind::WideInGiop10)
    );
    let chars = TypeCode::sequence(code(Type::CHAR), 0);
    let accents = written(|w| w.write_octets(&[b'e', 0xE9]));
    assert_eq!(
        copied(&chars, &accents, plain, native),
        Err(CdrErrorKind::CannotConvert)
    );
    assert_eq!(copied(&chars, &accents, plain, plain), Ok(accents));
}

#[test]
fn booleans_become_0_or_1() {
    let flags = TypeCode::array(code(Type::BOOLEAN), 3);
    let native = Format::native();
    assert_eq!(
        copied(&flags, &[0, 0xFF, 2], native, native).as_deref(),
        Ok(&[0, 1, 1][..])
    );
}

#[test]
fn bounds_hold_for_received_values() {
    let native = Format::native();
    let octets = written(|w| w.write_octets(&[1, 2, 3]));
    let bounded = |bound| TypeCode::sequence(code(Type::OCTET), bound);
    assert_eq!(skipped(&bounded(3), &octets, native), Ok(0));
    assert_eq!(
        skipped(&bounded(2), &octets, native),
        Err(CdrErrorKind::BoundExceeded)
    );
    // Characters count, not octets.
    let text = written(|w| w.write_str("Ω"));
    assert_eq!(skipped(&TypeCode::string(1), &text, native), Ok(0));
    let text = written(|w| w.write_wstr("𝄞"));
    assert_eq!(skipped(&TypeCode::wstring(2), &text, native), Ok(0));
    let over = skipped(&TypeCode::wstring(1), &text, native);
    assert_eq!(over, Err(CdrErrorKind::BoundExceeded));
}

/// Conformance: CDR - counts need data behind them
#[test]
fn counts_are_believed_only_with_data_behind_them() {
    let native = Format::native();
    let octets = written(|w| w.write_u32(u32::MAX));
    for element in [
        Type::OCTET,
        Type::DOUBLE,
        Type::STRING,
        &TREE,
        Type::ANY,
        Type::OBJECT,
    ] {
        let sequence = TypeCode::sequence(code(element), 0);
        assert_eq!(
            skipped(&sequence, &octets, native),
            Err(CdrErrorKind::CountTooLarge)
        );
    }
    let array = TypeCode::array(TypeCode::array(code(Type::LONGDOUBLE), u32::MAX), u32::MAX);
    assert_eq!(
        skipped(&array, &octets, native),
        Err(CdrErrorKind::CountTooLarge)
    );
}

/// Conformance: CDR - counts need data behind them
#[test]
fn values_of_no_size_cannot_be_counted_forever() {
    let native = Format::native();
    for element in [&EMPTY, Type::NULL, const { &Type::array(Type::LONG, 0) }] {
        let sequence = TypeCode::sequence(code(element), 0);
        let few = written(|w| w.write_u32(100));
        assert_eq!(skipped(&sequence, &few, native), Ok(0));
        let many = written(|w| w.write_u32(u32::MAX));
        assert_eq!(
            skipped(&sequence, &many, native),
            Err(CdrErrorKind::CountTooLarge)
        );
    }
}

#[test]
fn recursion_is_bounded() {
    let octets = written(|w| {
        for _ in 0..10_000 {
            w.write_u32(1);
            w.write_u64(0);
            w.write_u32(1);
        }
    });
    let tree = skipped(&code(&TREE), &octets, Format::native());
    assert_eq!(tree, Err(CdrErrorKind::TooDeep));
}

#[test]
fn types_that_cannot_be_walked_are_refused() {
    let native = Format::native();
    let refused = |description: &'static Type| skipped(&code(description), &[0; 16], native);
    static VALUE: Type = Type::value("IDL:V:1.0", "V", 0, None, &[]);
    static EVENT: Type = Type::event("IDL:E:1.0", "E", 0, None, &[]);
    static BOXED: Type = Type::value_box("IDL:B:1.0", "B", Type::LONG);
    static ABSTRACT: Type = Type::abstract_interface("IDL:A:1.0", "A");
    static NATIVE: Type = Type::native("IDL:N:1.0", "N");
    static LOCAL: Type = Type::local_interface("IDL:L:1.0", "L");
    for description in [&VALUE, &EVENT, &BOXED, &ABSTRACT, &NATIVE] {
        assert_eq!(refused(description), Err(CdrErrorKind::NotSupported));
    }
    assert_eq!(refused(&LOCAL), Err(CdrErrorKind::LocalObject));
    let bad_color = written(|w| w.write_u32(2));
    assert_eq!(
        skipped(&code(&COLOR), &bad_color, native),
        Err(CdrErrorKind::BadEnumerator)
    );
}

#[test]
fn an_error_in_the_middle_is_the_error_of_the_copy() {
    let strings = TypeCode::sequence(code(Type::STRING), 0);
    let texts = vec!["fine".to_owned(), "Ω".to_owned()];
    let mut writer = CdrWriter::new(Format::native());
    texts.encode(&mut writer);
    let octets = writer.finish().expect("strings");
    let plain = Format::plain(ByteOrder::Big, 2);
    assert_eq!(
        copied(&strings, &octets, Format::native(), plain),
        Err(CdrErrorKind::CannotConvert)
    );
}
