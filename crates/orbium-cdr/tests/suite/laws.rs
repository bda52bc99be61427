// SPDX-License-Identifier: MIT OR Apache-2.0
//! Laws that hold for every type and every value of it: what is written can be
//! read back, whatever the byte order, the alignment, the version and the code
//! set, and no octets whatever make a reader panic or run on.
use orbium_cdr::{
    Any, ByteOrder, CdrErrorKind, CdrReader, CdrWriter, Char, CharSet, Decode, Encode, Fixed,
    Format, LongDouble, Member, TCKind, Type, TypeCode, TypeRef, Typed, WChar, copy_value,
    skip_value,
};
use proptest::prelude::*;

static COLOR: Type = Type::enumeration(
    "IDL:Color:1.0",
    "Color",
    &[Member::enumerator("red"), Member::enumerator("green")],
);

/// Recursive, through a sequence and through a union.
static TREE: Type = Type::structure(
    "IDL:Tree:1.0",
    "Tree",
    &[
        Member::new("tag", Type::OCTET),
        Member::new("weight", Type::DOUBLE),
        Member::new("branches", &Type::sequence(&TREE, 3)),
        Member::new("extra", &EXTRA),
    ],
);
static EXTRA: Type = Type::union(
    "IDL:Extra:1.0",
    "Extra",
    &COLOR,
    &[
        Member::case(0, "grafts", &Type::sequence(&TREE, 0)),
        Member::otherwise("note", Type::WSTRING),
    ],
);

/// Numbers from a seed; the values of a type are made of them.
struct Dice(u64);

impl Dice {
    fn draw(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.draw() % limit
    }

    /// Text that every code set has; within the bound, if there is one.
    fn text(&mut self, bound: u32) -> String {
        const CHARACTERS: &[char] = &['a', 'Z', ' ', '"', 'é', 'ÿ', '~', '\u{1}'];
        let most = if bound == 0 {
            9
        } else {
            u64::from(bound.min(9)) + 1
        };
        let length = self.below(most);
        (0..length)
            .map(|_| CHARACTERS[self.below(CHARACTERS.len() as u64) as usize])
            .collect()
    }
}

/// Writes some value of the type, by the rules of clause 9.3 and without the
/// help of the interpreter.
fn write_some(code: TypeRef<'_>, dice: &mut Dice, depth: u32, writer: &mut CdrWriter<'_>) {
    let number = dice.draw();
    match code.kind() {
        TCKind::Null | TCKind::Void => {}
        TCKind::Boolean => writer.write_bool(number & 1 == 1),
        TCKind::Octet => writer.write_u8(number as u8),
        TCKind::Char => writer.write_u8(number as u8 & 0x7F),
        TCKind::Short | TCKind::UShort => writer.write_u16(number as u16),
        TCKind::Long | TCKind::ULong | TCKind::Float => writer.write_u32(number as u32),
        TCKind::LongLong | TCKind::ULongLong | TCKind::Double => writer.write_u64(number),
        TCKind::LongDouble => {
            let mut octets = [0; 16];
            octets[..8].copy_from_slice(&number.to_le_bytes());
            octets[8..].copy_from_slice(&dice.draw().to_le_bytes());
            writer.write_fixed(&LongDouble(octets));
        }
        TCKind::WChar => writer.write_wchar(WChar(number as u16)),
        TCKind::String => write_text(&dice.text(code.length()), writer),
        TCKind::WString => writer.write_wstr(&dice.text(code.length())),
        TCKind::Enum => writer.write_u32(dice.below(code.member_count() as u64) as u32),
        TCKind::Fixed => {
            let digits = usize::from(code.digits());
            let mut octets = vec![0u8; digits / 2 + 1];
            for place in 1..=digits {
                let octet = octets.len() - 1 - place / 2;
                octets[octet] |= (dice.below(10) as u8) << (4 * (place % 2));
            }
            let zero = octets.iter().all(|octet| *octet == 0);
            let last = octets.len() - 1;
            octets[last] |= if zero || number & 1 == 0 { 0xC } else { 0xD };
            writer.write_raw(&octets);
        }
        TCKind::Any => {
            const INNER: [&Type; 4] = [Type::NULL, Type::DOUBLE, Type::STRING, &TREE];
            let inner = TypeCode::from(INNER[dice.below(4) as usize]);
            inner.as_ref().write(writer);
            write_some(inner.as_ref(), dice, depth + 1, writer);
        }
        TCKind::TypeCode => TypeCode::from(&TREE).as_ref().write(writer),
        TCKind::ObjRef => {
            writer.write_name("IDL:Some:1.0");
            let count = dice.below(3);
            writer.write_u32(count as u32);
            for _ in 0..count {
                writer.write_u32(dice.draw() as u32);
                writer.write_octets(dice.text(0).as_bytes());
            }
        }
        _ => write_parts(code, dice, depth, writer),
    }
}

fn write_parts(code: TypeRef<'_>, dice: &mut Dice, depth: u32, writer: &mut CdrWriter<'_>) {
    let element = code.content_type();
    match code.kind() {
        TCKind::Alias => write_some(element.expect("an original"), dice, depth, writer),
        TCKind::Sequence => {
            let most = if code.length() == 0 {
                4
            } else {
                code.length().min(4)
            };
            let count = if depth > 4 {
                0
            } else {
                dice.below(u64::from(most) + 1)
            };
            writer.write_u32(count as u32);
            for _ in 0..count {
                write_some(element.expect("an element"), dice, depth + 1, writer);
            }
        }
        TCKind::Array => {
            for _ in 0..code.length() {
                write_some(element.expect("an element"), dice, depth + 1, writer);
            }
        }
        TCKind::Struct | TCKind::Except => {
            if code.kind() == TCKind::Except {
                writer.write_name(code.id());
            }
            for member in code.members() {
                write_some(member.type_code().expect("a type"), dice, depth + 1, writer);
            }
        }
        TCKind::Union => {
            // Unions here have enum discriminators, or short ones.
            let discriminator = code.discriminator_type().expect("a discriminator");
            let label = dice.below(2);
            match discriminator.kind() {
                TCKind::Enum => writer.write_u32(label as u32),
                _ => writer.write_u16(label as u16),
            }
            if let Some(member) = code.selected_member(label as i64) {
                write_some(member.type_code().expect("a type"), dice, depth + 1, writer);
            }
        }
        kind => panic!("{kind:?} is not generated"),
    }
}

fn write_text(text: &str, writer: &mut CdrWriter<'_>) {
    match writer.format().char_set {
        CharSet::Utf8 | CharSet::Utf8AndLatin1Char => writer.write_name(text),
        CharSet::Latin1 => {
            writer.write_u32(text.chars().count() as u32 + 1);
            for c in text.chars() {
                writer.write_u8(u8::try_from(c).expect("text of ISO 8859-1"));
            }
            writer.write_u8(0);
        }
    }
}

fn leaf_type() -> impl Strategy<Value = TypeCode> {
    let simple: Vec<&'static Type> = vec![
        Type::NULL,
        Type::BOOLEAN,
        Type::OCTET,
        Type::CHAR,
        Type::SHORT,
        Type::USHORT,
        Type::LONG,
        Type::ULONG,
        Type::FLOAT,
        Type::DOUBLE,
        Type::LONGLONG,
        Type::ULONGLONG,
        Type::LONGDOUBLE,
        Type::WCHAR,
        Type::STRING,
        Type::WSTRING,
        Type::ANY,
        Type::TYPE_CODE,
        Type::OBJECT,
        &COLOR,
        &TREE,
    ];
    prop_oneof![
        8 => proptest::sample::select(simple).prop_map(TypeCode::from),
        1 => (1u32..6).prop_map(TypeCode::string),
        1 => (1u32..6).prop_map(TypeCode::wstring),
        1 => proptest::sample::select(vec![
            Fixed::<1, 0>::TYPE,
            Fixed::<8, 3>::TYPE,
            Fixed::<31, 31>::TYPE,
        ])
        .prop_map(TypeCode::from),
    ]
}

fn any_type() -> impl Strategy<Value = TypeCode> {
    leaf_type().prop_recursive(3, 24, 4, |inner| {
        let members = proptest::collection::vec(inner.clone(), 0..4);
        let named = |codes: Vec<TypeCode>| codes.into_iter().map(|code| ("m", code));
        prop_oneof![
            (inner.clone(), 0u32..4).prop_map(|(code, bound)| TypeCode::sequence(code, bound)),
            (inner.clone(), 0u32..4).prop_map(|(code, length)| TypeCode::array(code, length)),
            inner
                .clone()
                .prop_map(|code| TypeCode::alias("IDL:A:1.0", "A", code)),
            members.clone().prop_map(move |codes| TypeCode::structure(
                "IDL:S:1.0",
                "S",
                named(codes)
            )),
            members.prop_map(move |codes| TypeCode::exception("IDL:E:1.0", "E", named(codes))),
            (inner.clone(), inner, any::<bool>()).prop_map(|(first, other, default)| {
                let other_label = (!default).then_some(7);
                let members = [(Some(0), "first", first), (other_label, "other", other)];
                TypeCode::union("IDL:U:1.0", "U", TypeCode::from(Type::SHORT), members)
                    .expect("a short can discriminate")
            }),
        ]
    })
}

fn any_format() -> impl Strategy<Value = Format> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(big, old, latin1)| Format {
        order: if big {
            ByteOrder::Big
        } else {
            ByteOrder::Little
        },
        minor: if old { 1 } else { 2 },
        char_set: if latin1 {
            CharSet::Latin1
        } else {
            CharSet::Utf8
        },
        ..Format::native()
    })
}

/// Some value of the type at a phase; what stands before it is no part of it.
fn some_value(code: &TypeCode, seed: u64, format: Format, phase: usize) -> Vec<u8> {
    let mut writer = CdrWriter::new(format);
    writer.write_raw(&[0xEE; 8][..phase]);
    write_some(code.as_ref(), &mut Dice(seed), 0, &mut writer);
    writer.finish().expect("values are made to fit")
}

fn copied(code: &TypeCode, octets: &[u8], from: (Format, usize), to: (Format, usize)) -> Vec<u8> {
    let mut octets = octets[from.1..].to_vec();
    let mut reader = CdrReader::at(&mut octets, from.1, from.0);
    let mut writer = CdrWriter::new(to.0);
    writer.write_raw(&[0xEE; 8][..to.1]);
    copy_value(code.as_ref(), &mut reader, &mut writer).expect("every format has these values");
    assert_eq!(reader.remaining(), 0, "the whole value was read");
    writer.finish().expect("every format has these values")
}

fn encoded<T: Encode>(value: &T, format: Format, phase: usize) -> Vec<u8> {
    let mut writer = CdrWriter::new(format);
    writer.write_raw(&[0xEE; 8][..phase]);
    value.encode(&mut writer);
    writer.finish().expect("every format has these values")
}

fn decoded<T: Decode>(octets: &[u8], format: Format, phase: usize) -> T {
    let mut octets = octets[phase..].to_vec();
    let mut reader = CdrReader::at(&mut octets, phase, format);
    let value = T::decode(&mut reader).expect("what was written can be read");
    assert_eq!(reader.remaining(), 0, "the whole value was read");
    value
}

/// Encoding and decoding a value of a Rust type, at every phase, bare and in an
/// any.
fn round_trip<T>(value: &T, format: Format) -> Result<(), TestCaseError>
where
    T: Typed + Encode + Decode + PartialEq + std::fmt::Debug,
{
    let held = Any::new(value).expect("an any holds every value");
    prop_assert_eq!(&held.extract::<T>().expect("the value put in"), value);
    for phase in 0..8 {
        let octets = encoded(value, format, phase);
        prop_assert_eq!(&decoded::<T>(&octets, format, phase), value);
        let code = T::type_code();
        let native = (Format::native(), 0);
        let there = copied(&code, &octets, (format, phase), native);
        prop_assert_eq!(&there, &encoded(value, native.0, 0));
        prop_assert_eq!(copied(&code, &there, native, (format, phase)), octets);
        let octets = encoded(&held, format, phase);
        prop_assert_eq!(&decoded::<Any>(&octets, format, phase), &held);
    }
    Ok(())
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::char::range('\u{1}', '\u{FF}'), 0..20)
        .prop_map(|characters| characters.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_copy_there_and_back_is_the_value(
        code in any_type(), seed: u64, from in any_format(), to in any_format(),
    ) {
        for phase in 0..8 {
            let (from, to) = ((from, phase), (to, (phase * 3 + seed as usize) % 8));
            let octets = some_value(&code, seed, from.0, from.1);
            let there = copied(&code, &octets, from, to);
            prop_assert_eq!(&some_value(&code, seed, to.0, to.1), &there);
            prop_assert_eq!(copied(&code, &there, to, from), octets);
        }
    }

    /// Conformance: TypeCode - unknown types kept and passed on
    #[test]
    fn an_any_is_the_same_through_every_format(
        code in any_type(), seed: u64, from in any_format(), to in any_format(), phase in 0usize..8,
    ) {
        let value = some_value(&code, seed, from, 0);
        let mut octets = value.clone();
        let mut reader = CdrReader::new(&mut octets, from);
        let held = Any::read_value(code.clone(), &mut reader).expect("a value of the type");
        let sent = encoded(&held, to, phase);
        let received: Any = decoded(&sent, to, phase);
        prop_assert_eq!(&received, &held);
        prop_assert_eq!(received.type_code(), &code);
        prop_assert_eq!(encoded(&received, to, phase), sent);
        // The value alone is what it was before it came into the any.
        let mut writer = CdrWriter::new(from);
        received.write_value(&mut writer);
        prop_assert_eq!(writer.finish().expect("the format it came in"), value);
        prop_assert!(!format!("{received:?}").contains("(octet "), "shown without an error");
    }

    /// Conformance: TypeCode - every kind
    #[test]
    fn a_typecode_is_the_same_through_every_format(
        code in any_type(), format in any_format(), phase in 0usize..8,
    ) {
        let octets = encoded(&code, format, phase);
        let read: TypeCode = decoded(&octets, format, phase);
        prop_assert_eq!(&read, &code);
        prop_assert!(read.equivalent(&code));
        prop_assert_eq!(encoded(&read, format, phase), octets);
    }

    /// Conformance: CDR - every mapped type, at every alignment, in both orders
    #[test]
    fn values_of_rust_types_come_back(
        format in any_format(),
        longs: Vec<i32>, doubles in proptest::collection::vec(-1e300f64..1e300, 0..9),
        octets: Vec<u8>, shorts: [[i16; 3]; 2], flags: Vec<bool>, quads: Vec<u64>,
        texts in proptest::collection::vec(text(), 0..5),
        wide: u16, ascii in 0u8..128, long_double: [u8; 16],
    ) {
        round_trip(&longs, format)?;
        round_trip(&doubles, format)?;
        round_trip(&octets, format)?;
        round_trip(&shorts, format)?;
        round_trip(&flags, format)?;
        round_trip(&quads, format)?;
        round_trip(&texts, format)?;
        round_trip(&WChar(wide), format)?;
        round_trip(&vec![WChar(wide), WChar(!wide)], format)?;
        round_trip(&vec![Char(ascii)], format)?;
        round_trip(&vec![LongDouble(long_double)], format)?;
        round_trip(&vec![Any::from(wide), Any::default()], format)?;
    }

    #[test]
    fn decimals_come_back_from_octets_and_from_text(
        unscaled in -9_999_999i128..10_000_000, format in any_format(),
    ) {
        let value = Fixed::<7, 3>::from_unscaled(unscaled).expect("seven digits");
        round_trip(&value, format)?;
        prop_assert_eq!(value.to_string().parse(), Ok(value));
        let even = Fixed::<8, 8>::from_unscaled(unscaled).expect("eight digits");
        round_trip(&even, format)?;
        prop_assert_eq!(even.to_string().parse(), Ok(even));
        prop_assert_eq!(Fixed::<7, 3>::from_f64(value.to_f64()), Some(value));
    }

    /// Conformance: CDR - `fixed`
    #[test]
    fn decimal_arithmetic_is_that_of_integers(
        a in -999_999i128..1_000_000, b in -999_999i128..1_000_000,
    ) {
        let x = Fixed::<6, 2>::from_unscaled(a).expect("six digits");
        let y = Fixed::<6, 3>::from_unscaled(b).expect("six digits");
        let product: Option<Fixed<12, 5>> = x.checked_mul(y);
        prop_assert_eq!(product.map(Fixed::unscaled), Some(a * b));
        let quotient: Option<Fixed<24, 6>> = x.checked_div(y);
        // (a / 10²) / (b / 10³) in units of 10⁻⁶.
        let expected = (b != 0).then(|| a * 10_000_000 / if b == 0 { 1 } else { b });
        prop_assert_eq!(quotient.map(Fixed::unscaled), expected);
    }

    /// Conformance: robustness - anys changed at random
    #[test]
    fn a_value_cut_short_is_an_error(code in any_type(), seed: u64, format in any_format()) {
        let octets = some_value(&code, seed, format, 0);
        for length in 0..octets.len() {
            let mut cut = octets[..length].to_vec();
            let mut reader = CdrReader::new(&mut cut, format);
            prop_assert!(skip_value(code.as_ref(), &mut reader).is_err(), "{} octets", length);
        }
        let whole = {
            let mut writer = CdrWriter::new(format);
            code.encode(&mut writer);
            writer.finish().expect("types can be written")
        };
        for length in 0..whole.len() {
            let mut cut = whole[..length].to_vec();
            let mut reader = CdrReader::new(&mut cut, format);
            prop_assert!(TypeCode::decode(&mut reader).is_err(), "{} octets", length);
        }
    }

    /// Conformance: robustness - anys changed at random
    #[test]
    fn mutated_anys_end_in_a_value_or_an_error(
        code in any_type(), seed: u64, format in any_format(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut octets = some_value(&code, seed, format, 0);
        let mut reader = CdrReader::new(&mut octets, format);
        let held = Any::read_value(code, &mut reader).expect("a value of the type");
        let mut octets = encoded(&held, format, 0);
        for (place, octet) in changes {
            let place = place.index(octets.len());
            octets[place] = octet;
        }
        if let Ok(read) = Any::decode(&mut CdrReader::new(&mut octets, format)) {
            // What was believed can be shown, compared and sent again.
            let shown = format!("{read:?}");
            prop_assert!(shown.starts_with("Any("));
            prop_assert_eq!(&read, &read.clone());
            let mut writer = CdrWriter::new(Format::native());
            read.encode(&mut writer);
            match writer.finish() {
                Ok(sent) => {
                    let again: Any = decoded(&sent, Format::native(), 0);
                    prop_assert_eq!(again.value_octets(), read.value_octets());
                }
                // A char may have become one that UTF-8 has no single octet for.
                Err(error) => prop_assert_eq!(error.kind, CdrErrorKind::CannotConvert),
            }
        }
    }

    /// Conformance: robustness - anys changed at random
    #[test]
    fn random_octets_end_in_a_value_or_an_error(mut octets: Vec<u8>, format in any_format()) {
        // Small numbers are kinds more often than not.
        for octet in octets.iter_mut().skip(3).step_by(4) {
            *octet %= 40;
        }
        let mut copy = octets.clone();
        if let Ok(read) = Any::decode(&mut CdrReader::new(&mut copy, format)) {
            prop_assert!(read.value_octets().len() <= 4 * octets.len());
        }
    }
}
