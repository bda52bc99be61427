// SPDX-License-Identifier: MIT OR Apache-2.0
//! Components, homes and events.

use crate::{expanded, spelled};

#[track_caller]
fn is(text: &str, equivalent: &str) {
    assert_eq!(expanded(text), spelled(equivalent));
}

/// The operations of one port.
#[track_caller]
fn port_is(port: &str, operations: &str) {
    let component = format!("component C {{ {port} }};");
    let interface = format!("interface C : ::Components::CCMObject {{ {operations} }};");
    is(&component, &interface);
}

/// Conformance: IDL - components: equivalent interfaces - bases, supported interfaces, attributes
#[test]
fn a_component_is_an_interface() {
    is("component C;", "interface C;");
    is(
        "component C {};",
        "interface C : ::Components::CCMObject {};",
    );
    is(
        "module M { component D : M::C supports A, ::B { readonly attribute long size raises (E); attribute A a; }; };",
        "module M { interface D : M::C, A, ::B { readonly attribute long size raises (E); attribute A a; }; };",
    );
}

/// Conformance: IDL - components: equivalent interfaces - facets and receptacles
#[test]
fn facets_are_provided_and_receptacles_connected() {
    port_is("provides N::T t;", "N::T provide_t();");
    port_is("provides Object any_one;", "Object provide_any_one();");
    port_is(
        "uses T t;",
        "void connect_t(in T conxn) raises (::Components::AlreadyConnected, ::Components::InvalidConnection);
         T disconnect_t() raises (::Components::NoConnection);
         T get_connection_t();",
    );
    port_is(
        "uses multiple T t;",
        "struct tConnection { T objref; ::Components::Cookie ck; };
         typedef sequence<tConnection> tConnections;
         ::Components::Cookie connect_t(in T connection)
           raises (::Components::ExceededConnectionLimit, ::Components::InvalidConnection);
         T disconnect_t(in ::Components::Cookie ck) raises (::Components::InvalidConnection);
         tConnections get_connections_t();",
    );
}

/// Conformance: IDL - components: equivalent interfaces - sources and sinks of events, and their consumers
#[test]
fn events_have_consumers() {
    port_is(
        "emits N::E e;",
        "void connect_e(in N::EConsumer consumer) raises (::Components::AlreadyConnected);
         N::EConsumer disconnect_e() raises (::Components::NoConnection);",
    );
    port_is(
        "publishes E e;",
        "::Components::Cookie subscribe_e(in EConsumer consumer) raises (::Components::ExceededConnectionLimit);
         EConsumer unsubscribe_e(in ::Components::Cookie ck) raises (::Components::InvalidConnection);",
    );
    port_is("consumes E e;", "EConsumer get_consumer_e();");
    is(
        "eventtype E; abstract eventtype A {}; eventtype E : truncatable B supports I { public long x; };",
        "eventtype E; interface EConsumer;
         abstract eventtype A {};
         interface AConsumer : ::Components::EventConsumerBase { void push_A(in A the_A); };
         eventtype E : truncatable B supports I { public long x; };
         interface EConsumer : BConsumer { void push_E(in E the_E); };",
    );
}

/// Conformance: IDL - components: equivalent interfaces - homes, with and without a primary key
#[test]
fn a_home_is_three_interfaces() {
    is(
        "home H manages C {};",
        "interface HExplicit : ::Components::CCMHome {};
         interface HImplicit : ::Components::KeylessCCMHome { C create() raises (::Components::CreateFailure); };
         interface H : HExplicit, HImplicit {};",
    );
    is(
        "home H : N::G supports A manages N::C primarykey K {
           factory make(in string name, in long size) raises (Bad);
           finder find(in string name);
           void f(); attribute long a;
         };",
        "interface HExplicit : N::GExplicit, A {
           N::C make(in string name, in long size) raises (::Components::CreateFailure, Bad);
           N::C find(in string name) raises (::Components::FinderFailure);
           void f(); attribute long a;
         };
         interface HImplicit {
           N::C create(in K key) raises (::Components::CreateFailure, ::Components::DuplicateKeyValue, ::Components::InvalidKey);
           N::C find_by_primary_key(in K key) raises (::Components::FinderFailure, ::Components::UnknownKeyValue, ::Components::InvalidKey);
           void remove(in K key) raises (::Components::RemoveFailure, ::Components::UnknownKeyValue, ::Components::InvalidKey);
           K get_primary_key(in N::C comp);
         };
         interface H : HExplicit, HImplicit {};",
    );
}

/// Conformance: IDL - components: equivalent interfaces - extended ports and their mirrors
#[test]
fn extended_ports_are_the_ports_of_their_type() {
    is(
        "module M {
           interface Reader {};
           porttype Small { provides Reader data; };
           porttype Whole { port Small fast; uses ::Back back; attribute long rate; };
         };
         component C { port M::Whole in_; mirrorport M::Small out_; };",
        "module M { interface Reader {}; };
         interface C : ::Components::CCMObject {
           ::M::Reader provide_in__fast_data();
           void connect_in__back(in ::Back conxn) raises (::Components::AlreadyConnected, ::Components::InvalidConnection);
           ::Back disconnect_in__back() raises (::Components::NoConnection);
           ::Back get_connection_in__back();
           attribute long in__rate;
           void connect_out__data(in ::M::Reader conxn) raises (::Components::AlreadyConnected, ::Components::InvalidConnection);
           ::M::Reader disconnect_out__data() raises (::Components::NoConnection);
           ::M::Reader get_connection_out__data();
         };",
    );
    let text = "component C { port P p; provides T t; };";
    let found = expanded(text);
    let (tokens, notes) = found.split_once('\n').unwrap();
    let interface = "interface C : ::Components::CCMObject { T provide_t(); };";
    assert_eq!(tokens.trim(), spelled(interface));
    assert_eq!(
        notes,
        "p the port `p` is left out: there is no port type `P`"
    );
}

/// Conformance: IDL - components: equivalent interfaces - connectors, with bases, within template modules
#[test]
fn a_connector_is_an_interface() {
    is(
        "connector X {};",
        "interface X : ::Components::CCMObject {};",
    );
    is(
        "module M<typename T> {
           interface Writer { void write(in T data); };
           porttype Out { uses Writer data; };
           connector Base { attribute string topic setraises (E); };
           connector Event : Base { mirrorport Out supplier; port Out tap; provides T status; };
         };
         module M<::Money> Paid;
         connector Twice : Paid::Event {};",
        "module Paid {
           interface Writer { void write(in ::Money data); };
           interface Base : ::Components::CCMObject { attribute string topic setraises (E); };
           interface Event : Base {
             ::Paid::Writer provide_supplier_data();
             void connect_tap_data(in ::Paid::Writer conxn) raises (::Components::AlreadyConnected, ::Components::InvalidConnection);
             ::Paid::Writer disconnect_tap_data() raises (::Components::NoConnection);
             ::Paid::Writer get_connection_tap_data();
             ::Money provide_status();
           };
         };
         interface Twice : Paid::Event {};",
    );
}

/// Every connector for DDS has such ports, and none of its components compiled.
///
/// Conformance: IDL - components: equivalent interfaces - ports of local interfaces are left out with a warning
#[test]
fn ports_of_local_interfaces_are_left_out() {
    let text = "module M { local interface L {}; interface R {}; porttype P { uses L l; provides R r; }; };
        local interface R {};
        component C { port M::P p; uses R r; provides M::R far; };";
    let found = expanded(text);
    let (tokens, notes) = found.split_once('\n').unwrap();
    let expected = "module M { local interface L {}; interface R {}; };
        local interface R {};
        interface C : ::Components::CCMObject { ::M::R provide_p_r(); M::R provide_far(); };";
    assert_eq!(tokens.trim(), spelled(expected));
    assert_eq!(
        notes,
        "l the port `p_l` is left out: `L` is a local interface\n\
         r the port `r` is left out: `R` is a local interface"
    );
}

#[test]
fn without_components_a_connector_is_left_out() {
    let text = "connector X : Y { port P q ; } ; typedef long T ;";
    let tokens: Vec<_> = text.split(' ').collect();
    let expansion = orbium_ccm::expand(&tokens, 100).unwrap();
    assert_eq!(expansion.to_string(), "typedef long T ;");
    assert_eq!(
        expansion.notes[0].message,
        "the connector `X` is left out: its interface needs `Components.idl`, which is not included"
    );
}

#[test]
fn without_components_a_component_stays() {
    let text = "component C { provides T t ; } ; home H manages C { } ; eventtype E { } ;";
    let tokens: Vec<_> = text.split(' ').collect();
    assert_eq!(orbium_ccm::expand(&tokens, 100).unwrap().to_string(), text);
}

#[test]
fn a_file_without_components_is_not_touched() {
    for text in [
        "",
        "module M { interface I { void f ( ) ; } ; } ;",
        "typedef long T ;",
    ] {
        let tokens: Vec<_> = text.split(' ').collect();
        assert!(orbium_ccm::expand(&tokens, 100).is_none(), "{text}");
    }
}

#[test]
fn positions_are_mapped_through_the_expansion() {
    let text =
        "module Components { } ; component C ; typedef long T ; component D { } ; enum X { a } ;";
    let tokens: Vec<_> = text.split(' ').collect();
    let expansion = orbium_ccm::expand(&tokens, 1000).unwrap();
    for word in ["typedef", "enum"] {
        let given = tokens.iter().position(|it| *it == word).unwrap();
        assert_eq!(expansion.tokens[expansion.place(given)].text, word);
    }
    // Within what was replaced: behind it.
    let inside = tokens.iter().position(|it| *it == "D").unwrap();
    assert_eq!(expansion.tokens[expansion.place(inside)].text, "enum");
}
