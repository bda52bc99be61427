// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code-set negotiation against the sets that other ORBs publish.

use crate::octets::octets;
use orbium_cdr::{CharSet, WideSet};
use orbium_giop::codeset::{
    CodeSetComponent, CodeSetComponentInfo, CodeSetContext, CodeSetError, CodeSetId, NativeCharSet,
    Negotiated, select,
};
use orbium_giop::component::{ORB_TYPE_JACORB, ORB_TYPE_OMNIORB, ORB_TYPE_ORBIUM, ORB_TYPE_TAO};

const LATIN: u32 = 0x0001_0001;
const LATIN_15: u32 = 0x0001_000F;
const ASCII: u32 = 0x0001_0020;
const UTF8: u32 = 0x0501_0001;
const UTF16: u32 = 0x0001_0109;
const UCS2: u32 = 0x0001_0100;
const EBCDIC: u32 = 0x1002_0025;

fn sets(native: u32, conversion: &[u32]) -> CodeSetComponent {
    CodeSetComponent {
        native: CodeSetId(native),
        conversion: conversion.iter().copied().map(CodeSetId).collect(),
    }
}

fn with_server(
    char_data: CodeSetComponent,
    wchar_data: CodeSetComponent,
) -> Result<Negotiated, CodeSetError> {
    with_orb(char_data, wchar_data, None)
}

fn with_orb(
    char_data: CodeSetComponent,
    wchar_data: CodeSetComponent,
    orb: Option<u32>,
) -> Result<Negotiated, CodeSetError> {
    let info = CodeSetComponentInfo {
        char_data,
        wchar_data,
    };
    Negotiated::with_server(Some(&info), orb)
}

/// Conformance: code sets - choice, in the order of the standard
#[test]
fn the_set_is_chosen_in_the_order_of_the_standard() {
    for (client, server, chosen) in [
        // The same native set.
        (sets(UTF8, &[]), sets(UTF8, &[LATIN]), Some(UTF8)),
        // The client converts to the native set of the server.
        (sets(UTF8, &[LATIN]), sets(LATIN, &[UTF8]), Some(LATIN)),
        // The server converts.
        (sets(UTF8, &[]), sets(LATIN, &[UTF8]), Some(UTF8)),
        // Both convert: the preference of the server decides.
        (
            sets(EBCDIC, &[LATIN, UTF8]),
            sets(LATIN_15, &[UTF8, LATIN]),
            Some(UTF8),
        ),
        // Nothing shared, but all characters are in the fallback.
        (sets(LATIN, &[]), sets(LATIN_15, &[ASCII]), Some(UTF8)),
        // Nothing shared at all.
        (sets(LATIN, &[]), sets(EBCDIC, &[]), None),
        (sets(UTF8, &[LATIN]), sets(0, &[]), None),
        // A zero is no set, even if both have it.
        (sets(UTF8, &[0]), sets(0, &[0]), None),
    ] {
        let set = select(&client, &server, CodeSetId::UTF_8);
        assert_eq!(set, chosen.map(CodeSetId), "{client:?} {server:?}");
    }
}

/// Conformance: code sets - choice, in the order of the standard
#[test]
fn known_orbs_are_spoken_to_in_the_expected_sets() {
    for (name, orb, char_data, wchar_data, char_set, wide_set) in [
        (
            "orbium",
            Some(ORB_TYPE_ORBIUM),
            sets(LATIN, &[UTF8]),
            sets(UTF16, &[]),
            CharSet::Utf8AndLatin1Char,
            Some(WideSet::Utf16),
        ),
        (
            "orbium, configured",
            Some(ORB_TYPE_ORBIUM),
            sets(UTF8, &[LATIN]),
            sets(UTF16, &[]),
            CharSet::Utf8AndLatin1Char,
            Some(WideSet::Utf16),
        ),
        (
            "omniORB, whose own strings are ISO 8859-1",
            Some(ORB_TYPE_OMNIORB),
            sets(LATIN, &[UTF8]),
            sets(UTF16, &[]),
            CharSet::Latin1,
            Some(WideSet::Utf16),
        ),
        (
            "omniORB in UTF-8",
            Some(ORB_TYPE_OMNIORB),
            sets(UTF8, &[LATIN]),
            sets(UTF16, &[]),
            CharSet::Utf8,
            Some(WideSet::Utf16),
        ),
        (
            "JacORB",
            Some(ORB_TYPE_JACORB),
            sets(UTF8, &[LATIN]),
            sets(UTF16, &[UTF8, UCS2]),
            CharSet::Utf8,
            Some(WideSet::Utf16),
        ),
        (
            "TAO without wide sets",
            Some(ORB_TYPE_TAO),
            sets(LATIN, &[]),
            sets(0, &[]),
            CharSet::Latin1,
            None,
        ),
        (
            "Java, whose strings are Unicode",
            None,
            sets(LATIN, &[UTF8, ASCII]),
            sets(UTF16, &[UCS2]),
            CharSet::Utf8,
            Some(WideSet::Utf16),
        ),
        (
            "UCS-2 alone falls back to UTF-16",
            None,
            sets(LATIN_15, &[]),
            sets(UCS2, &[]),
            CharSet::Utf8,
            Some(WideSet::Utf16),
        ),
    ] {
        let agreed = with_orb(char_data, wchar_data, orb).unwrap();
        assert_eq!(
            (agreed.char_set, agreed.wide_set),
            (char_set, wide_set),
            "{name}"
        );
        assert_eq!(
            Negotiated::from_context(agreed.context()),
            Ok(agreed),
            "{name}"
        );
    }
}

/// Conformance: code sets - no component: ISO 8859-1 only
#[test]
fn without_a_component_only_latin_1_is_left() {
    assert_eq!(Negotiated::with_server(None, None), Ok(Negotiated::DEFAULT));
    assert_eq!(
        with_server(sets(0, &[]), sets(0, &[])),
        Ok(Negotiated::DEFAULT)
    );
}

/// Conformance: code sets - CODESET_INCOMPATIBLE
#[test]
fn incompatible_sets_are_an_error_for_char_and_no_wide_text_for_wchar() {
    assert_eq!(
        with_server(sets(EBCDIC, &[]), sets(UTF16, &[])),
        Err(CodeSetError::Char(CodeSetId(EBCDIC)))
    );
    let agreed = with_server(sets(UTF8, &[]), sets(EBCDIC, &[])).unwrap();
    assert_eq!(agreed.wide_set, None);
}

/// Conformance: code sets - the context, sent until answered, holds for the connection
#[test]
fn contexts_are_twelve_octets_in_either_order() {
    let big = octets("00 000000 05010001 00010109");
    let little = octets("01 000000 01000105 09010100");
    let context = CodeSetContext::new(CodeSetId::UTF_8, CodeSetId::UTF_16);
    assert_eq!(CodeSetContext::decode(&big), Ok(context));
    assert_eq!(CodeSetContext::decode(&little), Ok(context));
    assert!([big, little].contains(&context.encode()));
    assert!(CodeSetContext::decode(&[]).is_err());
    assert!(CodeSetContext::decode(&[0, 0, 0, 0, 5, 1, 0, 1, 0, 1, 1]).is_err());
}

/// Two orbiums say in a third set that a `char` stays an octet; what does not know
/// of it reads the two of the standard.
///
/// Conformance: code sets - text of any script and a `char` beyond ASCII on one connection of two
/// orbiums
#[test]
fn a_context_between_two_orbiums_has_a_third_set() {
    let octets = octets("00 000000 05010001 00010109 00010001");
    let context = CodeSetContext {
        latin1_char: true,
        ..CodeSetContext::new(CodeSetId::UTF_8, CodeSetId::UTF_16)
    };
    assert_eq!(CodeSetContext::decode(&octets), Ok(context));
    assert_eq!(context.encode().len(), octets.len());
    let agreed = Negotiated::from_context(context).unwrap();
    assert_eq!(agreed.char_set, CharSet::Utf8AndLatin1Char);
    // Not all of it, or another set: the standard's two are in force.
    for (data, expected) in [
        (&octets[..14], false),
        (&[&octets[..12], &[0, 1, 1, 9][..]].concat()[..], false),
    ] {
        assert_eq!(CodeSetContext::decode(data).unwrap().latin1_char, expected);
    }
}

/// The clients of other ORBs choose by what is named native.
///
/// Conformance: code sets - choice, in the order of the standard - as a server
#[test]
fn a_server_publishes_both_sets_and_names_one_native() {
    for (text, native, char_data) in [
        ("ISO-8859-1", NativeCharSet::Latin1, sets(LATIN, &[UTF8])),
        ("UTF-8", NativeCharSet::Utf8, sets(UTF8, &[LATIN])),
    ] {
        assert_eq!(text.parse(), Ok(native));
        assert_eq!(native.to_string(), text);
        assert_eq!(CodeSetComponentInfo::orbium(native).char_data, char_data);
        // A client of an ORB that has both, with either as its own set.
        for own in [sets(LATIN, &[UTF8]), sets(UTF8, &[LATIN])] {
            let chosen = select(&own, &char_data, CodeSetId::UTF_8).unwrap();
            assert_eq!(chosen, char_data.native, "{text}");
        }
    }
    for (text, native) in [
        ("0x00010001", NativeCharSet::Latin1),
        ("0x05010001", NativeCharSet::Utf8),
        ("iso 8859_1", NativeCharSet::Latin1),
        ("utf-8", NativeCharSet::Utf8),
    ] {
        assert_eq!(text.parse(), Ok(native), "{text}");
    }
    let refused = "ISO-8859-2".parse::<NativeCharSet>().unwrap_err();
    assert!(
        refused.to_string().contains("write ISO-8859-1"),
        "{refused}"
    );
}

/// Conformance: code sets - CODESET_INCOMPATIBLE
#[test]
fn a_context_with_sets_that_are_not_supported_is_refused() {
    let context =
        |char_data, wchar_data| CodeSetContext::new(CodeSetId(char_data), CodeSetId(wchar_data));
    assert_eq!(
        Negotiated::from_context(context(EBCDIC, UTF16)),
        Err(CodeSetError::Char(CodeSetId(EBCDIC)))
    );
    assert_eq!(
        Negotiated::from_context(context(UTF8, UCS2)),
        Err(CodeSetError::WChar(CodeSetId(UCS2)))
    );
    let narrow = Negotiated::from_context(context(LATIN, 0)).unwrap();
    assert_eq!(narrow, Negotiated::DEFAULT);
}
