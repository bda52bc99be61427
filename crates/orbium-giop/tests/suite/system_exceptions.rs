// SPDX-License-Identifier: MIT OR Apache-2.0
//! System exceptions and the table of minor codes.

use std::collections::HashSet;

use orbium_cdr::{CdrError, CdrErrorKind};
use orbium_giop::minor::{self, OMG_VMCID, ORBIUM_VMCID, TABLE};
use orbium_giop::{Completion, ExceptionKind, SystemException};

/// Conformance: replies - system exceptions as id, minor code, completion
#[test]
fn every_exception_is_found_by_its_name_and_repository_id() {
    assert_eq!(ExceptionKind::ALL.len(), 40);
    for kind in ExceptionKind::ALL {
        assert_eq!(ExceptionKind::from_name(kind.name()), Some(*kind));
        let id = kind.repository_id();
        assert_eq!(id, format!("IDL:omg.org/CORBA/{}:1.0", kind.name()));
        let exception = SystemException::from_body(id, 5, Completion::Yes);
        assert_eq!(exception, SystemException::new(*kind, 5, Completion::Yes));
        assert_eq!(exception.repository_id(), id);
    }
}

/// Conformance: replies - an exception that is not standard, or not declared: UNKNOWN
#[test]
fn an_exception_that_is_not_standard_is_unknown_minor_2() {
    for id in [
        "",
        "IDL:omg.org/CORBA/NEW_ONE:1.0",
        "IDL:omg.org/CORBA/MARSHAL:2.0",
        "IDL:X/MARSHAL:1.0",
    ] {
        assert_eq!(
            SystemException::from_body(id, 99, Completion::Maybe),
            SystemException::omg(ExceptionKind::Unknown, 2, Completion::Maybe)
        );
    }
}

/// Conformance: ORB - minor codes explained
#[test]
fn the_table_explains_every_code_once() {
    let mut seen = HashSet::new();
    for code in TABLE {
        assert!(seen.insert((code.kind, code.minor)), "{code:?} twice");
        assert_eq!(minor::explain(code.kind, code.minor), Some(code));
        assert!([OMG_VMCID, ORBIUM_VMCID].contains(&(code.minor & !0xFFF)));
        assert!(!code.text.is_empty());
    }
}

/// Conformance: ORB - minor codes explained
#[test]
fn exceptions_are_explained_to_people() {
    for (exception, text) in [
        (
            SystemException::omg(ExceptionKind::Transient, 4, Completion::No),
            "TRANSIENT (completed NO): the POA was destroyed [OMG minor 4]",
        ),
        (
            SystemException::orbium(
                ExceptionKind::Transient,
                minor::CONNECT_REFUSED,
                Completion::No,
            ),
            "TRANSIENT (completed NO): the connection was refused [orbium minor 32]",
        ),
        (
            SystemException::new(ExceptionKind::CommFailure, 0x4154_0002, Completion::Maybe),
            "COMM_FAILURE (completed MAYBE): communication was lost while an operation was in \
             progress [omniORB minor 2]",
        ),
        (
            SystemException::new(ExceptionKind::Internal, 0x5441_1082, Completion::Yes),
            "INTERNAL (completed YES): an error inside the ORB [TAO minor 0x54411082]",
        ),
        (
            SystemException::new(ExceptionKind::Unknown, 0x1234_5678, Completion::Yes),
            "UNKNOWN (completed YES): an exception of a kind that is not known \
             [minor 0x12345678]",
        ),
        (
            SystemException::from(ExceptionKind::NoMemory),
            "NO_MEMORY (completed NO): memory ran out",
        ),
    ] {
        assert_eq!(exception.to_string(), text);
    }
}

#[test]
fn exceptions_are_small() {
    assert!(size_of::<SystemException>() <= 8);
}

/// Conformance: ORB - minor codes explained
#[test]
fn marshalling_errors_become_exceptions_with_a_code_that_says_why() {
    for kind in [
        CdrErrorKind::Truncated,
        CdrErrorKind::CountTooLarge,
        CdrErrorKind::BoundExceeded,
        CdrErrorKind::BadEnumerator,
        CdrErrorKind::BadDiscriminator,
        CdrErrorKind::BadString,
        CdrErrorKind::BadFixed,
        CdrErrorKind::BadTypeCode,
        CdrErrorKind::IncompleteTypeCode,
        CdrErrorKind::BadReference,
        CdrErrorKind::TooDeep,
        CdrErrorKind::CannotConvert,
        CdrErrorKind::WideInGiop10,
        CdrErrorKind::WideNotNegotiated,
        CdrErrorKind::NotSupported,
        CdrErrorKind::ValuesLeftOut,
        CdrErrorKind::BeyondState,
        CdrErrorKind::LocalObject,
    ] {
        let exception = SystemException::from_cdr(CdrError::new(kind, 3), Completion::No);
        let code = minor::explain(exception.kind, exception.minor);
        assert!(code.is_some(), "{kind:?} gives {exception:?}");
    }
}

/// Conformance: ORB - minor codes of values that cannot be marshalled: MARSHAL 1, 4, 5 and 8,
/// BAD_TYPECODE 1, DATA_CONVERSION 1, INV_OBJREF 1
#[test]
fn marshalling_errors_have_the_codes_of_the_standard() {
    for (error, kind, minor) in [
        (CdrErrorKind::UnknownValue, ExceptionKind::Marshal, 1),
        (CdrErrorKind::LocalObject, ExceptionKind::Marshal, 4),
        (CdrErrorKind::WideInGiop10, ExceptionKind::Marshal, 5),
        (CdrErrorKind::BeyondState, ExceptionKind::Marshal, 8),
        (
            CdrErrorKind::IncompleteTypeCode,
            ExceptionKind::BadTypecode,
            1,
        ),
        (
            CdrErrorKind::CannotConvert,
            ExceptionKind::DataConversion,
            1,
        ),
        (CdrErrorKind::WideNotNegotiated, ExceptionKind::InvObjref, 1),
    ] {
        let exception = SystemException::from_cdr(CdrError::new(error, 3), Completion::No);
        let expected = SystemException::omg(kind, minor, Completion::No);
        assert_eq!(exception, expected, "{error:?}");
    }
}
