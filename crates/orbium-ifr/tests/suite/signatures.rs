// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signatures of operations out of a repository.

use orbium_dynamic::{Definitions, Direction, Signature};
use orbium_ifr::corba::InterfaceDef;
use orbium_ifr::signatures;

use crate::kitchen::KITCHEN;
use crate::served::{Served, model};

/// What is compared of a signature: everything that a request needs.
fn essence(signature: &Signature) -> (String, bool, Vec<(String, Direction)>, Vec<String>) {
    let parameters = signature.parameters.iter();
    (
        signature.wire_name.clone(),
        signature.oneway,
        parameters
            .map(|it| (it.name.clone(), it.direction))
            .collect(),
        signature.contexts.clone(),
    )
}

fn assert_same(actual: &Signature, expected: &Signature) {
    assert_eq!(essence(actual), essence(expected));
    let types = |of: &Signature| {
        let parameters = of.parameters.iter().map(|it| it.code.clone());
        let mut exceptions = of.exceptions.clone();
        exceptions.sort_by(|a, b| a.id().cmp(b.id()));
        let all = parameters.chain([of.returns.clone()]).chain(exceptions);
        all.collect::<Vec<_>>()
    };
    let (actual_types, expected_types) = (types(actual), types(expected));
    assert_eq!(
        actual_types.len(),
        expected_types.len(),
        "{}",
        actual.wire_name
    );
    for (actual, expected) in actual_types.iter().zip(&expected_types) {
        assert!(actual.equal(expected), "{actual} {expected}");
    }
}

/// Conformance: dynamic - requests: signatures from a repository are those of the IDL
#[test]
fn signatures_from_the_repository_are_those_of_the_idl() {
    let served = Served::with(KITCHEN);
    let definitions = Definitions::new(model(KITCHEN));
    let mut compared = 0;
    for interface in definitions.interfaces() {
        let found: InterfaceDef = served.find(&interface.repository_id);
        let described = signatures(&found).unwrap();
        for signature in &described {
            let expected = definitions.signature(interface.id, &signature.wire_name, false);
            assert_same(signature, &expected.unwrap());
            compared += 1;
        }
        let features = definitions.model().all_features(interface.id);
        assert!(described.len() >= features.len(), "{}", interface.name);
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn attributes_have_their_halves_and_exceptions_and_bases_their_operations() {
    let served = Served::with(
        "exception Full { long level; }; exception Empty {};
         interface Base { oneway void note(in string text); };
         interface Tank : Base {
             attribute long level getraises (Empty) setraises (Full);
             readonly attribute string name;
             boolean fill(inout long amount, out string why) raises (Full, Empty) context (\"who\");
         };",
    );
    let tank: InterfaceDef = served.find("IDL:Tank:1.0");
    let mut described = signatures(&tank).unwrap();
    described.sort_by(|a, b| a.wire_name.cmp(&b.wire_name));
    let names: Vec<_> = described.iter().map(|it| it.wire_name.as_str()).collect();
    assert_eq!(
        names,
        ["_get_level", "_get_name", "_set_level", "fill", "note"]
    );
    let raised = |place: usize| {
        let exceptions = described[place].exceptions.iter();
        exceptions.map(|it| it.id().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(raised(0), ["IDL:Empty:1.0"]);
    assert_eq!(raised(2), ["IDL:Full:1.0"]);
    assert_eq!(raised(3), ["IDL:Full:1.0", "IDL:Empty:1.0"]);
    assert_eq!(described[3].contexts, ["who"]);
    assert!(described[4].oneway && !described[3].oneway);
}
