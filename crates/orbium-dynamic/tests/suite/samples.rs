// SPDX-License-Identifier: MIT OR Apache-2.0
//! IDL with every type, and values of any type out of random bytes.

use orbium_cdr::{
    Any, CdrReader, CdrWriter, Char, Format, LongDouble, MemberRef, TCKind, Type, TypeCode,
    TypeRef, WChar, write_packed_decimal,
};
use orbium_dynamic::{Definitions, JsonOptions};
use orbium_idl::{Options, compile_source};

pub(crate) const IDL: &str = r#"
#pragma prefix "test"
module All {
  enum Colour { red, green, blue };
  typedef string<4> Brief;
  typedef wstring<3> Wide;
  typedef fixed<5,2> Money;
  typedef long Matrix[2][3];
  typedef octet Uuid[4];
  typedef sequence<octet> Bytes;
  typedef sequence<char, 5> Letters;
  typedef sequence<Money> Prices;
  struct Node;
  typedef sequence<Node> Nodes;
  struct Node { string name; Nodes children; };
  struct Numbers {
    boolean b; octet o; short s; unsigned short us; long l; unsigned long ul; long long ll;
    unsigned long long ull; float f; double d; long double ld; char c; wchar w;
  };
  union ByColour switch (Colour) { case red: long l; case green: case blue: string text; };
  union ByBool switch (boolean) { case TRUE: Numbers n; };
  union ByChar switch (char) { case 'a': octet o; case 'b': Nodes tree; default: double d; };
  union ByWide switch (unsigned long long) {
    case 1: any a; case 18446744073709551615: Bytes b; default: Brief s;
  };
  struct Everything {
    Numbers n; Brief s; Wide w; string t; wstring v; Money m; fixed<31,0> big; Matrix x; Uuid u;
    Bytes y; Letters z; Prices p; Colour c; ByColour bc; ByBool bb; ByChar bh; ByWide bw; Node tree;
    any a; CORBA::TypeCode code; Object o; sequence<sequence<boolean,2>,2> flags;
  };
  exception Empty {};
  exception Refused { string why; Numbers n; };
  interface Thing {
    attribute Brief label;
    readonly attribute Colour shade;
    Node turn(in Node v, inout long count, out Brief name) raises (Refused, Empty);
    oneway void note(in string what);
  };
};
"#;

/// What [`IDL`] defines. `orb.idl` gives `CORBA::TypeCode`.
pub(crate) fn definitions() -> Definitions {
    compiled(&format!("#include <orb.idl>\n{IDL}"))
}

/// What some IDL defines.
pub(crate) fn compiled(idl: &str) -> Definitions {
    let compilation = compile_source(&Options::new(), "all.idl", idl);
    let errors = compilation.to_string();
    Definitions::new(compilation.model.unwrap_or_else(|| panic!("{errors}")))
}

/// JSON may name the types that the definitions have.
pub(crate) fn known_types(definitions: &Definitions) -> JsonOptions<'_> {
    JsonOptions {
        types: Some(definitions),
        ..JsonOptions::default()
    }
}

/// Every type that a value in an any may have here.
pub(crate) fn types(definitions: &Definitions) -> Vec<TypeCode> {
    let named = [
        "Colour",
        "Brief",
        "Wide",
        "Money",
        "Matrix",
        "Uuid",
        "Bytes",
        "Letters",
        "Prices",
        "Node",
        "Nodes",
        "Numbers",
        "ByColour",
        "ByBool",
        "ByChar",
        "ByWide",
        "Everything",
        "Empty",
        "Refused",
        "Thing",
    ];
    let named = named.map(|name| definitions.type_named(&format!("All::{name}")).unwrap());
    let simple = [
        Type::BOOLEAN,
        Type::OCTET,
        Type::CHAR,
        Type::WCHAR,
        Type::SHORT,
        Type::USHORT,
        Type::LONG,
        Type::ULONG,
        Type::LONGLONG,
        Type::ULONGLONG,
        Type::FLOAT,
        Type::DOUBLE,
        Type::LONGDOUBLE,
        Type::STRING,
        Type::WSTRING,
        Type::ANY,
        Type::TYPE_CODE,
        Type::PRINCIPAL,
        Type::OBJECT,
        Type::NULL,
    ];
    let built = [
        TypeCode::string(3),
        TypeCode::fixed(31, 31),
        TypeCode::sequence(TypeCode::fixed(3, 1), 2),
        TypeCode::array(TypeCode::sequence(Type::STRING.into(), 0), 2),
        TypeCode::structure("", "", [("", Type::LONG.into())]),
    ];
    named
        .into_iter()
        .chain(simple.map(TypeCode::from))
        .chain(built)
        .collect()
}

/// Random bytes; zeros when they are used up.
pub(crate) struct Entropy<'e>(pub(crate) std::slice::Iter<'e, u8>);

impl Entropy<'_> {
    fn octet(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn below(&mut self, limit: usize) -> usize {
        (usize::from(self.octet()) * 256 + usize::from(self.octet())) % limit
    }

    fn octets<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.octet())
    }

    fn text(&mut self, longest: usize, wide: bool) -> String {
        const CHARS: [char; 12] = [
            'a', 'Z', '0', ' ', '"', '\\', '\n', '\u{1}', 'é', '€', '\u{FFFD}', '𝄞',
        ];
        let mut text = String::new();
        for _ in 0..self.below(longest + 1) {
            let c = CHARS[self.below(CHARS.len())];
            let length = if wide {
                text.encode_utf16().count() + c.len_utf16()
            } else {
                0
            };
            if length > longest {
                break;
            }
            text.push(c);
        }
        text
    }
}

/// A value of a type.
pub(crate) fn value(code: &TypeCode, types: &[TypeCode], entropy: &mut Entropy<'_>) -> Any {
    let mut writer = CdrWriter::new(Format::native());
    write(code.as_ref(), types, entropy, &mut writer, 6);
    let mut octets = writer.finish().unwrap();
    let mut reader = CdrReader::new(&mut octets, Format::native());
    Any::read_value(code.clone(), &mut reader).unwrap()
}

fn write(
    code: TypeRef<'_>,
    types: &[TypeCode],
    entropy: &mut Entropy<'_>,
    writer: &mut CdrWriter<'static>,
    depth: usize,
) {
    let code = code.unaliased();
    let length = |entropy: &mut Entropy<'_>| match (depth, code.length() as usize) {
        (0, _) => 0,
        (_, 0) => entropy.below(4),
        (_, bound) => entropy.below(bound + 1),
    };
    match code.kind() {
        TCKind::Null => {}
        TCKind::Boolean => writer.write_bool(entropy.octet() & 1 == 1),
        TCKind::Octet => writer.write_u8(entropy.octet()),
        TCKind::Char => writer.write_u8(Char(entropy.octet()).0),
        TCKind::WChar => writer.write_wchar(WChar(u16::from_ne_bytes(entropy.octets()))),
        TCKind::Short | TCKind::UShort => writer.write_u16(u16::from_ne_bytes(entropy.octets())),
        TCKind::Long | TCKind::ULong | TCKind::Float => {
            writer.write_u32(u32::from_ne_bytes(entropy.octets()));
        }
        TCKind::LongLong | TCKind::ULongLong | TCKind::Double => {
            writer.write_u64(u64::from_ne_bytes(entropy.octets()));
        }
        TCKind::LongDouble => writer.write_fixed(&LongDouble(entropy.octets())),
        TCKind::Fixed => {
            let limit = 10i128.pow(u32::from(code.digits()));
            let unscaled = i128::from_ne_bytes(entropy.octets()) % limit;
            write_packed_decimal(writer, unscaled, code.digits());
        }
        TCKind::String => writer.write_name(&entropy.text(bound(code), false)),
        TCKind::WString => writer.write_wstr(&entropy.text(bound(code), true)),
        TCKind::Enum => writer.write_u32(entropy.below(code.member_count()) as u32),
        TCKind::Struct | TCKind::Except => {
            if code.kind() == TCKind::Except {
                writer.write_name(code.id());
            }
            for member in code.members() {
                write(member.type_code().unwrap(), types, entropy, writer, depth);
            }
        }
        TCKind::Union => {
            let discriminator = code.discriminator_type().unwrap().unaliased();
            let labels: Vec<_> = code.members().filter_map(MemberRef::label).collect();
            let label = match discriminator.kind() {
                TCKind::Enum => entropy.below(discriminator.member_count()) as i64,
                TCKind::Boolean => entropy.below(2) as i64,
                TCKind::Char => i64::from(entropy.octet()),
                _ => match entropy.below(labels.len() + 1) {
                    index if index < labels.len() => labels[index],
                    _ => i64::from_ne_bytes(entropy.octets()),
                },
            };
            match discriminator.kind() {
                TCKind::Enum => writer.write_u32(label as u32),
                TCKind::Boolean | TCKind::Char => writer.write_u8(label as u8),
                _ => writer.write_u64(label as u64),
            }
            if let Some(member) = code.selected_member(label) {
                write(member.type_code().unwrap(), types, entropy, writer, depth);
            }
        }
        TCKind::Sequence | TCKind::Array => {
            let count = match code.kind() {
                TCKind::Array => code.length() as usize,
                _ => {
                    let count = length(entropy);
                    writer.write_count(count);
                    count
                }
            };
            for _ in 0..count {
                let element = code.content_type().unwrap();
                write(element, types, entropy, writer, depth.saturating_sub(1));
            }
        }
        TCKind::Any => {
            let inner = match depth {
                0 => TypeCode::default(),
                _ => types[entropy.below(types.len())].clone(),
            };
            inner.as_ref().write(writer);
            write(
                inner.as_ref(),
                types,
                entropy,
                writer,
                depth.saturating_sub(2),
            );
        }
        TCKind::TypeCode => types[entropy.below(types.len())].as_ref().write(writer),
        TCKind::Principal => writer.write_octets(&entropy.octets::<3>()),
        TCKind::ObjRef => {
            let has_profile = entropy.octet() & 1 == 1;
            writer.write_name(&entropy.text(8, false));
            writer.write_count(usize::from(has_profile));
            if has_profile {
                writer.write_u32(u32::from_ne_bytes(entropy.octets()));
                writer.write_octets(&entropy.octets::<5>());
            }
        }
        kind => panic!("no values of {kind:?} are made here"),
    }
}

fn bound(code: TypeRef<'_>) -> usize {
    match code.length() {
        0 => 9,
        bound => bound as usize,
    }
}
