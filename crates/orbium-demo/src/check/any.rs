// SPDX-License-Identifier: MIT OR Apache-2.0
//! An any that contains each existing type.

use orbium::codegen::{CdrError, CdrReader, CdrWriter, Decode, Encode, Type, Typed};
use orbium::{Any, Char, Fixed, Interface, LongDouble, ObjectRef, TypeCode, WChar};

use super::planned::Needs::{Nothing, Wide};
use super::planned::{Planned, World};
use super::verdict::{Failure, Verdict, expect, failed, require};
use crate::cubit::{Many, TooBig};
use crate::kitchen::{self, ByBool, ByChar, Colour, Peer};
use crate::specimen::{mixed, refused, scalars, tree};

pub(super) const ALL: &[Planned<World>] = &[
    ("any.null", Nothing, |w| echo(w, &Any::default()).map(drop)),
    ("any.boolean", Nothing, |w| value(w, &true)),
    ("any.char", Nothing, |w| value(w, &Char(b'q'))),
    ("any.octet", Nothing, |w| value(w, &250_u8)),
    ("any.wchar", Wide, |w| value(w, &WChar(0x20AC))),
    ("any.short", Nothing, |w| value(w, &i16::MIN)),
    ("any.ushort", Nothing, |w| value(w, &u16::MAX)),
    ("any.long", Nothing, |w| value(w, &-70_000_i32)),
    ("any.ulong", Nothing, |w| value(w, &4_000_000_000_u32)),
    ("any.longlong", Nothing, |w| value(w, &-5_000_000_000_i64)),
    ("any.ulonglong", Nothing, |w| {
        value(w, &0xFEDC_BA98_7654_3210_u64)
    }),
    ("any.float", Nothing, |w| value(w, &1.5e-30_f32)),
    ("any.double", Nothing, |w| value(w, &-2.5e300_f64)),
    ("any.string", Nothing, |w| value(w, &String::from("text"))),
    ("any.string_bounded", Nothing, |w| {
        let sent = Any::with_type(TypeCode::string(32), "bounded")?;
        expect(
            "the value",
            &echo(w, &sent)?.decode_as()?,
            &"bounded".to_owned(),
        )
    }),
    ("any.wstring", Wide, |w| {
        let got = echo(w, &Any::from_wstring("wide €")?)?;
        expect("the value", &got.extract_wstring()?.as_str(), &"wide €")
    }),
    ("any.wstring_bounded", Wide, |w| {
        let sent = Any::with_type(TypeCode::wstring(16), &Wstr("wide"))?;
        let got = echo(w, &sent)?;
        require(got == sent, "the value differs")
    }),
    ("any.enum", Nothing, |w| value(w, &Colour::Blue)),
    ("any.struct", Nothing, |w| {
        value(w, &Many { o: 1, l: -2, s: 3 })
    }),
    ("any.struct_scalars", Wide, |w| value(w, &scalars(7))),
    ("any.struct_mixed", Wide, |w| value(w, &mixed(8))),
    ("any.struct_recursive", Nothing, |w| value(w, &tree(5))),
    ("any.union", Nothing, |w| value(w, &refused().detail)),
    ("any.union_default", Nothing, |w| {
        value(
            w,
            &ByChar::D {
                discriminator: Char(b'y'),
                value: 0.125,
            },
        )
    }),
    ("any.union_without_member", Nothing, |w| {
        value(
            w,
            &ByBool::Other {
                discriminator: false,
            },
        )
    }),
    ("any.sequence", Nothing, |w| {
        aliased(w, &kitchen::STRINGS_TYPE, &mixed(0).list)
    }),
    ("any.sequence_bounded", Nothing, |w| {
        aliased(w, &kitchen::BOUNDED_LONGS_TYPE, &mixed(6).few)
    }),
    ("any.sequence_structs", Wide, |w| {
        aliased(w, &kitchen::MIXEDS_TYPE, &refused().evidence)
    }),
    ("any.sequence_anonymous", Nothing, |w| {
        value(w, &vec![1.5_f64, -0.0, f64::INFINITY])
    }),
    ("any.array", Nothing, |w| {
        aliased(w, &kitchen::MATRIX_TYPE, &[[1, 2, 3], [4, 5, 6]])
    }),
    ("any.array_octet", Nothing, |w| {
        let id: kitchen::Uuid = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 255];
        aliased(w, &kitchen::UUID_TYPE, &id)
    }),
    ("any.fixed", Nothing, |w| {
        value::<Fixed<10, 2>>(w, &"-99999999.99".parse()?)
    }),
    ("any.fixed_alias", Nothing, |w| {
        aliased::<Fixed<10, 2>>(w, &kitchen::MONEY_TYPE, &"12.34".parse()?)
    }),
    ("any.object", Nothing, object),
    ("any.object_nil", Nothing, |w| {
        let got = echo(w, &Any::new(&None::<Peer>)?)?;
        let got: Option<Peer> = got.extract()?;
        expect("the reference", &got, &None)
    }),
    ("any.object_sequence", Nothing, objects),
    ("any.any", Nothing, |w| nested(w, 1)),
    ("any.any_deep", Nothing, |w| nested(w, 10)),
    ("any.typecode", Nothing, |w| type_code(w, Type::LONG)),
    ("any.typecode_struct", Nothing, |w| {
        type_code(w, &kitchen::MIXED_TYPE)
    }),
    ("any.typecode_union", Nothing, |w| {
        type_code(w, &kitchen::BY_LONG_TYPE)
    }),
    ("any.typecode_recursive", Nothing, |w| {
        type_code(w, &kitchen::NODE_TYPE)
    }),
    ("any.typecode_interface", Nothing, |w| {
        type_code(w, Peer::TYPE)
    }),
    ("any.typecode_exception", Nothing, |w| {
        type_code(w, &kitchen::REFUSED_TYPE)
    }),
    ("any.unknown_type", Nothing, unknown_type),
    ("any.unknown_recursive", Nothing, unknown_recursive),
    ("any.longdouble", Nothing, long_double),
    ("any.exception", Nothing, |w| {
        let sent = TooBig {
            limit: -1,
            why: "held".into(),
        };
        value(w, &sent)
    }),
];

/// Sends an any and requires that the reply has the same type.
fn echo(world: &World, sent: &Any) -> Result<Any, Failure> {
    let got = world.peer.echo_any(sent)?;
    if got.type_code() != sent.type_code() {
        let (got, sent) = (got.type_code(), sent.type_code());
        return Err(failed(format!("the type is {got} instead of {sent}")));
    }
    Ok(got)
}

/// A value of a type that both sides know.
fn value<T>(world: &World, sent: &T) -> Verdict
where
    T: Typed + Encode + Decode + PartialEq + std::fmt::Debug,
{
    let got = echo(world, &Any::new(sent)?)?;
    expect("the value", &got.extract::<T>()?, sent)
}

/// A value of an alias, for which Rust only has a `type`.
fn aliased<T>(world: &World, alias: &'static Type, sent: &T) -> Verdict
where
    T: Typed + Encode + Decode + PartialEq + std::fmt::Debug,
{
    let got = echo(world, &Any::with_type(alias, sent)?)?;
    expect("the value", &got.decode_as::<T>()?, sent)
}

fn object(world: &World) -> Verdict {
    let got = echo(world, &Any::new(&world.peer)?)?;
    let got: Option<Peer> = got.extract()?;
    let got = got.ok_or_else(|| failed("the reference is nil"))?;
    let same = got.as_object().is_equivalent(world.peer.as_object());
    require(same, "the reference differs")?;
    Ok(got.ping()?)
}

fn objects(world: &World) -> Verdict {
    let sent = vec![Some(world.peer.clone()), None];
    let got = echo(world, &Any::with_type(&kitchen::PEERS_TYPE, &sent)?)?;
    let got: kitchen::Peers = got.decode_as()?;
    match got.as_slice() {
        [Some(peer), None] => {
            let same = ObjectRef::from(peer.clone()).is_equivalent(world.peer.as_object());
            require(same, "the reference differs")?;
            Ok(peer.ping()?)
        }
        other => Err(failed(format!("the references are {other:?}"))),
    }
}

/// The IDL has no `long double`, so a peer may lack it.
fn long_double(world: &World) -> Verdict {
    let sent = Any::new(&LongDouble::from(-0.375))?;
    match world.peer.echo_any(&sent) {
        Err(_) if !world.facts.complete => {
            world.peer.ping()?;
            Err(Failure::Skipped("the peer has no long double".into()))
        }
        got => require(got? == sent, "the value differs"),
    }
}

/// An any within an any, several levels deep.
fn nested(world: &World, levels: usize) -> Verdict {
    let mut sent = Any::new(&77_i32)?;
    for _ in 0..levels {
        sent = Any::new(&sent)?;
    }
    let mut got = echo(world, &sent)?;
    for _ in 0..levels {
        got = got.extract()?;
    }
    expect("the value", &got.extract()?, &77_i32)
}

fn type_code(world: &World, sent: &'static Type) -> Verdict {
    let sent = TypeCode::from(sent);
    let got = echo(world, &Any::new(&sent)?)?;
    expect("the TypeCode held", &got.extract::<TypeCode>()?, &sent)
}

/// A `wstring`, which Rust does not distinguish from a `string`.
struct Wstr(&'static str);

impl Encode for Wstr {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        writer.write_wstr(self.0);
    }
}

/// A struct that the other side does not know.
#[derive(Debug, PartialEq)]
struct Unseen {
    flag: u8,
    size: f64,
    names: Vec<String>,
}

impl Encode for Unseen {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.flag.encode(writer);
        self.size.encode(writer);
        self.names.encode(writer);
    }
}

impl Decode for Unseen {
    const MIN_SIZE: usize = 13;

    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            flag: Decode::decode(reader)?,
            size: Decode::decode(reader)?,
            names: Decode::decode(reader)?,
        })
    }
}

fn unknown_type(world: &World) -> Verdict {
    let members = [
        ("flag", TypeCode::from(Type::OCTET)),
        ("size", TypeCode::from(Type::DOUBLE)),
        ("names", TypeCode::from(&kitchen::STRINGS_TYPE)),
    ];
    let unseen = TypeCode::structure("IDL:orbium.test/Unseen:1.0", "Unseen", members);
    let sent = Unseen {
        flag: 5,
        size: 2.5,
        names: mixed(0).list,
    };
    let got = echo(world, &Any::with_type(unseen, &sent)?)?;
    expect("the value", &got.decode_as::<Unseen>()?, &sent)
}

/// The structure of `Node` under another name, built at run time.
fn unknown_recursive(world: &World) -> Verdict {
    let id = "IDL:orbium.test/UnseenNode:1.0";
    let members = [
        ("name", TypeCode::from(Type::STRING)),
        ("children", TypeCode::sequence(TypeCode::recursive(id), 0)),
    ];
    let unseen = TypeCode::structure(id, "UnseenNode", members);
    let sent = tree(4);
    let got = echo(world, &Any::with_type(unseen, &sent)?)?;
    expect("the value", &got.decode_as::<kitchen::Node>()?, &sent)
}
