// SPDX-License-Identifier: MIT OR Apache-2.0
//! Filters as objects, and groups of them.

use std::time::Duration;

use orbium::giop::MessageKind;
use orbium::{Any, ExceptionKind, Interface};
use orbium_notification::idl::cos_notify_channel_admin::{
    ClientType, ConsumerAdmin, InterFilterGroupOperator, StructuredProxyPullSupplier,
};
use orbium_notification::idl::cos_notify_filter::{
    CallbackNotFoundError, ConstraintExp, ConstraintInfo, ConstraintNotFoundError, Filter,
    FilterNotFoundError, InvalidConstraintError, InvalidConstraintOrConstraintNotFoundError,
    InvalidGrammarError, MappingFilter,
};
use orbium_notification::{
    ConstraintLimits, NotificationConfig, event_type, property, structured_event,
};
use orbium_testkit::{FakeServer, PATIENCE, eventually};

use crate::peers::{Served, alarm, constraint, severity};

/// Conformance: notification - Filter: constraints are added, changed, removed, matched - a served channel
#[test]
fn constraints_of_a_filter_are_added_modified_and_removed() {
    let served = Served::new();
    let filter = served.filter(&["$severity > 3"]);
    assert_eq!(filter.constraint_grammar().unwrap(), "EXTENDED_TCL");
    assert!(filter.match_structured(&alarm(5)).unwrap());
    assert!(!filter.match_structured(&alarm(3)).unwrap());
    let added = filter
        .add_constraints(&[constraint("$severity == 1")])
        .unwrap();
    assert!(filter.match_structured(&alarm(1)).unwrap());

    let bad = filter.add_constraints(&[constraint("TRUE"), constraint("$severity >")]);
    let Err(InvalidConstraintError::InvalidConstraint(bad)) = bad else {
        panic!("{bad:?}");
    };
    assert_eq!(bad.constr, constraint("$severity >"));
    assert_eq!(filter.get_all_constraints().unwrap().len(), 2);

    let id = added[0].constraint_id;
    let changed = ConstraintInfo {
        constraint_expression: constraint("$severity == 2"),
        constraint_id: id,
    };
    filter
        .modify_constraints(&[], std::slice::from_ref(&changed))
        .unwrap();
    assert_eq!(filter.get_constraints(&[id]).unwrap(), [changed]);
    assert!(!filter.match_structured(&alarm(1)).unwrap());
    let unknown = filter.modify_constraints(&[99], &[]).unwrap_err();
    assert!(
        matches!(unknown, InvalidConstraintOrConstraintNotFoundError::ConstraintNotFound(it) if it.id == 99)
    );
    let unknown = filter.get_constraints(&[99]).unwrap_err();
    assert!(matches!(unknown, ConstraintNotFoundError::ConstraintNotFound(it) if it.id == 99));

    filter.remove_all_constraints().unwrap();
    assert!(!filter.match_structured(&alarm(5)).unwrap());
    filter.destroy().unwrap();
    assert!(filter.as_object().non_existent().unwrap());
}

/// Each number was answered with a copy: a request of 400 KB with 100 GB.
#[test]
fn a_constraint_is_returned_once_however_often_its_number_is_in_the_list() {
    let served = Served::new();
    let filter = served.filter(&["$severity > 3", "$severity == 1"]);
    let all = filter.get_all_constraints().unwrap();
    let id = all[0].constraint_id;
    assert_eq!(filter.get_constraints(&[id; 500]).unwrap(), all[..1]);
    filter
        .modify_constraints(&[id; 500], &vec![all[1].clone(); 500])
        .unwrap();
    assert_eq!(filter.get_all_constraints().unwrap(), all[1..]);
}

/// The text of each constraint was bounded, but not that of all together, nor the types of events.
#[test]
fn constraints_of_a_filter_have_limits() {
    let served = Served::new();
    let filter = served.filter(&[]);
    let large = constraint(&format!("$name == '{}'", "x".repeat(1_000_000)));
    let is_refused = |list: &[ConstraintExp]| {
        let added = filter.add_constraints(list);
        matches!(added, Err(InvalidConstraintError::System(it)) if it.kind == ExceptionKind::ImpLimit)
    };
    filter.add_constraints(&vec![large.clone(); 15]).unwrap();
    assert!(is_refused(&[large.clone(), large]));
    let with_types = |count| ConstraintExp {
        event_types: vec![event_type("Tele*", "Alarm"); count],
        ..ConstraintExp::default()
    };
    assert!(is_refused(&[with_types(4097)]));
    filter.add_constraints(&[with_types(4096)]).unwrap();
    assert_eq!(filter.get_all_constraints().unwrap().len(), 16);
}

/// Regression: each constraint had a limit, all together had that of their text alone, so that an
/// event was compared with millions of terms.
#[test]
fn constraints_of_all_filters_of_a_proxy_have_a_limit_together() {
    let served = Served::with(NotificationConfig {
        constraints: ConstraintLimits {
            filter_nodes: 100,
            ..ConstraintLimits::default()
        },
        ..NotificationConfig::default()
    });
    let forty = || constraint(&format!("TRUE{}", " or TRUE".repeat(38)));
    let is_refused = |filter: &Filter, count: usize| {
        let added = filter.add_constraints(&vec![forty(); count]);
        added.is_err_and(|it| {
            matches!(it, InvalidConstraintError::System(it) if it.kind == ExceptionKind::ImpLimit)
        })
    };
    let [first, second] = [(); 2].map(|()| served.filter(&[]));
    assert!(is_refused(&first, 3));
    assert!(!is_refused(&first, 2));
    assert!(is_refused(&first, 1));

    let proxy = served.pulled();
    let attached = proxy.add_filter(Some(&first)).unwrap();
    proxy.add_filter(Some(&second)).unwrap();
    assert!(is_refused(&second, 1));
    let refused = proxy.add_filter(Some(&first)).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::ImpLimit);
    let ids = first.get_all_constraints().unwrap();
    let removed = [ids[0].constraint_id];
    first.modify_constraints(&removed, &[]).unwrap();
    assert!(!is_refused(&second, 1));
    assert!(is_refused(&first, 1));
    proxy.remove_filter(attached).unwrap();
    assert!(!is_refused(&second, 1));
}

#[test]
fn anys_and_properties_are_matched() {
    let served = Served::new();
    let filter = served.filter(&["$severity > 3"]);
    assert!(filter.match_typed(&[property("severity", 4i16)]).unwrap());
    assert!(filter.r#match(&Any::new(&alarm(4)).unwrap()).unwrap());
    assert!(!filter.r#match(&Any::from(4i16)).unwrap());
    assert!(served.filter(&["$ > 3"]).r#match(&Any::from(4i16)).unwrap());
}

/// Conformance: notification - event_types of a constraint - a served channel
#[test]
fn a_constraint_is_for_its_types_of_events() {
    let served = Served::new();
    let filter = served.filter(&[]);
    let expression = ConstraintExp {
        event_types: vec![event_type("Tele*", "Alarm"), event_type("*", "Clear")],
        constraint_expr: String::new(),
    };
    filter.add_constraints(&[expression]).unwrap();
    let is_matched = |domain: &str, name: &str| {
        filter
            .match_structured(&structured_event(domain, name, ""))
            .unwrap()
    };
    assert!(is_matched("Telecom", "Alarm"));
    assert!(is_matched("Power", "Clear"));
    assert!(!is_matched("Power", "Alarm"));
}

/// Conformance: notification - FilterFactory, FilterAdmin: every exception - a served channel
#[test]
fn grammars_filters_and_callbacks_that_do_not_exist_are_refused() {
    let served = Served::new();
    let factory = served.channel.default_filter_factory().unwrap().unwrap();
    let refused = factory.create_filter("SQL").unwrap_err();
    assert!(matches!(refused, InvalidGrammarError::InvalidGrammar(_)));
    let refused = factory
        .create_mapping_filter("SQL", &Any::from(1i16))
        .unwrap_err();
    assert!(matches!(refused, InvalidGrammarError::InvalidGrammar(_)));

    let (proxy, filter) = (served.pulled(), served.filter(&["TRUE"]));
    let nil = proxy.add_filter(None).unwrap_err();
    assert_eq!(nil.kind, ExceptionKind::BadParam);
    let id = proxy.add_filter(Some(&filter)).unwrap();
    assert_eq!(proxy.get_all_filters().unwrap(), [id]);
    assert!(proxy.get_filter(id).unwrap().is_some());
    proxy.remove_filter(id).unwrap();
    let unknown = proxy.remove_filter(id).unwrap_err();
    assert!(matches!(unknown, FilterNotFoundError::FilterNotFound(_)));
    assert!(matches!(
        proxy.get_filter(id),
        Err(FilterNotFoundError::FilterNotFound(_))
    ));
    let unknown = filter.detach_callback(7).unwrap_err();
    assert!(matches!(
        unknown,
        CallbackNotFoundError::CallbackNotFound(_)
    ));
    assert!(filter.get_callbacks().unwrap().is_empty());
}

fn passes(served: &Served, proxy: &StructuredProxyPullSupplier, severity: i16) -> bool {
    let supplier = served.supplier();
    supplier.push_structured_event(&alarm(severity)).unwrap();
    proxy.try_pull_structured_event().unwrap().has_event
}

/// Conformance: notification - AND_OP and OR_OP between the filters of admin and proxy - a served channel
#[test]
fn filters_of_admin_and_proxy_are_combined_by_the_operator() {
    let served = Served::new();
    let table = [
        (InterFilterGroupOperator::AndOp, [false, false, false, true]),
        (InterFilterGroupOperator::OrOp, [false, true, true, true]),
    ];
    for (operator, expected) in table {
        let made = served.channel.new_for_consumers(operator).unwrap();
        let admin: ConsumerAdmin = made.result.unwrap();
        assert_eq!(admin.my_operator().unwrap(), operator);
        let obtained = admin
            .obtain_notification_pull_supplier(ClientType::StructuredEvent)
            .unwrap();
        let proxy: StructuredProxyPullSupplier =
            obtained.result.unwrap().as_object().narrow().unwrap();
        proxy.connect_structured_pull_consumer(None).unwrap();
        admin
            .add_filter(Some(&served.filter(&["$severity == 2", "$severity == 4"])))
            .unwrap();
        proxy
            .add_filter(Some(&served.filter(&["$severity == 3"])))
            .unwrap();
        proxy
            .add_filter(Some(&served.filter(&["$severity == 4"])))
            .unwrap();
        for (severity, expected) in (1i16..).zip(expected) {
            assert_eq!(
                passes(&served, &proxy, severity),
                expected,
                "{operator:?} {severity}"
            );
        }
    }
}

#[test]
fn filters_of_suppliers_and_subscriptions_stop_events() {
    let served = Served::new();
    let (proxy, supplier) = (served.pulled(), served.supplier());
    supplier
        .add_filter(Some(&served.filter(&["$severity > 3"])))
        .unwrap();
    supplier.push_structured_event(&alarm(1)).unwrap();
    assert!(!proxy.try_pull_structured_event().unwrap().has_event);
    supplier.push_structured_event(&alarm(4)).unwrap();
    assert!(proxy.try_pull_structured_event().unwrap().has_event);
    proxy
        .subscription_change(&[event_type("Power", "*")], &[])
        .unwrap();
    supplier.push_structured_event(&alarm(5)).unwrap();
    assert!(!proxy.try_pull_structured_event().unwrap().has_event);
    proxy
        .subscription_change(
            &[event_type("Telecom", "Alarm")],
            &[event_type("Power", "*")],
        )
        .unwrap();
    supplier.push_structured_event(&alarm(6)).unwrap();
    assert!(proxy.try_pull_structured_event().unwrap().has_event);
}

#[test]
fn a_filter_of_another_process_is_called_and_matches_nothing_when_it_is_gone() {
    let (served, other) = (Served::new(), Served::new());
    let text = other
        .orb
        .object_to_string(&other.filter(&["$severity > 3"]));
    let filter = served.orb.resolve(&text).unwrap();
    let (proxy, supplier) = (served.pulled(), served.supplier());
    proxy.add_filter(Some(&filter)).unwrap();
    for (severity, expected) in [(2, false), (4, true)] {
        supplier.push_structured_event(&alarm(severity)).unwrap();
        assert_eq!(
            proxy.try_pull_structured_event().unwrap().has_event,
            expected
        );
    }
    filter.destroy().unwrap();
    supplier.push_structured_event(&alarm(5)).unwrap();
    assert!(!proxy.try_pull_structured_event().unwrap().has_event);
}

/// Each event waited for it as long as a filter may take, and so did the consumers behind it.
#[test]
fn a_filter_that_does_not_reply_is_called_once_in_a_while() {
    let silent = FakeServer::listen();
    let served = Served::with(NotificationConfig {
        filter_timeout: Duration::from_millis(200),
        ..NotificationConfig::default()
    });
    let url = format!("corbaloc::127.0.0.1:{}/Filter", silent.port());
    let reference = served.orb.string_to_object(&url).unwrap().unwrap();
    let (filtered, mapped, plain) = (served.pulled(), served.pulled(), served.pulled());
    let filter = Filter::from_object(reference.clone());
    filtered.add_filter(Some(&filter)).unwrap();
    let mapping = MappingFilter::from_object(reference);
    mapped.set_priority_filter(Some(&mapping)).unwrap();
    let supplier = served.supplier();
    for number in 0..20 {
        supplier.push_structured_event(&alarm(number)).unwrap();
    }
    for proxy in [plain, mapped] {
        for number in 0..20 {
            let event = proxy.pull_structured_event().unwrap();
            assert_eq!(severity(&event), number);
        }
    }
    assert!(!filtered.try_pull_structured_event().unwrap().has_event);
    // The connections end with the service.
    drop(served);
    let mut connections = Vec::from([silent.accept()]);
    connections.extend(std::iter::from_fn(|| silent.accept_at_once()));
    let messages = connections
        .iter_mut()
        .flat_map(|it| std::iter::from_fn(|| it.try_receive()));
    let calls = messages.filter(|it| it.kind() == MessageKind::Request);
    assert!((2..20).contains(&calls.count()));
}

/// Regression: the consumers that connected after one with such a filter waited for it.
#[test]
fn a_filter_that_does_not_reply_delays_no_other_consumer() {
    let silent = FakeServer::listen();
    let served = Served::with(NotificationConfig {
        filter_timeout: 2 * PATIENCE,
        ..NotificationConfig::default()
    });
    let url = format!("corbaloc::127.0.0.1:{}/Filter", silent.port());
    let reference = served.orb.string_to_object(&url).unwrap().unwrap();
    let filtered = served.pulled();
    let filter = Filter::from_object(reference);
    filtered.add_filter(Some(&filter)).unwrap();
    let (plain, supplier) = (served.pulled(), served.supplier());
    std::thread::scope(|scope| {
        scope.spawn(|| supplier.push_structured_event(&alarm(4)).unwrap());
        let calls = silent.accept();
        eventually("the event of the other consumer", || {
            plain.try_pull_structured_event().unwrap().has_event
        });
        drop((calls, silent));
    });
    assert!(!filtered.try_pull_structured_event().unwrap().has_event);
}
