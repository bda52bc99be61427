// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decimals are exact, in arithmetic and on the wire.
use orbium_cdr::{
    Any, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode, Fixed, FixedError, Format, TypeCode,
    Typed,
};

fn encode<const D: u16, const S: u16>(text: &str) -> Vec<u8> {
    let value: Fixed<D, S> = text.parse().expect("a decimal");
    let mut writer = CdrWriter::new(Format::native());
    value.encode(&mut writer);
    writer.finish().expect("decimals can be written")
}

fn decode<const D: u16, const S: u16>(octets: &[u8]) -> Result<String, CdrErrorKind> {
    let mut octets = octets.to_vec();
    let mut reader = CdrReader::new(&mut octets, Format::native());
    let value = Fixed::<D, S>::decode(&mut reader).map_err(|error| error.kind)?;
    assert_eq!(reader.remaining(), 0);
    Ok(value.to_string())
}

/// Conformance: CDR - `fixed`
#[test]
fn digits_are_packed_with_the_sign_last() {
    assert_eq!(encode::<5, 2>("123.45"), [0x12, 0x34, 0x5C]);
    assert_eq!(encode::<4, 2>("-12.34"), [0x01, 0x23, 0x4D]);
    assert_eq!(encode::<1, 0>("7"), [0x7C]);
    assert_eq!(encode::<2, 1>("0"), [0x00, 0x0C]);
    assert_eq!(decode::<5, 2>(&[0x12, 0x34, 0x5C]).as_deref(), Ok("123.45"));
    assert_eq!(decode::<4, 2>(&[0x01, 0x23, 0x4D]).as_deref(), Ok("-12.34"));
    let most = "9999999999999999999999999999999";
    let octets = encode::<31, 0>(most);
    assert_eq!(octets.len(), 16);
    assert_eq!(decode::<31, 0>(&octets).as_deref(), Ok(most));
}

/// JacORB writes no leading zeros. A count of such decimals was compared with the octets that they take
/// with all of their zeros, and sequences and arrays of them were refused at the end of a message.
#[test]
fn many_decimals_without_leading_zeros_are_read() {
    let mut octets = 3u32.to_ne_bytes().to_vec();
    octets.extend([0x0C, 0x7C, 0x12, 0x3D]);
    let mut reader = CdrReader::new(&mut octets, Format::native());
    let decimals = Vec::<Fixed<31, 0>>::decode(&mut reader).expect("three decimals");
    let unscaled: Vec<_> = decimals.into_iter().map(Fixed::unscaled).collect();
    assert_eq!(unscaled, [0, 7, -123]);

    let mut octets = [0x0C, 0x7C];
    let mut reader = CdrReader::new(&mut octets, Format::native());
    let array = <[Fixed<8, 2>; 2]>::decode(&mut reader).expect("two decimals");
    assert_eq!(array.map(Fixed::unscaled), [0, 7]);

    // By its TypeCode, of this program or not.
    let decimal = TypeCode::fixed(31, 0);
    for code in [decimal.clone(), Fixed::<31, 0>::type_code()] {
        let mut octets = 2u32.to_ne_bytes().to_vec();
        octets.extend([0x0C, 0x7C]);
        let mut reader = CdrReader::new(&mut octets, Format::native());
        let any = Any::read_value(TypeCode::sequence(code, 0), &mut reader).expect("an any");
        assert_eq!(format!("{any:?}"), "Any(sequence<fixed<31,0>>: [0, 7])");
    }
    let mut octets = 2u32.to_ne_bytes().to_vec();
    octets.extend([0x0C, 0x7C]);
    let mut writer = CdrWriter::new(Format::native());
    let decimals = TypeCode::sequence(decimal, 0);
    decimals.encode(&mut writer);
    let mut message = writer.finish().expect("a type");
    message.resize(message.len().next_multiple_of(4), 0);
    message.extend(octets);
    let mut reader = CdrReader::new(&mut message, Format::native());
    Any::decode(&mut reader).expect("an any of a peer");
}

/// Conformance: CDR - `fixed`
#[test]
fn a_sign_of_f_is_plus() {
    assert_eq!(decode::<3, 1>(&[0x12, 0x3F]).as_deref(), Ok("12.3"));
}

/// Conformance: CDR - `fixed`
#[test]
fn wrong_digits_and_signs_are_refused() {
    for octets in [
        [0x1A, 0x3C],
        [0x12, 0x3A],
        [0x12, 0x3E],
        [0x12, 0x39],
        [0xF2, 0x3C],
    ] {
        assert_eq!(decode::<3, 0>(&octets), Err(CdrErrorKind::BadFixed));
    }
    // The nibble that fills up an even number of digits is no digit.
    assert_eq!(decode::<2, 0>(&[0x12, 0x3C]), Err(CdrErrorKind::BadFixed));
    assert_eq!(decode::<3, 0>(&[0x12]), Err(CdrErrorKind::Truncated));
}

#[test]
fn text_is_read_exactly_or_not_at_all() {
    let read = |text: &str| text.parse::<Fixed<6, 2>>().map(|value| value.to_string());
    assert_eq!(read("1234.5").as_deref(), Ok("1234.50"));
    assert_eq!(read("-0.05").as_deref(), Ok("-0.05"));
    assert_eq!(read("+.5D").as_deref(), Ok("0.50"));
    assert_eq!(read("12.d").as_deref(), Ok("12.00"));
    assert_eq!(read("1.5000000").as_deref(), Ok("1.50"));
    assert_eq!(read("0000000012").as_deref(), Ok("12.00"));
    assert_eq!(read("-0").as_deref(), Ok("0.00"));
    assert_eq!(read("1.005"), Err(FixedError::Inexact));
    assert_eq!(read("10000"), Err(FixedError::Overflow));
    for text in ["", ".", "-", "1e3", "1.2.3", "--1", "٣", "1,5", "d"] {
        assert_eq!(read(text), Err(FixedError::Syntax), "{text:?}");
    }
}

/// Conformance: CDR - `fixed`
#[test]
fn arithmetic_is_exact_or_refused() {
    let of = |text: &str| text.parse::<Fixed<4, 2>>().expect("a decimal");
    assert_eq!(of("12.34").checked_add(of("-0.35")), Some(of("11.99")));
    assert_eq!(of("99.99").checked_add(of("0.01")), None);
    assert_eq!(of("-99.99").checked_sub(of("0.01")), None);
    assert_eq!(of("1.00").checked_sub(of("1.01")), Some(of("-0.01")));

    let product: Option<Fixed<8, 4>> = of("-12.34").checked_mul(of("56.78"));
    assert_eq!(product.map(|p| p.to_string()).as_deref(), Some("-700.6652"));
    let cut: Option<Fixed<6, 1>> = of("-12.34").checked_mul(of("56.78"));
    assert_eq!(cut.map(|p| p.to_string()).as_deref(), Some("-700.6"));
    let small: Option<Fixed<3, 1>> = of("12.34").checked_mul(of("56.78"));
    assert_eq!(small, None);

    let third: Option<Fixed<10, 9>> = of("1").checked_div(of("-3"));
    assert_eq!(
        third.map(|q| q.to_string()).as_deref(),
        Some("-0.333333333")
    );
    let whole: Option<Fixed<4, 0>> = of("99.99").checked_div(of("0.01"));
    assert_eq!(whole.map(|q| q.to_string()).as_deref(), Some("9999"));
    assert_eq!(of("1").checked_div::<4, 2, 4, 2>(of("0")), None);

    let most = Fixed::<31, 0>::MAX;
    assert_eq!(most.checked_mul::<31, 0, 31, 0>(most), None);
    let one: Option<Fixed<31, 0>> = most.checked_div(most);
    assert_eq!(one.map(Fixed::unscaled), Some(1));
    let fraction = Fixed::<31, 31>::MAX;
    let square: Option<Fixed<31, 31>> = fraction.checked_mul(fraction);
    assert_eq!(
        square.map(Fixed::unscaled),
        Some(Fixed::<31, 31>::MAX.unscaled() - 1)
    );
}

#[test]
fn other_numbers_become_decimals() {
    assert_eq!(
        Fixed::<5, 2>::try_from(-123i32).map(Fixed::unscaled),
        Ok(-12300)
    );
    assert_eq!(Fixed::<5, 2>::try_from(1000u64), Err(FixedError::Overflow));
    assert_eq!(
        Fixed::<5, 2>::try_from(u128::MAX),
        Err(FixedError::Overflow)
    );
    assert_eq!(
        Fixed::<5, 2>::from_f64(1.006).map(Fixed::unscaled),
        Some(101)
    );
    assert_eq!(Fixed::<5, 2>::from_f64(f64::NAN), None);
    assert_eq!(Fixed::<5, 2>::from_f64(1000.0), None);
    assert_eq!("0.1".parse::<Fixed<5, 2>>().map(Fixed::to_f64), Ok(0.1));
    let wide: Fixed<9, 4> = "12.5".parse().expect("a decimal");
    assert_eq!(
        wide.rescale::<3, 1>().map(|v| v.to_string()).as_deref(),
        Ok("12.5")
    );
    assert_eq!(wide.rescale::<2, 0>(), Err(FixedError::Inexact));
    assert_eq!(wide.rescale::<2, 1>(), Err(FixedError::Overflow));
    assert_eq!(Fixed::<4, 2>::from_unscaled(10_000), None);
    assert_eq!((-wide).trunc(), -12);
}

#[test]
fn decimals_are_ordered_by_value() {
    let mut values: Vec<Fixed<4, 2>> = ["3.10", "-2", "0.01", "-2.01"]
        .iter()
        .map(|text| text.parse().expect("a decimal"))
        .collect();
    values.sort();
    let shown: Vec<_> = values.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["-2.01", "-2.00", "0.01", "3.10"]);
    assert_eq!(
        format!("{:>8}|{:<8}|", values[0], values[3]),
        "   -2.01|3.10    |"
    );
}

/// JacORB 3.9 writes 1234.50 of a `fixed<10,2>` in four octets, without the
/// leading zeros that clause 9.3.2.8 asks for; found by the interoperability
/// tests.
///
/// Conformance: CDR - `fixed`
#[test]
fn a_peer_may_leave_leading_zeros_out() {
    for (octets, text) in [
        (&[0x01, 0x23, 0x45, 0x0C][..], "1234.50"),
        (&[0x0C], "0.00"),
        (&[0x7D], "-0.07"),
    ] {
        let mut octets = octets.to_vec();
        let mut reader = CdrReader::new(&mut octets, Format::native());
        let value = Fixed::<10, 2>::decode(&mut reader).unwrap();
        assert_eq!(value.to_string(), text);
        assert_eq!(reader.remaining(), 0);
    }
}
