// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mapping filters: priority and lifetime by constraints.

use orbium::{Any, ExceptionKind, Interface};
use orbium_notification::idl::cos_notify_channel_admin::StructuredProxyPullSupplier;
use orbium_notification::idl::cos_notify_filter::{
    ConstraintNotFoundError, InvalidConstraintOrInvalidValueError, MappingConstraintInfo,
    MappingConstraintPair, MappingFilter, MappingFilterModifyMappingConstraintsError,
};

use crate::peers::{Served, alarm, constraint, severity};

impl Served {
    fn mapping_filter(&self, default: impl Into<Any>) -> MappingFilter {
        let factory = self.channel.default_filter_factory().unwrap().unwrap();
        let filter = factory.create_mapping_filter("EXTENDED_TCL", &default.into());
        filter.unwrap().unwrap()
    }
}

fn pair(expression: &str, value: impl Into<Any>) -> MappingConstraintPair {
    MappingConstraintPair {
        constraint_expression: constraint(expression),
        result_to_set: value.into(),
    }
}

fn pulled(proxy: &StructuredProxyPullSupplier) -> Vec<i16> {
    let next = || {
        let pulled = proxy.try_pull_structured_event().unwrap();
        pulled.has_event.then(|| severity(&pulled.result))
    };
    std::iter::from_fn(next).collect()
}

/// Conformance: notification - priority_filter: of a proxy, else of its admin - a served channel
#[test]
fn priorities_are_mapped_for_each_consumer() {
    let served = Served::new();
    let (plain, urgent, low) = (served.pulled(), served.pulled(), served.pulled());
    let filter = served.mapping_filter(0i16);
    let high = pair("$severity > 5", 9i16);
    filter.add_mapping_constraints(&[high]).unwrap();
    let reverse = served.mapping_filter(9i16);
    reverse
        .add_mapping_constraints(&[pair("$severity > 5", 0i16)])
        .unwrap();
    served.consumers.set_priority_filter(Some(&filter)).unwrap();
    low.set_priority_filter(Some(&reverse)).unwrap();
    let attached = urgent.priority_filter().unwrap();
    assert!(attached.is_none(), "the admin has it");
    let attached = low.priority_filter().unwrap().unwrap();
    assert!(attached.as_object().is_equivalent(reverse.as_object()));
    let supplier = served.supplier();
    let push = || {
        for number in [1, 9, 2, 8] {
            supplier.push_structured_event(&alarm(number)).unwrap();
        }
    };
    push();
    assert_eq!(pulled(&urgent), [9, 8, 1, 2]);
    assert_eq!(pulled(&low), [1, 2, 9, 8]);
    pulled(&plain);
    served.consumers.set_priority_filter(None).unwrap();
    push();
    assert_eq!(pulled(&plain), [1, 9, 2, 8]);
    assert_eq!(pulled(&low), [1, 2, 9, 8]);
}

/// Conformance: notification - lifetime_filter - a served channel
#[test]
fn a_lifetime_of_nothing_expires_at_once() {
    let served = Served::new();
    let proxy = served.pulled();
    // An hour; and nothing for small alarms.
    let filter = served.mapping_filter(36_000_000_000u64);
    filter
        .add_mapping_constraints(&[pair("$severity < 3", 0u64)])
        .unwrap();
    proxy.set_lifetime_filter(Some(&filter)).unwrap();
    let supplier = served.supplier();
    for number in 0..6 {
        supplier.push_structured_event(&alarm(number)).unwrap();
    }
    assert_eq!(pulled(&proxy), [3, 4, 5]);
    // A destroyed filter has its default alone.
    filter.destroy().unwrap();
    supplier.push_structured_event(&alarm(1)).unwrap();
    assert_eq!(pulled(&proxy), [1]);
}

/// Conformance: notification - MappingFilter: constraints are added, changed, removed, matched; every exception - a served channel
#[test]
fn constraints_of_a_mapping_filter_have_values_of_its_type() {
    let served = Served::new();
    let filter = served.mapping_filter(1i16);
    assert_eq!(filter.default_value().unwrap(), Any::from(1i16));
    assert_eq!(
        filter.value_type().unwrap(),
        Any::from(1i16).type_code().clone()
    );
    let wrong = filter.add_mapping_constraints(&[pair("TRUE", 1i32)]);
    let Err(InvalidConstraintOrInvalidValueError::InvalidValue(wrong)) = wrong else {
        panic!("{wrong:?}");
    };
    assert_eq!(wrong.value, Any::from(1i32));
    let wrong = filter.add_mapping_constraints(&[pair("$a ==", 1i16)]);
    assert!(matches!(
        wrong,
        Err(InvalidConstraintOrInvalidValueError::InvalidConstraint(_))
    ));
    assert!(filter.get_all_mapping_constraints().unwrap().is_empty());
    let added = filter
        .add_mapping_constraints(&[pair("$severity > 5", 9i16), pair("$severity > 3", 5i16)])
        .unwrap();
    let matched = |number| {
        let matched = filter.match_structured(&alarm(number)).unwrap();
        (
            matched.result,
            matched.result_to_set.extract::<i16>().unwrap(),
        )
    };
    assert_eq!(matched(7), (true, 9));
    assert_eq!(matched(4), (true, 5));
    assert_eq!(matched(2), (false, 1));
    let unknown = filter.get_mapping_constraints(&[99]);
    assert!(matches!(
        unknown,
        Err(ConstraintNotFoundError::ConstraintNotFound(_))
    ));
    let changed = MappingConstraintInfo {
        value: Any::from(6i16),
        ..added[1].clone()
    };
    filter
        .modify_mapping_constraints(&[added[0].constraint_id], std::slice::from_ref(&changed))
        .unwrap();
    assert_eq!(matched(7), (true, 6));
    assert_eq!(filter.get_all_mapping_constraints().unwrap(), [changed]);
    let unknown = filter.modify_mapping_constraints(&[99], &[]);
    assert!(matches!(
        unknown,
        Err(MappingFilterModifyMappingConstraintsError::ConstraintNotFound(_))
    ));
    filter.remove_all_mapping_constraints().unwrap();
    assert_eq!(matched(7), (false, 1));
}

/// Each number was answered with a copy, and values had no bound together.
#[test]
fn values_of_a_mapping_filter_have_limits() {
    let served = Served::new();
    let filter = served.mapping_filter("");
    let large = "x".repeat(9 << 20);
    let added = filter.add_mapping_constraints(&[pair("TRUE", large.as_str())]);
    let id = added.unwrap()[0].constraint_id;
    let got = filter.get_mapping_constraints(&[id; 10]).unwrap();
    assert_eq!(got.len(), 1);
    let refused = filter.add_mapping_constraints(&[pair("TRUE", large.as_str())]);
    assert!(
        matches!(refused, Err(InvalidConstraintOrInvalidValueError::System(it)) if it.kind == ExceptionKind::ImpLimit)
    );
    assert_eq!(filter.get_all_mapping_constraints().unwrap().len(), 1);
}
