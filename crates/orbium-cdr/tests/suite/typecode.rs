// SPDX-License-Identifier: MIT OR Apache-2.0
//! TypeCodes lie on the wire as clause 9.3.5 has it, and nothing that is none
//! is taken for one.
use orbium_cdr::{
    ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode, Fixed, Format, Member,
    MemberRef, TCKind, Type, TypeCode, TypeRef, Typed, WChar,
};

static COLOR: Type = Type::enumeration(
    "IDL:Paint/Color:1.0",
    "Color",
    &[
        Member::enumerator("red"),
        Member::enumerator("green"),
        Member::enumerator("blue"),
    ],
);

static NODE: Type = Type::structure(
    "IDL:N:1.0",
    "N",
    &[
        Member::new("value", Type::LONG),
        Member::new("next", &Type::sequence(&NODE, 0)),
    ],
);

static CHOICE: Type = Type::union(
    "IDL:U:1.0",
    "U",
    Type::BOOLEAN,
    &[
        Member::case(1, "a", Type::LONG),
        Member::otherwise("b", Type::OCTET),
    ],
);

/// Two types that contain each other.
static FILE: Type = Type::structure(
    "IDL:Disk/File:1.0",
    "File",
    &[
        Member::new("name", Type::WSTRING),
        Member::new("parent", &Type::sequence(&FOLDER, 1)),
    ],
);
static FOLDER: Type = Type::structure(
    "IDL:Disk/Folder:1.0",
    "Folder",
    &[Member::new("files", &FILES)],
);
static FILES: Type = Type::alias("IDL:Disk/Files:1.0", "Files", &Type::sequence(&FILE, 0));

static ACCOUNT: Type = Type::value(
    "IDL:Bank/Account:1.0",
    "Account",
    3,
    Some(&BASE),
    &[
        Member::state("owner", Type::STRING, true),
        Member::state("partner", &ACCOUNT, false),
    ],
);
static BASE: Type = Type::value("IDL:Bank/Base:1.0", "Base", 0, None, &[]);

static EVERY: &[&Type] = &[
    Type::NULL,
    Type::VOID,
    Type::SHORT,
    Type::LONG,
    Type::USHORT,
    Type::ULONG,
    Type::FLOAT,
    Type::DOUBLE,
    Type::BOOLEAN,
    Type::CHAR,
    Type::OCTET,
    Type::ANY,
    Type::TYPE_CODE,
    Type::PRINCIPAL,
    Type::OBJECT,
    Type::LONGLONG,
    Type::ULONGLONG,
    Type::LONGDOUBLE,
    Type::WCHAR,
    Type::STRING,
    Type::WSTRING,
    &Type::string(10),
    &Type::wstring(11),
    &Type::fixed(9, 2),
    &Type::fixed(5, -2),
    &Type::array(&Type::array(Type::SHORT, 3), 2),
    &Type::native("IDL:Nat:1.0", "Nat"),
    &Type::abstract_interface("IDL:Abs:1.0", "Abs"),
    &Type::local_interface("IDL:Loc:1.0", "Loc"),
    &Type::component("IDL:Comp:1.0", "Comp"),
    &Type::home("IDL:Home:1.0", "Home"),
    &Type::value_box("IDL:Box:1.0", "Box", Type::STRING),
    &Type::event("IDL:Tick:1.0", "Tick", 2, None, &[]),
    &Type::exception("IDL:Bad:1.0", "Bad", &[Member::new("why", Type::STRING)]),
    &COLOR,
    &NODE,
    &CHOICE,
    &FILE,
    &FOLDER,
    &FILES,
    &ACCOUNT,
];

fn encode_at(code: &TypeCode, phase: usize, format: Format) -> Vec<u8> {
    let mut writer = CdrWriter::new(format);
    writer.write_raw(&[0xEE; 8][..phase]);
    code.encode(&mut writer);
    writer.finish().expect("the type can be written")
}

fn decode_at(octets: &mut [u8], phase: usize, format: Format) -> Result<TypeCode, CdrError> {
    TypeCode::decode(&mut CdrReader::at(&mut octets[phase..], phase, format))
}

fn big() -> Format {
    Format::native().with_order(ByteOrder::Big)
}

/// Octets from hex, each piece with what it means.
fn golden(pieces: &[(&str, &str)]) -> Vec<u8> {
    let digits: String = pieces.iter().map(|(hex, _)| hex.replace(' ', "")).collect();
    (0..digits.len() / 2)
        .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).expect("hex digits"))
        .collect()
}

fn rejected(pieces: &[(&str, &str)]) -> CdrErrorKind {
    decode_at(&mut golden(pieces), 0, big())
        .expect_err("this is no TypeCode")
        .kind
}

/// Conformance: TypeCode - every kind
#[test]
fn every_kind_survives_both_orders_and_all_phases() {
    for &description in EVERY {
        let code = TypeCode::from(description);
        for order in [ByteOrder::Big, ByteOrder::Little] {
            for phase in 0..8 {
                let format = Format::native().with_order(order);
                let mut octets = encode_at(&code, phase, format);
                let read = decode_at(&mut octets, phase, format).expect("what was written");
                assert_eq!(read, code);
                assert!(read.equivalent(&code));
                assert_eq!(read.to_string(), code.to_string());
                assert_eq!(encode_at(&read, phase, format), octets, "{code}");
            }
        }
    }
}

/// Conformance: TypeCode - every kind
#[test]
fn every_kind_has_the_number_of_the_table() {
    for value in 0..37 {
        let kind = TCKind::from_value(value).expect("a kind of the table");
        assert_eq!(kind.value(), value);
    }
    assert_eq!(TCKind::from_value(37), None);
    assert_eq!(TCKind::Event.value(), 36);
    assert_eq!(TCKind::ObjRef.value(), 14);
}

/// Conformance: TypeCode - every kind
#[test]
fn simple_parameters_stand_in_line() {
    let string = encode_at(&TypeCode::string(7), 0, big());
    assert_eq!(
        string,
        golden(&[("00000012", "string"), ("00000007", "bound")])
    );
    let fixed = encode_at(&Fixed::<9, 2>::type_code(), 0, big());
    assert_eq!(
        fixed,
        golden(&[("0000001C", "fixed"), ("0009", "digits"), ("0002", "scale")])
    );
}

/// Conformance: TypeCode - indirection, only within one top-level TypeCode
#[test]
fn recursion_is_an_indirection_to_the_enclosing_kind() {
    let wire = golden(&[
        ("0000000F 00000054", "struct, octets of the encapsulation"),
        ("00 000000", "big-endian, gap"),
        ("0000000A 49444C3A4E3A312E3000 0000", "IDL:N:1.0, gap"),
        ("00000002 4E00 0000", "N, gap"),
        ("00000002", "two members"),
        ("00000006 76616C756500 0000 00000003", "value, long"),
        ("00000005 6E65787400 000000 00000013", "next, sequence"),
        ("00000010 00 000000", "its encapsulation"),
        (
            "FFFFFFFF FFFFFFAC",
            "indirection 84 octets back, to the start",
        ),
        ("00000000", "no bound"),
    ]);
    assert_eq!(encode_at(&TypeCode::from(&NODE), 0, big()), wire);
    let read = decode_at(&mut wire.clone(), 0, big()).expect("a recursive struct");
    let next = read.member(1).and_then(MemberRef::type_code);
    let again = next
        .and_then(TypeRef::content_type)
        .map(TypeRef::to_type_code);
    assert_eq!(again, Some(read));
}

#[test]
fn a_default_member_has_a_label_that_means_nothing() {
    let wire = golden(&[
        ("00000010 00000048", "union, octets of the encapsulation"),
        ("00 000000", "big-endian, gap"),
        ("0000000A 49444C3A553A312E3000 0000", "IDL:U:1.0, gap"),
        ("00000002 5500 0000", "U, gap"),
        ("00000008", "boolean"),
        ("00000001", "the second is the default"),
        ("00000002", "two members"),
        ("01 000000 00000002 6100 0000 00000003", "TRUE: a, long"),
        ("00 000000 00000002 6200 0000 0000000A", "default: b, octet"),
    ]);
    let choice = TypeCode::from(&CHOICE);
    assert_eq!(encode_at(&choice, 0, big()), wire);
    assert_eq!(choice.default_index(), Some(1));
    let labels: Vec<_> = choice.members().map(MemberRef::label).collect();
    assert_eq!(labels, [Some(1), None]);
    let read = decode_at(&mut wire.clone(), 0, big()).expect("a union");
    let selected = |label| read.as_ref().selected_member(label).map(MemberRef::name);
    assert_eq!(selected(1), Some("a"));
    assert_eq!(selected(0), Some("b"));
}

/// Conformance: TypeCode - indirection, only within one top-level TypeCode
#[test]
fn an_indirection_may_name_a_finished_part() {
    let mut wire = golden(&[
        ("0000000F 00000050", "struct"),
        ("00 000000", ""),
        ("00000002 5300 0000 00000001 00 000000", "id S, no name"),
        ("00000002", "two members"),
        ("00000002 6100 0000", "a"),
        (
            "00000013 0000000C 00 000000 00000003 00000000",
            "sequence<long>, at 36",
        ),
        ("00000002 6200 0000", "b"),
        ("FFFFFFFF FFFFFFDC", "the offset stands at 68 and means 32"),
    ]);
    wire[7] = wire.len() as u8 - 8;
    // The sequence starts at octet 40; the offset long follows the marker.
    let offset_at = wire.len() - 4;
    let offset = (40i32 - offset_at as i32).to_be_bytes();
    wire[offset_at..].copy_from_slice(&offset);
    let read = decode_at(&mut wire, 0, big()).expect("a repeat");
    assert_eq!(
        read.to_string(),
        "struct S { sequence<long> a; sequence<long> b; }"
    );
    // What came in with an indirection goes out with it.
    assert_eq!(encode_at(&read, 0, big()), wire);
}

/// Conformance: TypeCode - indirection, only within one top-level TypeCode
#[test]
fn indirections_that_lead_nowhere_are_refused() {
    for offset in [
        "00000000", "FFFFFFFC", "00000004", "7FFFFFFF", "80000000", "FFFFFFF8",
    ] {
        let kind = rejected(&[
            ("00000015 0000001C 00 000000", "alias"),
            ("00000002 4100 0000 00000002 4100 0000", "id A, name A"),
            ("FFFFFFFF", "indirection"),
            (offset, "itself, forward, outside, or the middle"),
        ]);
        assert_eq!(kind, CdrErrorKind::BadTypeCode, "{offset}");
    }
    let lonely = rejected(&[
        ("FFFFFFFF", "indirection"),
        ("FFFFFFF0", "before the start"),
    ]);
    assert_eq!(lonely, CdrErrorKind::BadTypeCode);
}

/// Conformance: TypeCode - indirection, only within one top-level TypeCode
#[test]
fn an_indirection_cannot_leave_its_top_level_typecode() {
    let mut wire = golden(&[
        (
            "00000013 0000000C 00 000000 00000003 00000000",
            "sequence<long>",
        ),
        ("FFFFFFFF FFFFFFE8", "the TypeCode before"),
    ]);
    let mut reader = CdrReader::new(&mut wire, big());
    TypeCode::decode(&mut reader).expect("the first stands alone");
    let error = TypeCode::decode(&mut reader).expect_err("the second does not");
    assert_eq!(error.kind, CdrErrorKind::BadTypeCode);
}

/// Conformance: TypeCode - hostile TypeCodes
#[test]
fn a_type_that_is_only_itself_is_refused() {
    let alias = rejected(&[
        ("00000015 0000001C 00 000000", "alias"),
        ("00000002 4100 0000 00000002 4100 0000", "id A, name A"),
        ("FFFFFFFF FFFFFFE0", "of itself"),
    ]);
    assert_eq!(alias, CdrErrorKind::BadTypeCode);
    let sequence = rejected(&[
        ("00000013 00000010 00 000000", "sequence"),
        ("FFFFFFFF FFFFFFF0", "of itself"),
        ("00000000", "no bound"),
    ]);
    assert_eq!(sequence, CdrErrorKind::BadTypeCode);
}

/// A value of such a type was read, and written with an id that could not be read again: the fuzz
/// target `values` found it.
///
/// Conformance: TypeCode - hostile TypeCodes
#[test]
fn ids_and_names_have_no_nul_inside() {
    let (plain, with_nul) = ("00000002 4100 0000", "00000004 41004100");
    for (first, second) in [(with_nul, plain), (plain, with_nul)] {
        let kind = rejected(&[
            ("0000000E 00000014 00 000000", "objref"),
            (first, "id"),
            (second, "name"),
        ]);
        assert_eq!(kind, CdrErrorKind::BadString);
    }
}

/// Conformance: TypeCode - hostile TypeCodes
#[test]
fn unknown_kinds_and_impossible_parameters_are_refused() {
    assert_eq!(
        rejected(&[("00000025", "kind 37")]),
        CdrErrorKind::BadTypeCode
    );
    assert_eq!(
        rejected(&[("0000001C 0020 0000", "fixed of 32 digits")]),
        CdrErrorKind::BadTypeCode
    );
    let float = rejected(&[
        ("00000010 00000028 00 000000", "union"),
        ("00000002 5500 0000 00000002 5500 0000", "id U, name U"),
        ("00000006 FFFFFFFF 00000000", "switch (float)"),
        ("00000000 00000000", ""),
    ]);
    assert_eq!(float, CdrErrorKind::BadTypeCode);
    let default = rejected(&[
        ("00000010 00000028 00 000000", "union"),
        ("00000002 5500 0000 00000002 5500 0000", "id U, name U"),
        ("00000003 00000000 00000000", "default member 0 of none"),
        ("00000000 00000000", ""),
    ]);
    assert_eq!(default, CdrErrorKind::BadTypeCode);
    let count = rejected(&[
        ("00000011 0000001C 00 000000", "enum"),
        ("00000002 4500 0000 00000002 4500 0000", "id E, name E"),
        ("40000000 00000000", "2³⁰ enumerators"),
    ]);
    assert_eq!(count, CdrErrorKind::CountTooLarge);
}

/// Conformance: TypeCode - hostile TypeCodes
#[test]
fn nesting_is_bounded() {
    let nested = |levels| {
        let mut code = TypeCode::from(Type::OCTET);
        for _ in 0..levels {
            code = TypeCode::sequence(code, 0);
        }
        let mut writer = CdrWriter::new(big());
        code.encode(&mut writer);
        writer.finish()
    };
    let mut deep = nested(128).expect("as deep as a reader follows");
    assert!(decode_at(&mut deep, 0, big()).is_ok());
    assert_eq!(nested(129).map_err(|e| e.kind), Err(CdrErrorKind::TooDeep));

    // By hand, as our writer refuses to.
    let mut hostile = Vec::new();
    for left in (0..200u32).rev() {
        let octets = 8 + 16 * left;
        hostile.extend(0x13u32.to_be_bytes());
        hostile.extend((octets + 4).to_be_bytes());
        hostile.extend(0u32.to_be_bytes());
    }
    hostile.extend(vec![0; 8000]);
    let error = decode_at(&mut hostile, 0, big()).expect_err("too deep");
    assert_eq!(error.kind, CdrErrorKind::TooDeep);
}

/// A struct of `levels` structs, each of which is named twice in the one
/// after it: few octets, 2^levels parts.
fn doubling(levels: u32) -> Vec<u8> {
    let mut members = Vec::new();
    let mut last_at = 0u32;
    // Header, ids, names and count of the outermost struct.
    let start = 32u32;
    for level in 0..levels {
        let at = start + members.len() as u32 + 8;
        members.extend([0, 0, 0, 2, b'm', 0, 0, 0]);
        let mut inner = vec![0, 0, 0, 0];
        inner.extend([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
        let parts: u32 = if level == 0 { 0 } else { 2 };
        inner.extend(parts.to_be_bytes());
        for _ in 0..parts {
            inner.extend([0, 0, 0, 2, b'x', 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]);
            let offset_at = at + 8 + inner.len() as u32;
            inner.extend(last_at.wrapping_sub(offset_at).to_be_bytes());
        }
        members.extend(0x0Fu32.to_be_bytes());
        members.extend((inner.len() as u32).to_be_bytes());
        members.extend(inner);
        last_at = at;
    }
    let mut wire = 0x0Fu32.to_be_bytes().to_vec();
    wire.extend((start - 8 + members.len() as u32).to_be_bytes());
    wire.extend([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
    wire.extend(levels.to_be_bytes());
    wire.extend(members);
    wire
}

/// Conformance: TypeCode - hostile TypeCodes
#[test]
fn a_type_that_unfolds_without_end_costs_only_its_octets() {
    let wire = doubling(1000);
    let code = decode_at(&mut wire.clone(), 0, big()).expect("legal, if of no use");
    let again = decode_at(&mut wire.clone(), 0, big()).expect("legal, if of no use");
    assert_eq!(code.member_count(), 1000);
    assert_eq!(code, again);
    assert!(code.equivalent(&again));
    assert_eq!(encode_at(&code, 0, big()), wire);
    let error = orbium_cdr::skip_value(code.as_ref(), &mut CdrReader::new(&mut [0; 64], big()));
    assert!(error.is_err(), "2¹⁰⁰⁰ empty structs are not walked");
}

#[test]
fn labels_are_values_of_the_discriminator() {
    let union = |discriminator: &'static Type, label| {
        let members = [(Some(label), "m", TypeCode::from(Type::OCTET))];
        TypeCode::union("IDL:U:1.0", "U", discriminator.into(), members)
            .expect("the discriminator can be one")
    };
    let kinds: &[(&'static Type, i64)] = &[
        (Type::SHORT, -2),
        (Type::USHORT, 0xFFFE),
        (Type::LONG, -70_000),
        (Type::ULONG, 0xFFFF_FFFE),
        (Type::LONGLONG, i64::MIN),
        (Type::ULONGLONG, -1),
        (Type::CHAR, 0xE9),
        (Type::WCHAR, 0x20AC),
        (Type::OCTET, 200),
        (&COLOR, 2),
    ];
    for &(discriminator, label) in kinds {
        for minor in [1, 2] {
            let format = Format { minor, ..big() };
            let code = union(discriminator, label);
            let read = decode_at(&mut encode_at(&code, 3, format), 3, format);
            let read = read.expect("what was written");
            assert_eq!(read, code);
            assert_eq!(read.member(0).and_then(MemberRef::label), Some(label));
        }
    }
    let float = TypeCode::union("", "", Type::FLOAT.into(), []);
    assert_eq!(float, None);
}

/// Conformance: TypeCode - `equal`, `equivalent`
#[test]
fn equal_looks_at_names_and_equivalent_does_not() {
    let long = || TypeCode::from(Type::LONG);
    let named = TypeCode::structure("IDL:P:1.0", "P", [("x", long())]);
    let compact = TypeCode::structure("IDL:P:1.0", "", [("", long())]);
    let other = TypeCode::structure("IDL:Q:1.0", "P", [("x", long())]);
    let nameless = TypeCode::structure("", "", [("", long())]);
    assert_ne!(named, compact);
    assert!(named.equivalent(&compact));
    assert!(!named.equivalent(&other));
    assert!(named.equivalent(&nameless) && other.equivalent(&nameless));

    let alias = TypeCode::alias("IDL:L:1.0", "L", TypeCode::alias("", "", long()));
    assert_ne!(alias, long());
    assert!(alias.equivalent(&long()));
    assert_eq!(alias.unaliased(), long());
    let of_alias = TypeCode::sequence(alias, 0);
    assert!(of_alias.equivalent(&Vec::<i32>::type_code()));
    assert!(!of_alias.equivalent(&Vec::<u32>::type_code()));
    assert!(!of_alias.equivalent(&TypeCode::sequence(long(), 3)));
    assert!(!TypeCode::array(long(), 2).equivalent(&TypeCode::array(long(), 3)));
}

/// Conformance: TypeCode - `equal`, `equivalent`
#[test]
fn a_recursive_static_equals_what_comes_back_of_it() {
    let code = TypeCode::from(&NODE);
    let read = decode_at(&mut encode_at(&code, 0, big()), 0, big()).expect("what was written");
    assert_eq!(read, code);
    assert_eq!(code, read);
    // One turn further round it is the same type still.
    let inner = read.member(1).and_then(MemberRef::type_code);
    let inner = inner.and_then(TypeRef::content_type);
    assert!(inner.is_some_and(|inner| inner.equal(code.as_ref())));
}

#[test]
fn types_read_like_idl() {
    let shown = |description: &'static Type| TypeCode::from(description).to_string();
    assert_eq!(shown(&COLOR), "enum Color { red, green, blue }");
    assert_eq!(shown(&NODE), "struct N { long value; sequence<N> next; }");
    assert_eq!(
        shown(&CHOICE),
        "union U switch (boolean) { case TRUE: long a; default: octet b; }"
    );
    assert_eq!(shown(&FILES), "typedef sequence<File> Files");
    assert_eq!(
        shown(&FILE),
        "struct File { wstring name; sequence<Folder,1> parent; }"
    );
    assert_eq!(
        shown(&ACCOUNT),
        "valuetype Account : truncatable Base { public string owner; private Account partner; }"
    );
    assert_eq!(<[[i16; 3]; 2]>::type_code().to_string(), "short[3][2]");
    assert_eq!(WChar::type_code().to_string(), "wchar");
    let compact = TypeCode::structure(
        "IDL:omg.org/Some/Where:1.0",
        "",
        [("grid", <[[f64; 3]; 2]>::type_code())],
    );
    assert_eq!(compact.to_string(), "struct Where { double grid[2][3]; }");
}

/// Conformance: TypeCode - built at run time
#[test]
fn recursive_types_can_be_built_at_run_time() {
    let folder = |file| {
        let files = TypeCode::alias("IDL:Disk/Files:1.0", "Files", TypeCode::sequence(file, 0));
        TypeCode::structure("IDL:Disk/Folder:1.0", "Folder", [("files", files)])
    };
    let file = TypeCode::structure(
        "IDL:Disk/File:1.0",
        "File",
        [
            ("name", TypeCode::from(Type::WSTRING)),
            (
                "parent",
                TypeCode::sequence(folder(TypeCode::recursive("IDL:Disk/File:1.0")), 1),
            ),
        ],
    );
    assert_eq!(file, TypeCode::from(&FILE));
    assert_eq!(folder(file.clone()), TypeCode::from(&FOLDER));
    let octets = encode_at(&file, 0, big());
    assert_eq!(octets, encode_at(&TypeCode::from(&FILE), 0, big()));
    // What is built with the finished type is finished.
    let list = TypeCode::sequence(file, 0);
    assert!(list.equivalent(&decode_at(&mut encode_at(&list, 0, big()), 0, big()).expect("files")));
}

/// Conformance: TypeCode - built at run time
#[test]
fn a_promise_that_was_not_kept_cannot_be_sent() {
    let other = TypeCode::structure(
        "IDL:Other:1.0",
        "Other",
        [(
            "m",
            TypeCode::sequence(TypeCode::recursive("IDL:Some:1.0"), 0),
        )],
    );
    let mut writer = CdrWriter::new(big());
    other.encode(&mut writer);
    assert_eq!(
        writer.finish().map_err(|error| error.kind),
        Err(CdrErrorKind::IncompleteTypeCode)
    );
    // Nor is it lost in the type around it.
    let some = TypeCode::structure("IDL:Some:1.0", "Some", [("other", other)]);
    let mut octets = encode_at(&some, 0, big());
    assert_eq!(decode_at(&mut octets, 0, big()), Ok(some));
}

/// omniORB 4.2.5 writes -2 for the default index of a union with labels that cover
/// every value (Kitchen::ByColour); found by the interoperability tests.
#[test]
fn any_negative_default_index_means_none() {
    for index in ["ff ff ff ff", "ff ff ff fe", "80 00 00 00"] {
        let code = decode_at(
            &mut golden(&[
                ("00 00 00 10", "tk_union"),
                ("00 00 00 40", "octets that follow"),
                ("00 00 00 00", "byte order, gap"),
                ("00 00 00 01 00 00 00 00", "no id"),
                ("00 00 00 01 00 00 00 00", "no name"),
                ("00 00 00 08", "discriminator: boolean"),
                (index, "default index"),
                ("00 00 00 02", "two members"),
                (
                    "01 00 00 00 00 00 00 02 61 00 00 00 00 00 00 03",
                    "TRUE, a, long",
                ),
                (
                    "00 00 00 00 00 00 00 02 62 00 00 00 00 00 00 0a",
                    "FALSE, b, octet",
                ),
            ]),
            0,
            big(),
        );
        let code = code.expect("a union without a default member");
        assert_eq!(code.default_index(), None, "{index}");
    }
}

/// Queues counted the octets of values alone: a type keeps the names that a peer has chosen.
#[test]
fn the_memory_of_a_type_has_all_its_names_once() {
    let name = "x".repeat(10_000);
    let named = TypeCode::structure("IDL:S:1.0", &name, []);
    assert!((10_000..11_000).contains(&named.memory_size()));
    let twice = [("a", named.clone()), ("b", named)];
    let both = TypeCode::structure("IDL:T:1.0", "T", twice);
    assert!((10_000..12_000).contains(&both.memory_size()));
    let enumeration = TypeCode::enumeration("IDL:E:1.0", "E", [&*name, &*name]);
    assert!((20_000..21_000).contains(&enumeration.memory_size()));
    let format = Format::native();
    let read = decode_at(&mut encode_at(&enumeration, 0, format), 0, format).unwrap();
    assert!((20_000..22_000).contains(&read.memory_size()));
    assert_eq!(TypeCode::from(&NODE).memory_size(), 0);
}
