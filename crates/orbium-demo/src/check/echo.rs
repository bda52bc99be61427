// SPDX-License-Identifier: MIT OR Apache-2.0
//! The echo operations of `kitchen.idl` except those of unions.

use orbium::{Char, ExceptionKind, SystemException, WChar};

use super::planned::Needs::{CodeSet, Nothing, Wide};
use super::planned::{Planned, World};
use super::verdict::{Failure, Verdict, expect, failed, require};
use crate::kitchen::{Mixed, Node, Scalars};
use crate::specimen::{mixed, scalars, tree};

pub(super) const ALL: &[Planned<World>] = &[
    ("kitchen.scalars", Wide, |w| echo_scalars(w, &scalars(1))),
    ("kitchen.scalars_max", Wide, |w| {
        echo_scalars(w, &MAX_SCALARS)
    }),
    ("kitchen.scalars_min", Wide, |w| {
        echo_scalars(w, &MIN_SCALARS)
    }),
    ("kitchen.scalars_nan", Wide, |w| {
        let mut sent = scalars(1);
        sent.f = f32::from_bits(0x7FC1_2345);
        sent.d = f64::from_bits(0xFFF8_1234_5678_9ABC);
        echo_scalars(w, &sent)
    }),
    ("kitchen.char_latin1", Wide, char_latin1),
    ("kitchen.string", Nothing, |w| {
        echo_string(w, "Hello, world")
    }),
    ("kitchen.string_empty", Nothing, |w| echo_string(w, "")),
    ("kitchen.string_latin1", CodeSet, |w| {
        echo_string(w, "grüße åéñ")
    }),
    ("kitchen.string_unicode", CodeSet, |w| {
        echo_string(w, "grüße — Ω 漢字")
    }),
    ("kitchen.string_beyond_bmp", CodeSet, |w| {
        echo_string(w, "clef \u{1d11e}")
    }),
    ("kitchen.string_5mb", Nothing, |w| {
        let printable: String = (' '..='~').collect();
        echo_string(w, &printable.repeat((5 << 20) / printable.len()))
    }),
    ("kitchen.wstring", Wide, |w| echo_wstring(w, "Hello, world")),
    ("kitchen.wstring_empty", Wide, |w| echo_wstring(w, "")),
    ("kitchen.wstring_unicode", Wide, |w| {
        echo_wstring(w, "grüße — Ω 漢字")
    }),
    ("kitchen.wstring_surrogates", Wide, |w| {
        echo_wstring(w, "<\u{1d11e}>")
    }),
    ("kitchen.wstring_large", Wide, |w| {
        echo_wstring(w, &"漢".repeat(100_000))
    }),
    ("kitchen.mixed", Wide, |w| echo_mixed(w, &mixed(1))),
    ("kitchen.mixed_bounds", Wide, |w| {
        echo_mixed(w, &at_the_bounds())
    }),
    ("kitchen.beyond_bounds", Wide, beyond_bounds),
    ("kitchen.mixeds_empty", Nothing, |w| echo_mixeds(w, 0)),
    ("kitchen.mixeds", Wide, |w| echo_mixeds(w, 3)),
    ("kitchen.mixeds_large", Wide, |w| echo_mixeds(w, 500)),
    ("kitchen.tree_leaf", Nothing, |w| echo_tree(w, &tree(0))),
    ("kitchen.tree_deep", Nothing, |w| echo_tree(w, &tree(50))),
    ("kitchen.tree_broad", Nothing, |w| {
        let root = Node {
            name: "root".into(),
            children: (0..200).map(|i| tree(i % 4)).collect(),
        };
        echo_tree(w, &root)
    }),
    ("kitchen.table_empty", Nothing, |w| echo_table(w, 0)),
    ("kitchen.table", Nothing, |w| echo_table(w, 23)),
    ("kitchen.matrix", Nothing, |w| {
        let sent = [[1, -2, 3], [i32::MIN, i32::MAX, 0]];
        expect("the result", &w.peer.echo_matrix(&sent)?, &sent)
    }),
    ("kitchen.money_zero", Nothing, |w| echo_money(w, "0.00")),
    ("kitchen.money", Nothing, |w| echo_money(w, "1234.50")),
    ("kitchen.money_max", Nothing, |w| {
        echo_money(w, "99999999.99")
    }),
    ("kitchen.money_min", Nothing, |w| {
        echo_money(w, "-99999999.99")
    }),
    ("kitchen.money_cent", Nothing, |w| echo_money(w, "-0.01")),
];

const MAX_SCALARS: Scalars = Scalars {
    b: true,
    c: Char(0x7F),
    o: u8::MAX,
    s: i16::MAX,
    us: u16::MAX,
    l: i32::MAX,
    ul: u32::MAX,
    ll: i64::MAX,
    ull: u64::MAX,
    f: f32::MAX,
    d: f64::INFINITY,
    w: WChar(0xFFFD),
};

const MIN_SCALARS: Scalars = Scalars {
    b: false,
    c: Char(0),
    o: 0,
    s: i16::MIN,
    us: 0,
    l: i32::MIN,
    ul: 0,
    ll: i64::MIN,
    ull: 0,
    f: f32::from_bits(1),
    d: -0.0,
    w: WChar(0),
};

/// Compares floats by their bits: NaNs are not equal, zeros of both signs are.
fn same(what: &str, got: &Scalars, want: &Scalars) -> Verdict {
    let bits = |v: &Scalars| (v.f.to_bits(), v.d.to_bits());
    expect(what, &bits(got), &bits(want))?;
    let rest = |v: &Scalars| Scalars {
        f: 0.0,
        d: 0.0,
        ..*v
    };
    expect(what, &rest(got), &rest(want))
}

/// Result and copy are the first argument; the inout argument is returned unchanged.
fn echo_scalars(world: &World, sent: &Scalars) -> Verdict {
    let mut both = scalars(9);
    let got = world.peer.echo_scalars(sent, &mut both)?;
    same("the result", &got.result, sent)?;
    same("the copy", &got.copy, sent)?;
    same("the inout argument", &both, &scalars(9))
}

/// A char beyond ASCII does not exist in every transmission code set: it is not one octet of UTF-8.
fn char_latin1(world: &World) -> Verdict {
    let sent = Scalars {
        c: Char(0xE5),
        ..scalars(1)
    };
    match world.peer.echo_scalars(&sent, &mut scalars(9)) {
        // Two orbiums transmit both text of any script and such a char.
        Err(SystemException {
            kind: ExceptionKind::DataConversion,
            ..
        }) if !world.facts.complete => Err(Failure::Skipped(
            "the transmission code set has no such char".into(),
        )),
        got => same("the result", &got?.result, &sent),
    }
}

fn echo_string(world: &World, sent: &str) -> Verdict {
    let mut both = String::from("in and out");
    let got = world.peer.echo_string(sent, &mut both)?;
    expect("the result", &got.result.as_str(), &sent)?;
    expect("the copy", &got.copy.as_str(), &sent)?;
    expect("the inout argument", &both.as_str(), &"in and out")
}

fn echo_wstring(world: &World, sent: &str) -> Verdict {
    let got = world.peer.echo_wstring(sent)?;
    expect("the result", &got.as_str(), &sent)?;
    let mut again = String::from("before");
    world.peer.echo_wstring_into(sent, &mut again)?;
    expect("the result read into a string", &again, &got)
}

fn echo_mixed(world: &World, sent: &Mixed) -> Verdict {
    let mut got = world.peer.echo_mixed(sent)?;
    expect("the result", &got, sent)?;
    let other = mixed(77);
    world.peer.echo_mixed_into(&other, &mut got)?;
    expect("the result read over another", &got, &other)
}

fn at_the_bounds() -> Mixed {
    Mixed {
        name: "n".repeat(32),
        wide: "Ω".repeat(16),
        few: (-8..8).collect(),
        list: Vec::new(),
        flags: Vec::new(),
        ..mixed(3)
    }
}

/// A value that is invalid for its type is not sent, and does not affect other calls.
fn beyond_bounds(world: &World) -> Verdict {
    let beyond = [
        Mixed {
            name: "n".repeat(33),
            ..mixed(1)
        },
        Mixed {
            wide: "Ω".repeat(17),
            ..mixed(1)
        },
        Mixed {
            few: vec![0; 17],
            ..mixed(1)
        },
    ];
    for sent in &beyond {
        match world.peer.echo_mixed(sent) {
            Ok(_) => return Err(failed("a value beyond a bound was sent")),
            Err(exception) => expect(
                "the completion status",
                &exception.completed,
                &orbium::Completion::No,
            )?,
        }
        world.peer.ping()?;
    }
    Ok(())
}

fn echo_mixeds(world: &World, length: i32) -> Verdict {
    let sent: Vec<Mixed> = (0..length).map(mixed).collect();
    let got = world.peer.echo_mixeds(&sent)?;
    require(got == sent, "the content differs")
}

fn echo_tree(world: &World, sent: &Node) -> Verdict {
    let got = world.peer.echo_tree(sent)?;
    require(got == *sent, "the result differs")
}

fn echo_table(world: &World, rows: u8) -> Verdict {
    let cell = |column: u8| char::from(b'a' + column).to_string();
    let row = |columns| (0..columns).map(|c| cell(c).repeat(usize::from(c) * 7));
    let sent: Vec<Vec<String>> = (0..rows).map(|i| row(i % 5).collect()).collect();
    expect("the result", &world.peer.echo_table(&sent)?, &sent)
}

fn echo_money(world: &World, amount: &str) -> Verdict {
    let sent = amount.parse()?;
    expect("the result", &world.peer.echo_money(sent)?, &sent)
}
