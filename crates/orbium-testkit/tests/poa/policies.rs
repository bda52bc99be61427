// SPDX-License-Identifier: MIT OR Apache-2.0
//! Policies that do not go together.

use orbium::poa::{
    IdAssignment, IdUniqueness, PoaError, Policies, RequestProcessing, ServantRetention,
};
use orbium_testkit::Served;

/// Conformance: POA - `create_POA`: InvalidPolicy with the index
#[test]
fn every_combination_of_policies_is_accepted_or_refused_by_the_one_to_blame() {
    let served = Served::new(Default::default());
    let root = served.orb.root_poa();
    let mut accepted = 0;
    for number in 0..48_u8 {
        let policies = Policies {
            id_uniqueness: [IdUniqueness::Unique, IdUniqueness::Multiple][usize::from(number & 1)],
            id_assignment: [IdAssignment::System, IdAssignment::User][usize::from(number >> 1 & 1)],
            implicit_activation: number >> 2 & 1 == 1,
            servant_retention: [ServantRetention::Retain, ServantRetention::NonRetain]
                [usize::from(number >> 3 & 1)],
            request_processing: [
                RequestProcessing::ActiveObjectMapOnly,
                RequestProcessing::DefaultServant,
                RequestProcessing::ServantManager,
            ][usize::from(number >> 4)],
            ..Policies::default()
        };
        let implicit = policies.implicit_activation;
        let retains = policies.servant_retention == ServantRetention::Retain;
        let system = policies.id_assignment == IdAssignment::System;
        let expected = if implicit && !(system && retains) {
            Some(4)
        } else if !retains && policies.request_processing == RequestProcessing::ActiveObjectMapOnly
        {
            Some(5)
        } else if policies.request_processing == RequestProcessing::DefaultServant
            && policies.id_uniqueness == IdUniqueness::Unique
        {
            Some(6)
        } else {
            None
        };
        let created = root.create_poa(&number.to_string(), None, policies);
        match expected {
            None => {
                accepted += 1;
                created.unwrap();
            }
            Some(index) => assert_eq!(created, Err(PoaError::InvalidPolicy(index))),
        }
    }
    assert_eq!(accepted, 21);
    served.end();
}
