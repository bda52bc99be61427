// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types and values of a peer that would make much of little.

use orbium_cdr::{
    Any, CdrError, CdrErrorKind, CdrReader, Decode, Format, MemberRef, TCKind, Type, TypeCode,
};

/// A TypeCode put together by hand, with indirections where no writer makes them.
#[derive(Default)]
struct Octets(Vec<u8>);

impl Octets {
    fn long(&mut self, value: u32) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self.0.extend(value.to_ne_bytes());
    }

    fn no_text(&mut self) {
        self.long(1);
        self.0.push(0);
    }

    fn indirection(&mut self, to: usize) {
        self.long(u32::MAX);
        let at = self.0.len();
        self.long((to as u32).wrapping_sub(at as u32));
    }

    /// A type with parameters, which `write` appends with the place of the type.
    fn complex(&mut self, kind: u32, write: impl FnOnce(&mut Self, usize)) {
        self.long(kind);
        let at = self.0.len() - 4;
        self.long(0);
        let start = self.0.len();
        self.0.push(u8::from(cfg!(target_endian = "little")));
        write(self, at);
        let length = (self.0.len() - start) as u32;
        self.0[start - 4..start].copy_from_slice(&length.to_ne_bytes());
    }

    /// A struct without id and name. All of its members are of the same type: a struct of that
    /// kind again, or the outermost one after so many.
    fn ring(&mut self, structs: u32, members: u32, outermost: Option<usize>) {
        const STRUCT: u32 = 15;
        self.complex(STRUCT, |octets, at| {
            let outermost = outermost.unwrap_or(at);
            octets.no_text();
            octets.no_text();
            octets.long(members);
            octets.no_text();
            let inner = octets.0.len().next_multiple_of(4);
            match structs {
                1 => octets.indirection(outermost),
                _ => octets.ring(structs - 1, members, Some(outermost)),
            }
            for _ in 1..members {
                octets.no_text();
                match structs {
                    1 => octets.indirection(outermost),
                    _ => octets.indirection(inner),
                }
            }
        });
    }

    /// A struct of that many aliases: one of `long`, and each other one of the alias before it.
    fn chain(&mut self, aliases: u32) {
        const STRUCT: u32 = 15;
        const ALIAS: u32 = 21;
        const LONG: u32 = 3;
        self.complex(STRUCT, |octets, _| {
            octets.no_text();
            octets.no_text();
            octets.long(aliases);
            let mut before = None;
            for _ in 0..aliases {
                octets.no_text();
                octets.complex(ALIAS, |octets, at| {
                    octets.no_text();
                    octets.no_text();
                    match before.replace(at) {
                        Some(before) => octets.indirection(before),
                        None => octets.long(LONG),
                    }
                });
            }
        });
    }

    fn decode(mut self) -> Result<TypeCode, CdrError> {
        TypeCode::decode(&mut CdrReader::new(&mut self.0, Format::native()))
    }
}

fn ring(structs: u32, members: u32) -> TypeCode {
    let mut octets = Octets::default();
    octets.ring(structs, members, None);
    octets.decode().expect("a type")
}

/// Each pair of structs of the two rings has to be looked at, and each had its members noted before
/// one of them was looked at: two types of a megabyte took 400 MB.
#[test]
fn types_that_take_too_long_to_compare_differ() {
    assert!(ring(5, 3).equivalent(&ring(7, 3)));
    assert!(ring(5, 3).equal(&ring(7, 3)));
    assert!(!ring(5, 3).equivalent(&ring(7, 2)));
    // 113 times 109 pairs of 300 members.
    assert!(!ring(113, 300).equivalent(&ring(109, 300)));
    assert!(!ring(113, 300).equal(&ring(109, 300)));
}

/// The names of members and enumerators are shown for each element: a message of two megabytes became
/// a text of a terabyte.
#[test]
fn the_text_of_a_value_has_an_end() {
    let name = "ä".repeat(5_000);
    let member = [(&*name, Type::OCTET.into())];
    let structs = TypeCode::sequence(TypeCode::structure("IDL:S:1.0", "S", member), 0);
    shown_in_part(&Any::with_type(structs, &vec![7u8; 1_000]).expect("structs"));
    let enums = TypeCode::sequence(TypeCode::enumeration("IDL:E:1.0", "E", [&*name]), 0);
    shown_in_part(&Any::with_type(enums, &vec![0u32; 1_000]).expect("enums"));
}

fn shown_in_part(any: &Any) {
    let shown = format!("{any:?}");
    assert!(shown.ends_with("…)"), "{} octets", shown.len());
    assert!(shown.len() < 1_100_000, "{} octets", shown.len());
}

/// The name of a type is shown wherever another one refers to it.
#[test]
fn the_text_of_a_type_has_short_names() {
    let inner = TypeCode::interface("IDL:I:1.0", &"ä".repeat(5_000));
    let members = (0..100).map(|_| ("m", inner.clone()));
    let shown = TypeCode::structure("IDL:S:1.0", "S", members).to_string();
    assert!(shown.starts_with("struct S { ää"), "{}", &shown[..100]);
    assert!(shown.len() < 100 * 300, "{} octets", shown.len());
}

/// An alias of a finished alias nests no encapsulation: a chain of them was as long as the message,
/// and each use of its end followed all of it.
#[test]
fn chains_of_aliases_are_bounded() {
    let chain = |aliases| {
        let mut octets = Octets::default();
        octets.chain(aliases);
        octets.decode()
    };
    let longest = chain(128).expect("as deep as a type may be nested");
    let last = longest.member(127).and_then(MemberRef::type_code);
    assert_eq!(last.map(|code| code.unaliased().kind()), Some(TCKind::Long));
    let refused = chain(129).map_err(|error| error.kind);
    assert_eq!(refused, Err(CdrErrorKind::TooDeep));
}
