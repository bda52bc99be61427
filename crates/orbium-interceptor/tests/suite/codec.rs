// SPDX-License-Identifier: MIT OR Apache-2.0
//! Encapsulations of values.

use orbium::interceptor::{Codec, CodecError, UnknownEncoding};
use orbium::{Any, TypeCode, WChar};
use orbium_cdr::{CharSet, Type};

use crate::Tested;

fn values() -> Vec<Any> {
    vec![
        Any::default(),
        Any::from(7),
        Any::from(true),
        Any::from(1.5),
        Any::from("text".to_owned()),
    ]
}

/// Conformance: PI - Codec: encapsulations with and without TypeCode, CDR 1.0 to 1.2
#[test]
fn values_come_back_with_and_without_their_type() -> Tested {
    for minor in 0..=2 {
        let codec = Codec::cdr(minor)?;
        for value in values() {
            assert_eq!(codec.decode(&codec.encode(&value)?)?, value);
            let octets = codec.encode_value(&value)?;
            assert_eq!(codec.decode_value(&octets, value.type_code())?, value);
        }
    }
    Ok(())
}

/// Conformance: PI - Codec: encapsulations with and without TypeCode, CDR 1.0 to 1.2
#[test]
fn an_encapsulation_begins_with_its_byte_order_and_is_aligned_from_there() -> Tested {
    let codec = Codec::cdr(2)?;
    let long: TypeCode = Type::LONG.into();
    for (octets, value) in [([0, 0, 0, 0, 0, 0, 0, 9], 9), ([1, 0, 0, 0, 9, 0, 0, 0], 9)] {
        assert_eq!(codec.decode_value(&octets, &long)?.extract::<i32>()?, value);
    }
    let written = codec.encode_value(&Any::from(9))?;
    assert_eq!(written.len(), 8);
    Ok(())
}

/// Conformance: PI - Codec: UnknownEncoding, InvalidTypeForEncoding, FormatMismatch, TypeMismatch
#[test]
fn wide_characters_cannot_be_encoded_as_of_giop_10() -> Tested {
    let wide = Any::new(&WChar::try_from('ž')?)?;
    let refused = Codec::cdr(0)?.encode_value(&wide);
    assert!(matches!(
        refused,
        Err(CodecError::InvalidTypeForEncoding(_))
    ));
    for minor in 1..=2 {
        let codec = Codec::cdr(minor)?;
        assert_eq!(codec.decode(&codec.encode(&wide)?)?, wide);
    }
    let text = Any::from("Žofie".to_owned());
    let latin = Codec::cdr(2)?.encode(&text);
    assert!(matches!(latin, Err(CodecError::InvalidTypeForEncoding(_))));
    let codec = Codec::with_code_set(2, CharSet::Utf8)?;
    assert_eq!(codec.decode(&codec.encode(&text)?)?, text);
    Ok(())
}

/// Conformance: PI - Codec: UnknownEncoding, InvalidTypeForEncoding, FormatMismatch, TypeMismatch
#[test]
fn malformed_encapsulations_are_refused() -> Tested {
    assert_eq!(Codec::cdr(3), Err(UnknownEncoding { minor: 3 }));
    let codec = Codec::cdr(2)?;
    let text = Any::from("some text".to_owned());
    let octets = codec.encode(&text)?;
    for end in 0..octets.len() {
        let cut = codec.decode(&octets[..end]);
        assert!(matches!(cut, Err(CodecError::FormatMismatch(_))), "{end}");
    }
    assert_eq!(
        codec.decode(&[7, 0, 0, 0]),
        Err(CodecError::FormatMismatch(None))
    );
    let long: TypeCode = Type::LONG.into();
    let octets = codec.encode_value(&text)?;
    assert_eq!(
        codec.decode_value(&octets, &long),
        Err(CodecError::TypeMismatch(None))
    );
    let short = codec.decode_value(&[1, 0, 0, 0, 9], &long);
    assert!(matches!(short, Err(CodecError::TypeMismatch(Some(_)))));
    assert_eq!(
        codec.decode_value(&[], &long),
        Err(CodecError::FormatMismatch(None))
    );
    Ok(())
}
