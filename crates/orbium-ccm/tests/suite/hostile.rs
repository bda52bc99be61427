// SPDX-License-Identifier: MIT OR Apache-2.0
//! Malformed component IDL, and expansions without bound.

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
    // What is too large stays for the parser.
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
