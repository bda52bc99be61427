// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values in the native data representation, in which elements have their stride in memory.

use orbium_cdr::{Any, Format, Member, Type, fixed_struct};
use orbium_value::idl_value;

use crate::in_anys::{owner, read_by};
use crate::written_in;

/// A struct with another stride in memory than in CDR.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(crate) struct Sample {
    channel: u8,
    level: u32,
    quality: u8,
}
fixed_struct!(Sample {
    channel: u8,
    level: u32,
    quality: u8
});

static SAMPLE_TYPE: Type = Type::structure(
    "IDL:Cap/Sample:1.0",
    "Sample",
    &[
        Member::new("channel", Type::OCTET),
        Member::new("level", Type::ULONG),
        Member::new("quality", Type::OCTET),
    ],
);

idl_value! {
    /// Samples.
    pub struct Samples(SamplesState): SAMPLES_TYPE = "IDL:Cap/Samples:1.0", Plain, [] {
        public all: Vec<Sample> = &Type::sequence(&SAMPLE_TYPE, 0),
        public end: i32,
    }
}

/// In the native representation the state of a value in an any was written by its generated code with
/// the elements of sequences as they lie in memory. A relay without that code read them as in CDR, and
/// what it wrote was read as they lie in memory.
#[test]
fn a_value_in_an_any_is_as_in_cdr_in_the_native_representation_too() {
    let samples = Samples::new(SamplesState {
        all: vec![3, 4, 5].into_iter().map(sample).collect(),
        end: 7,
    });
    let any = Any::new(&Some(samples)).unwrap();
    let natural = Format::native().with_natural_elements(true);
    let empty = owner(|_| {});
    let known = owner(|factories| {
        factories.register_type::<Samples>();
    });
    for (one, other) in [(&empty, &known), (&known, &empty), (&known, &known)] {
        let relayed: Any = read_by(one, &written_in(&any, natural), natural).unwrap();
        let got: Any = read_by(other, &written_in(&relayed, natural), natural).unwrap();
        let got = got.extract::<Option<Samples>>().unwrap().unwrap();
        assert_eq!(got.read().all, [3, 4, 5].map(sample));
        assert_eq!(got.read().end, 7);
    }
}

fn sample(level: u32) -> Sample {
    Sample {
        channel: 1,
        level,
        quality: 2,
    }
}
