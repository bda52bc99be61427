// SPDX-License-Identifier: MIT OR Apache-2.0
//! TypeCodes of value types that refer back to one base.

use orbium_cdr::{Any, CdrErrorKind, Format};

use crate::in_anys::{owner, read_by};

/// A TypeCode put together by hand: one that refers back to what is no part of its way there.
#[derive(Default)]
struct Octets(Vec<u8>);

impl Octets {
    fn long(&mut self, value: u32) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self.0.extend(value.to_ne_bytes());
    }

    fn text(&mut self, text: &str) {
        self.long(text.len() as u32 + 1);
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }

    fn short(&mut self, value: u16) {
        self.0.resize(self.0.len().next_multiple_of(2), 0);
        self.0.extend(value.to_ne_bytes());
    }

    /// A type of a kind with an id. Returns where it is.
    fn complex(&mut self, kind: u32, id: &str, rest: impl FnOnce(&mut Self)) -> usize {
        self.long(kind);
        let at = self.0.len() - 4;
        self.long(0);
        let start = self.0.len();
        self.0.push(u8::from(cfg!(target_endian = "little")));
        self.text(id);
        self.text("");
        rest(self);
        let length = (self.0.len() - start) as u32;
        self.0[start - 4..start].copy_from_slice(&length.to_ne_bytes());
        at
    }
}

/// An any of a struct of values of many types with one base, which is described once: it has so
/// many members of that name.
fn derived_of_one_base(types: u32, members: u32, name: &str) -> Vec<u8> {
    const STRUCT: u32 = 15;
    const VALUE: u32 = 29;
    let base = |octets: &mut Octets| {
        octets.complex(VALUE, "IDL:Base:1.0", |octets| {
            octets.short(0);
            octets.long(0);
            octets.long(members);
            for _ in 0..members {
                octets.text(name);
                octets.long(0);
                octets.short(1);
            }
        })
    };
    let mut octets = Octets::default();
    octets.complex(STRUCT, "IDL:S:1.0", |octets| {
        octets.long(types);
        let mut base_at = None;
        for number in 0..types {
            octets.text("");
            octets.complex(VALUE, &format!("IDL:T{number}:1.0"), |octets| {
                octets.short(0);
                match base_at {
                    None => base_at = Some(base(octets)),
                    Some(at) => {
                        octets.long(u32::MAX);
                        octets.long((at as u32).wrapping_sub(octets.0.len() as u32));
                    }
                }
                octets.long(0);
            });
        }
    });
    (0..types).for_each(|_| octets.long(0x7fff_ff00));
    octets.0
}

/// The members of the base would be kept for each type.
///
/// Conformance: CDR - value types in anys - limits
#[test]
fn many_types_of_one_large_base_are_refused() {
    let read = |types| {
        let octets = derived_of_one_base(types, 100, "");
        read_by::<Any>(&owner(|_| {}), &octets, Format::native()).map(drop)
    };
    assert_eq!(read(10), Ok(()));
    assert_eq!(read(20_000), Err(CdrErrorKind::CountTooLarge));
}

/// The name of a member of the base was copied for each type: a message of two megabytes took
/// fourteen gigabytes.
#[test]
fn many_types_of_a_base_with_a_long_name_are_refused() {
    let name = "x".repeat(200_000);
    let read = |types| {
        let octets = derived_of_one_base(types, 1, &name);
        read_by::<Any>(&owner(|_| {}), &octets, Format::native()).map(drop)
    };
    assert_eq!(read(3), Ok(()));
    assert_eq!(read(100), Err(CdrErrorKind::CountTooLarge));
}

/// A long id would be compared and looked up for each value.
#[test]
fn a_value_type_with_a_long_repository_id_is_refused() {
    const VALUE: u32 = 29;
    let read = |length: usize| {
        let mut octets = Octets::default();
        octets.complex(VALUE, &"x".repeat(length), |octets| {
            octets.short(0);
            octets.long(0);
            octets.long(0);
        });
        octets.long(0x7fff_ff00);
        read_by::<Any>(&owner(|_| {}), &octets.0, Format::native()).map(drop)
    };
    assert_eq!(read(1024), Ok(()));
    assert_eq!(read(1025), Err(CdrErrorKind::BadTypeCode));
}
