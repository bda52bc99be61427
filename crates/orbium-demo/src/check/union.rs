// SPDX-License-Identifier: MIT OR Apache-2.0
//! The unions of `kitchen.idl`: every arm, and default arms under several
//! discriminators.

use orbium::{Any, Char};

use super::planned::Needs::{Nothing, Wide};
use super::planned::{Planned, World};
use super::verdict::{Verdict, expect};
use crate::kitchen::{ByBool, ByChar, ByColour, ByLong, Colour, Node};
use crate::specimen::{mixed, scalars, tree};

pub(super) const ALL: &[Planned<World>] = &[
    ("kitchen.by_colour_red", Nothing, |w| {
        by_colour(w, &ByColour::L(-5))
    }),
    ("kitchen.by_colour_green", Nothing, |w| {
        by_colour(w, &paint(Colour::Green))
    }),
    ("kitchen.by_colour_blue", Nothing, |w| {
        by_colour(w, &paint(Colour::Blue))
    }),
    ("kitchen.by_bool_true", Wide, |w| {
        by_bool(w, &ByBool::M(mixed(4)))
    }),
    ("kitchen.by_bool_false", Nothing, |w| {
        by_bool(
            w,
            &ByBool::Other {
                discriminator: false,
            },
        )
    }),
    ("kitchen.by_char_a", Nothing, |w| {
        by_char(w, &ByChar::O(200))
    }),
    ("kitchen.by_char_b", Nothing, |w| {
        by_char(w, &ByChar::Tree(vec![tree(3), Node::default()]))
    }),
    ("kitchen.by_char_default", Nothing, |w| {
        by_char_default(w, 0)
    }),
    ("kitchen.by_char_default_kept", Nothing, |w| {
        by_char_default(w, b'z')
    }),
    ("kitchen.by_long_neg", Nothing, |w| {
        by_long(w, &ByLong::Neg("negative".into()))
    }),
    ("kitchen.by_long_scalars", Wide, |w| {
        by_long(w, &ByLong::S(scalars(5)))
    }),
    ("kitchen.by_long_default", Nothing, |w| {
        by_long_default(w, 0)
    }),
    ("kitchen.by_long_default_kept", Nothing, |w| {
        by_long_default(w, 123_456)
    }),
];

fn paint(discriminator: Colour) -> ByColour {
    ByColour::Text {
        discriminator,
        value: "paint".into(),
    }
}

fn by_colour(world: &World, sent: &ByColour) -> Verdict {
    expect("the result", &world.peer.echo_by_colour(sent)?, sent)
}

fn by_bool(world: &World, sent: &ByBool) -> Verdict {
    expect("the result", &world.peer.echo_by_bool(sent)?, sent)
}

fn by_char(world: &World, sent: &ByChar) -> Verdict {
    expect("the result", &world.peer.echo_by_char(sent)?, sent)
}

fn by_long(world: &World, sent: &ByLong) -> Verdict {
    expect("the result", &world.peer.echo_by_long(sent)?, sent)
}

fn by_char_default(world: &World, discriminator: u8) -> Verdict {
    let sent = ByChar::D {
        discriminator: Char(discriminator),
        value: 2.75,
    };
    by_char(world, &sent)
}

fn by_long_default(world: &World, discriminator: i32) -> Verdict {
    let sent = ByLong::Other {
        discriminator,
        value: Any::new(&4711)?,
    };
    by_long(world, &sent)
}
