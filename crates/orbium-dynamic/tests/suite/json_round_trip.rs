// SPDX-License-Identifier: MIT OR Apache-2.0
//! A value that is written as JSON and read back is the same, bit for bit.

use orbium_dynamic::{JsonOptions, from_json, to_json};
use proptest::prelude::*;

use crate::samples::{Entropy, definitions, types, value};

fn check(entropy: &[u8], is_known: bool, options: &JsonOptions<'_>) {
    let definitions = definitions();
    let types = types(&definitions);
    let options = JsonOptions {
        types: is_known.then_some(&definitions),
        ..*options
    };
    for code in &types {
        let any = value(code, &types, &mut Entropy(entropy.iter()));
        let json = to_json(&any, &options).unwrap();
        let read = from_json(code, &json, &options);
        let read = read.unwrap_or_else(|error| panic!("{error} in {json} of {code}"));
        assert_eq!(read.value_octets(), any.value_octets(), "{json} of {code}");
        // It is JSON for others too.
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Conformance: dynamic - JSON: a value of any type that is written reads back bit for bit
    #[test]
    fn values_of_every_type_survive(entropy in prop::collection::vec(any::<u8>(), 0..600)) {
        check(&entropy, true, &JsonOptions::default());
    }

    #[test]
    fn values_survive_with_their_types_in_full(
        entropy in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        check(&entropy, false, &JsonOptions::default());
    }

    #[test]
    fn indented_json_says_the_same(entropy in prop::collection::vec(any::<u8>(), 0..600)) {
        let options = JsonOptions {
            indent: Some(2),
            wide_integers_as_numbers: true,
            ..JsonOptions::default()
        };
        check(&entropy, true, &options);
    }
}

#[test]
fn values_of_zeros_survive() {
    check(&[], true, &JsonOptions::default());
    check(&[], false, &JsonOptions::default());
}
