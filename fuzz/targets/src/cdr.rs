// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any octets as a value of any type.

use std::fmt::{self, Debug, Write};

use orbium_cdr::{
    Any, ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, CharSet, Decode, Encode, Format,
    TypeCode, Typed, WideSet, copy_value, skip_value,
};
use orbium_giop::Ior;

use crate::types::{cubit, kitchen, shapes, ttcp};

type Check = fn(&Case<'_>);

/// Types that are tried, by the first octet of an input.
const TYPES: &[(&str, Check)] = &[
    ("type_code", type_code),
    ("any", any),
    ("interpreted", interpreted),
    ("Ior", untyped::<Ior>),
    ("Refused", untyped::<kitchen::Refused>),
    ("TooBig", untyped::<cubit::TooBig>),
    ("Table", untyped::<kitchen::Table>),
    ("Mixeds", untyped::<kitchen::Mixeds>),
    ("Structs", untyped::<ttcp::Structs>),
    ("Manys", untyped::<cubit::Manys>),
    ("Suits", untyped::<shapes::Suits>),
    ("LatesSeq", untyped::<shapes::LatesSeq>),
    ("Colour", typed::<kitchen::Colour>),
    ("Scalars", typed::<kitchen::Scalars>),
    ("Node", typed::<kitchen::Node>),
    ("Mixed", typed::<kitchen::Mixed>),
    ("ByColour", typed::<kitchen::ByColour>),
    ("ByBool", typed::<kitchen::ByBool>),
    ("ByChar", typed::<kitchen::ByChar>),
    ("ByLong", with_any::<kitchen::ByLong>),
    ("BinStruct", typed::<ttcp::BinStruct>),
    ("Tally", typed::<ttcp::Tally>),
    ("Many", typed::<cubit::Many>),
    ("Oneof", typed::<cubit::Oneof>),
    ("Bag", typed::<shapes::Bag>),
    ("Empties", typed::<shapes::Empties>),
    ("BySuit", with_any::<shapes::BySuit>),
    ("ByOctet", typed::<shapes::ByOctet>),
    ("ByHyper", typed::<shapes::ByHyper>),
    ("ByUnsigned", typed::<shapes::ByUnsigned>),
    ("ByFlag", typed::<shapes::ByFlag>),
    ("Tree", with_any::<shapes::Tree>),
    ("Fork", with_any::<shapes::tree::Fork>),
    ("[u8]", slice::<u8>),
    ("[i16]", slice::<i16>),
    ("[f64]", slice::<f64>),
    ("[bool]", slice::<bool>),
    ("[LongDouble]", slice::<orbium_cdr::LongDouble>),
    ("[BinStruct]", slice::<ttcp::BinStruct>),
    ("[Many]", slice::<cubit::Many>),
    ("[Nested]", slice::<shapes::Nested>),
    ("[Padded]", slice::<shapes::Padded>),
    ("[Late]", slice::<shapes::Late>),
    ("[Octet3]", slice::<shapes::Octet3>),
    ("[Cards]", slice::<shapes::Cards>),
    ("[Suit]", slice::<shapes::Suit>),
];

/// The first octet of inputs for a type, by its name in IDL; `[T]` for a
/// sequence of a type of fixed size.
#[must_use]
pub fn type_number(name: &str) -> Option<u8> {
    let at = TYPES.iter().position(|(known, _)| *known == name)?;
    u8::try_from(at).ok()
}

/// Three octets choose the type, the format and the alignment; what follows is
/// a value. What decodes encodes to octets that decode to the same value, and
/// the interpreter agrees with generated code about what is a value.
pub fn cdr(input: &[u8]) {
    let Some(([which, format, place], octets)) = input.split_first_chunk() else {
        return;
    };
    let case = Case {
        format: format_of(*format),
        phase: usize::from(place & 7),
        skew: usize::from(place >> 3 & 7),
        seams: seams(place >> 6, place & 7, octets.len()),
        octets,
    };
    let (_, check) = TYPES[usize::from(*which) % TYPES.len()];
    check(&case);
}

/// Formats by number: byte order, code sets, minor version.
#[must_use]
pub fn format_of(octet: u8) -> Format {
    Format {
        order: ByteOrder::from_flag(octet),
        char_set: if octet & 2 == 0 {
            CharSet::Utf8
        } else {
            CharSet::Latin1
        },
        wide_set: if octet & 4 == 0 {
            Some(WideSet::Utf16)
        } else {
            None
        },
        minor: match octet >> 3 & 3 {
            0 | 3 => 2,
            minor => minor - 1,
        },
    }
}

/// Where the fragments of a message would meet, by number: nowhere, in the
/// middle, every few octets, or at two odd places.
fn seams(number: u8, phase: u8, len: usize) -> Vec<u32> {
    let (phase, len) = (u32::from(phase), len as u32);
    let places = match number {
        0 => vec![],
        1 => vec![len / 2],
        2 => (1..len.min(48)).step_by(9).collect(),
        _ => vec![len / 3, 2 * len / 3 + 1],
    };
    let inside = places.into_iter().filter(|at| (1..len).contains(at));
    let mut seams: Vec<u32> = inside.map(|at| phase + at).collect();
    seams.dedup();
    seams
}

struct Case<'c> {
    format: Format,
    /// Position of the first octet, counted from the alignment origin.
    phase: usize,
    /// How far the alignment origin is from being aligned in memory.
    skew: usize,
    /// Where the octets are aligned anew, as fragments of GIOP 1.1 are.
    seams: Vec<u32>,
    octets: &'c [u8],
}

impl Case<'_> {
    /// Reads the octets, and says where that ended.
    fn read<T>(
        &self,
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<(T, usize), CdrError> {
        self.read_at_seams(self.octets, &self.seams, read)
    }

    /// Reads other octets, without seams, in the same format and place.
    fn read_octets<T>(
        &self,
        octets: &[u8],
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<(T, usize), CdrError> {
        self.read_at_seams(octets, &[], read)
    }

    fn read_at_seams<T>(
        &self,
        octets: &[u8],
        seams: &[u32],
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<(T, usize), CdrError> {
        let mut memory = vec![0xEE; octets.len() + 32];
        let at = memory.as_ptr().align_offset(16) + self.skew + self.phase;
        let place = &mut memory[at..at + octets.len()];
        place.copy_from_slice(octets);
        let mut reader =
            CdrReader::at(place, self.phase, self.format).with_fragment_boundaries(seams);
        let value = read(&mut reader)?;
        Ok((value, reader.position() - self.phase))
    }

    /// What a value is in the format, in the same place.
    fn written(&self, write: impl FnOnce(&mut CdrWriter<'_>)) -> Result<Vec<u8>, CdrError> {
        let mut writer = CdrWriter::new(self.format);
        writer.write_raw(&[0; 8][..self.phase]);
        write(&mut writer);
        let mut octets = writer.finish()?;
        octets.drain(..self.phase);
        Ok(octets)
    }

    fn encoded<T: Encode>(&self, value: &T) -> Result<Vec<u8>, CdrError> {
        let mut writer = CdrWriter::new(self.format);
        writer.write_raw(&[0; 8][..self.phase]);
        value.encode(&mut writer);
        let mut octets = writer.finish()?;
        octets.drain(..self.phase);
        Ok(octets)
    }

    /// The only reason why what was read in a format cannot be written in it:
    /// `char`s beyond ASCII, which UTF-8 has no single octet for.
    fn excuses(&self, error: CdrError) -> bool {
        self.format.char_set == CharSet::Utf8 && error.kind == CdrErrorKind::CannotConvert
    }
}

/// What decodes encodes, and decodes to the same.
fn untyped<T: Encode + Decode + Debug>(case: &Case<'_>) {
    if let Ok((value, _)) = case.read(T::decode) {
        repeats(case, value);
    }
}

fn repeats<T: Encode + Decode + Debug>(case: &Case<'_>, mut value: T) {
    let shown = format!("{value:?}");
    let octets = match case.encoded(&value) {
        Ok(octets) => octets,
        Err(error) => {
            assert!(case.excuses(error), "{error}: {shown}");
            return;
        }
    };
    let (again, end) = case
        .read_octets(&octets, T::decode)
        .expect("what was written");
    assert_eq!(end, octets.len());
    // By what is shown, as NaN is not equal to itself; then by octets.
    assert_eq!(format!("{again:?}"), shown);
    assert_eq!(case.encoded(&again).as_deref(), Ok(&*octets));
    case.read(|reader| value.decode_into(reader))
        .expect("what was decoded before");
    assert_eq!(case.encoded(&value).as_deref(), Ok(&*octets));
}

/// As [`untyped`]; and the interpreter takes the same octets for a value.
fn typed<T: Typed + Encode + Decode + Debug>(case: &Case<'_>) {
    agreed::<T>(case, &|_| false);
}

/// As [`typed`], for types with an `any` inside. Many values of no size are too
/// much for an any that stands alone, and not for the walk over all around it.
fn with_any<T: Typed + Encode + Decode + Debug>(case: &Case<'_>) {
    agreed::<T>(case, &|error| error.kind == CdrErrorKind::CountTooLarge);
}

fn agreed<T: Typed + Encode + Decode + Debug>(
    case: &Case<'_>,
    stricter: &dyn Fn(CdrError) -> bool,
) {
    let code = T::type_code();
    let decoded = case.read(T::decode);
    let walked = case.read(|reader| skip_value(code.as_ref(), reader));
    match (decoded, walked) {
        (Ok((value, end)), Ok(((), walked))) => {
            assert_eq!(end, walked, "the interpreter ends elsewhere");
            kept(case, &code, &value);
            repeats(case, value);
        }
        // Generated code descends fewer levels for the same depth.
        (Ok((value, _)), Err(error)) => {
            assert_eq!(error.kind, CdrErrorKind::TooDeep, "{value:?}");
            repeats(case, value);
        }
        (Err(error), Ok(_)) => {
            assert!(
                stricter(error),
                "the interpreter takes what is no value: {error}"
            );
        }
        (Err(_), Err(_)) => {}
    }
}

/// An any made by the interpreter holds what typed code decodes.
fn kept<T: Typed + Encode + Decode + Debug>(case: &Case<'_>, code: &TypeCode, value: &T) {
    let (any, _) = case
        .read(|reader| Any::read_value(code.clone(), reader))
        .expect("a value that the interpreter walked");
    let extracted: T = any.extract().expect("a value of its type");
    assert_eq!(format!("{extracted:?}"), format!("{value:?}"));
    match Any::new(value) {
        Ok(made) => assert!(made == any, "{made:?} is not {any:?}"),
        Err(error) => panic!("{error}: {value:?}"),
    }
}

fn type_code(case: &Case<'_>) {
    let Ok((code, _)) = case.read(TypeCode::decode) else {
        return;
    };
    let octets = case.encoded(&code).expect("a TypeCode that was read");
    let (again, end) = case
        .read_octets(&octets, TypeCode::decode)
        .expect("what was written");
    assert_eq!(end, octets.len());
    assert!(code.equal(&again) && code.equivalent(&again) && again.equal(&code));
    assert_eq!(case.encoded(&again).as_deref(), Ok(&*octets));
    let _ = write!(Few(1 << 16), "{code} {code:?}");
}

fn any(case: &Case<'_>) {
    let Ok((any, _)) = case.read(Any::decode) else {
        return;
    };
    let _ = write!(Few(1 << 16), "{any:?}");
    let octets = match case.encoded(&any) {
        Ok(octets) => octets,
        Err(error) => return assert!(case.excuses(error), "{error}: {any:?}"),
    };
    let (again, end) = case
        .read_octets(&octets, Any::decode)
        .expect("what was written");
    assert_eq!(end, octets.len());
    assert!(again == any, "{again:?} is not {any:?}");
}

/// A TypeCode, and a value of it behind.
fn interpreted(case: &Case<'_>) {
    let walked = case.read_octets(case.octets, |reader| {
        let code = TypeCode::decode(reader)?;
        let start = reader.position();
        skip_value(code.as_ref(), reader)?;
        Ok((code, start - case.phase, reader.position() - case.phase))
    });
    let Ok(((code, start, end), _)) = walked else {
        return;
    };
    let inner = Case {
        phase: (case.phase + start) & 7,
        octets: &case.octets[start..end],
        seams: Vec::new(),
        ..*case
    };
    let copy = inner.read(|reader| {
        let mut failed = None;
        let octets =
            inner.written(|writer| failed = copy_value(code.as_ref(), reader, writer).err());
        failed.map_or(octets, Err)
    });
    match copy {
        Ok((octets, _)) => {
            let (_, end) = inner
                .read_octets(&octets, |reader| skip_value(code.as_ref(), reader))
                .expect("what was copied");
            assert_eq!(end, octets.len());
        }
        Err(error) => assert!(case.excuses(error), "{error}"),
    }
}

/// Borrowed and owned elements are the same.
/// In CDR, and with elements as far apart as in memory.
fn slice<T: orbium_cdr::FixedSize + Encode + Decode + Debug>(case: &Case<'_>) {
    slice_in::<T>(case);
    if case.format.order == ByteOrder::NATIVE {
        slice_in::<T>(&Case {
            format: case.format.with_natural_elements(true),
            seams: Vec::new(),
            ..*case
        });
    }
}

fn slice_in<T: orbium_cdr::FixedSize + Encode + Decode + Debug>(case: &Case<'_>) {
    let owned = case.read(Vec::<T>::decode);
    let borrowed = case.read(|reader| {
        let items = reader.read_fixed_slice::<T>()?;
        Ok(format!("{items:?}"))
    });
    match (owned, borrowed) {
        (Ok((owned, end)), Ok((borrowed, other))) => {
            assert_eq!((format!("{owned:?}"), end), (borrowed, other));
            repeats(case, owned);
        }
        (Err(_), Err(_)) => {}
        (owned, borrowed) => panic!("{owned:?} and {borrowed:?}"),
    }
}

/// Takes so many octets of text and refuses more: types and values may be
/// shown at far greater length than they are written.
struct Few(usize);

impl fmt::Write for Few {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.checked_sub(text.len()).ok_or(fmt::Error)?;
        Ok(())
    }
}
