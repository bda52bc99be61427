// SPDX-License-Identifier: MIT OR Apache-2.0
//! Malformed component IDL, and IDL that would expand without bound.

use crate::tokens;

/// Conformance: IDL - components: equivalent interfaces - what is malformed stays for the parser to report
#[test]
fn malformed_declarations_stay() {
    for text in [
        "component",
        "component C {",
        "component C { provides T; };",
        "component C { uses multiple ; };",
        "component C : { };",
        "home H { };",
        "home H manages C { factory };",
        "home H manages C { factory f(; };",
        "eventtype",
        "eventtype E : {",
        "porttype P {",
        "connector",
        "connector X;",
        "connector X : { };",
        "connector X supports I { };",
        "connector X { provides T; };",
        "module T<typename> {",
        "module T<",
        "module T<long> ",
        "module T<typename A> { }",
        "} } component C }",
        "interface component { void home(); };",
    ] {
        let text = format!("module Components {{ }}; {text}");
        let tokens = tokens(&text);
        let expansion = orbium_ccm::expand(&tokens, 1000);
        if let Some(expansion) = expansion {
            assert_eq!(expansion.to_string(), tokens.join(" "), "{text}");
        }
    }
}

/// Every instance has two of the one before.
#[test]
fn templates_that_double_end_at_the_limit() {
    let mut text = "module T0<typename A> { typedef A X; };".to_owned();
    for level in 1..40 {
        let before = level - 1;
        text.push_str(&format!(
            "module T{level}<typename A> {{ alias T{before}<A> L; alias T{before}<A> R; }};"
        ));
    }
    text.push_str("module T39<long> Bomb;");
    let tokens = tokens(&text);
    let expansion = orbium_ccm::expand(&tokens, 10_000).unwrap();
    assert!(
        expansion.tokens.len() < 20_000,
        "{}",
        expansion.tokens.len()
    );
}

/// Port types within themselves, and a body that doubles with each level.
#[test]
fn port_types_that_double_end_at_a_depth() {
    let mut text =
        "module Components { }; porttype P { port P p; }; component C { port P p; };".to_owned();
    text.push_str("porttype D0 { provides I i; };");
    for level in 1..40 {
        let before = level - 1;
        text.push_str(&format!(
            "porttype D{level} {{ port D{before} l; port D{before} r; }};"
        ));
    }
    text.push_str("component E { port D15 d; }; component F { port D39 d; };");
    let tokens = tokens(&text);
    let expansion = orbium_ccm::expand(&tokens, 10_000).unwrap();
    // What is too deep stays for the parser.
    assert!(
        expansion
            .to_string()
            .contains("component F { port D39 d ; }")
    );
    assert!(
        expansion.tokens.len() < 20_000,
        "{}",
        expansion.tokens.len()
    );
}

/// Ports that expand to no tokens did not count, so ten of them on each of 15 levels took 10¹⁵ steps.
#[test]
fn port_types_that_expand_to_nothing_end_at_the_limit() {
    for innermost in ["", "port Unknown x;", "provides L l;"] {
        let text = format!(
            "module Components {{ }}; local interface L {{ }}; porttype D0 {{ {innermost} }};"
        );
        let text = deep_component(text);
        let tokens = tokens(&text);
        let expansion = orbium_ccm::expand(&tokens, 10_000).unwrap();
        assert!(
            expansion
                .to_string()
                .ends_with("component C { port D15 p ; } ;")
        );
        assert!(expansion.notes.len() < 10_000, "{}", expansion.notes.len());
    }
}

/// Appends 15 port types, each of which has the one before ten times, and a component with the
/// last one.
fn deep_component(mut text: String) -> String {
    for level in 1..16 {
        let ports: String = (0..10)
            .map(|port| format!("port D{} p{port};", level - 1))
            .collect();
        text.push_str(&format!("porttype D{level} {{ {ports} }};"));
    }
    text + "component C { port D15 p; };"
}

/// Modules that are left out did not count: each instance of the inner template was ten notes.
#[test]
fn instances_that_are_left_out_count_as_tokens() {
    let left_out = "alias Unknown<A> x;".repeat(10);
    let inner = format!("module Inner<typename A> {{ {left_out} }};");
    let instances = "module Inner<long> M;".repeat(1_000);
    let text = inner + &instances;
    let tokens = tokens(&text);
    let expansion = orbium_ccm::expand(&tokens, 10_000).unwrap();
    assert!(
        expansion.notes.len() < 10_000 / 10,
        "{}",
        expansion.notes.len()
    );
    // The rest stays for the parser.
    assert!(expansion.to_string().ends_with("module Inner < long > M ;"));
}
