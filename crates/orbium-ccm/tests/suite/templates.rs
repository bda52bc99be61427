// SPDX-License-Identifier: MIT OR Apache-2.0
//! Template modules.

use crate::{expanded, spelled};

#[track_caller]
fn is(text: &str, equivalent: &str) {
    assert_eq!(expanded(text), spelled(equivalent));
}

/// Conformance: IDL - template modules - instantiated with types and constants
#[test]
fn an_instance_is_a_module_of_the_contents() {
    is(
        "module Typed<typename T, const long N> {
           typedef sequence<T, N> Seq;
           interface Reader { Seq read(in T::Key key); void put(in Other::T t); };
         };
         module A { struct S { long x; }; };
         module Typed<A::S, 3> Mine;
         module Typed<sequence<long>, 7> Other;
         module One<typename T> { typedef T X; };
         module One<sequence<long>> Nested;",
        "module A { struct S { long x; }; };
         module Mine {
           typedef sequence<A::S, 3> Seq;
           interface Reader { Seq read(in A::S::Key key); void put(in Other::T t); };
         };
         module Other {
           typedef sequence<sequence<long>, 7> Seq;
           interface Reader { Seq read(in sequence<long>::Key key); void put(in Other::T t); };
         };
         module Nested { typedef sequence<long> X; };",
    );
}

/// Conformance: IDL - template modules - within modules and one another, by alias, with components
#[test]
fn templates_are_found_in_modules_and_used_in_one_another() {
    is(
        "module M {
           module Inner<typename T> { interface Reader { T read(); }; porttype Read { uses Reader data; }; };
           module Outer<typename U> { alias Inner<U> Data; interface I { Data::Reader reader(); }; };
           module Outer<long> Longs;
         };
         component C { port M::Longs::Data::Read values; };
         module M::Inner<octet> Octets;",
        "module M {
           module Longs {
             module Data { interface Reader { long read(); }; };
             interface I { Data::Reader reader(); };
           };
         };
         interface C : ::Components::CCMObject {
           void connect_values_data(in ::M::Longs::Data::Reader conxn)
             raises (::Components::AlreadyConnected, ::Components::InvalidConnection);
           ::M::Longs::Data::Reader disconnect_values_data() raises (::Components::NoConnection);
           ::M::Longs::Data::Reader get_connection_values_data();
         };
         module Octets { interface Reader { octet read(); }; };",
    );
}

/// Conformance: IDL - template modules - unknown, or with other arguments: left out with a warning
#[test]
fn templates_that_cannot_be_instantiated_are_left_out() {
    let text = "module T<typename A> { typedef A X; }; module U<long> One; module T<long, 3> Two;";
    let found = expanded(text);
    let (tokens, notes) = found.split_once('\n').unwrap();
    assert_eq!(tokens.trim_end(), "module Components { } ;");
    assert_eq!(
        notes,
        "One the module `One` is left out: there is no template module `U`\n\
         Two the module `Two` is left out: `T` has 1 parameters"
    );
}
