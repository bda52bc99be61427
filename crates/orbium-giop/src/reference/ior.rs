// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interoperable object references (CORBA 3.3 Part 2, clauses 7.6.2 and 7.6.9).

use core::fmt;

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode, Format};

use crate::TaggedComponent;
use crate::encapsulation::{decode_encapsulation, read_text};
use crate::reference::profile::{IiopProfile, Profile, TAG_INTERNET_IOP, TaggedProfile};
use crate::url::url_text::has_scheme;

/// Maximum number of profiles read from one reference.
pub const MAX_PROFILES: usize = 1024;

/// A reference: a type and the profiles under which the object is reached.
///
/// Unknown profiles are preserved octet for octet, so a reference can be passed on unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ior {
    /// Repository id of the most derived known interface; may be empty.
    pub type_id: String,
    /// The profiles; a reference without any is nil.
    pub profiles: Vec<TaggedProfile>,
}

impl Ior {
    /// The nil reference.
    pub const NIL: Self = Self {
        type_id: String::new(),
        profiles: Vec::new(),
    };

    /// A reference with one IIOP profile.
    #[must_use]
    #[inline]
    pub fn with_profile(type_id: &str, profile: &IiopProfile) -> Self {
        Self {
            type_id: type_id.to_owned(),
            profiles: vec![profile.encode()],
        }
    }

    /// Whether it is nil, which means without profiles, regardless of its type.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        self.profiles.is_empty()
    }

    /// The IIOP profiles that can be read, in order.
    pub fn iiop_profiles(&self) -> impl Iterator<Item = IiopProfile> + '_ {
        self.profiles
            .iter()
            .filter(|profile| profile.tag == TAG_INTERNET_IOP)
            .filter_map(|profile| IiopProfile::decode(profile).ok())
    }

    /// The components that all profiles share: those of TAG_MULTIPLE_COMPONENTS
    /// profiles.
    #[must_use]
    pub fn common_components(&self) -> Vec<TaggedComponent> {
        let mut common = Vec::new();
        for profile in &self.profiles {
            if let Ok(Profile::Components(components)) = Profile::parse(profile) {
                common.extend(components);
            }
        }
        common
    }

    /// Parses an `IOR:` string. Case and surrounding white space are not significant.
    ///
    /// # Errors
    /// [`IorStringError`].
    pub fn from_string(text: &str) -> Result<Self, IorStringError> {
        let text = text.trim();
        if !has_scheme(text, "IOR:") {
            return Err(IorStringError::NoScheme);
        }
        let digits = text.get(4..).unwrap_or_default();
        if !digits.len().is_multiple_of(2) {
            return Err(IorStringError::OddLength);
        }
        let mut octets = Vec::with_capacity(digits.len() / 2);
        for (i, pair) in digits.as_bytes().chunks_exact(2).enumerate() {
            let (Some(high), Some(low)) = (hex_digit(pair[0]), hex_digit(pair[1])) else {
                let bad = usize::from(hex_digit(pair[0]).is_some());
                return Err(IorStringError::BadDigit(4 + 2 * i + bad));
            };
            octets.push(high << 4 | low);
        }
        decode_encapsulation(&octets, Self::decode).map_err(IorStringError::Malformed)
    }

    /// The reference as an encapsulation in native byte order.
    fn encapsulated(&self) -> Vec<u8> {
        let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 0));
        writer.write_u8(ByteOrder::NATIVE.flag());
        self.encode(&mut writer);
        // Fails only for counts beyond 32 bits.
        writer.finish().unwrap_or_default()
    }
}

impl Encode for Ior {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        writer.write_name(&self.type_id);
        writer.write_count(self.profiles.len());
        for profile in &self.profiles {
            profile.encode(writer);
        }
    }
}

impl Decode for Ior {
    const MIN_SIZE: usize = 8;
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let type_id = read_text(reader)?;
        let count = reader.read_count(TaggedProfile::MIN_SIZE)?;
        if count > MAX_PROFILES {
            return Err(reader.error(CdrErrorKind::CountTooLarge));
        }
        let mut profiles = Vec::new();
        for _ in 0..count {
            profiles.push(TaggedProfile::decode(reader)?);
        }
        Ok(Self { type_id, profiles })
    }
}

impl fmt::Display for Ior {
    /// The stringified form, `IOR:` and hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let octets = self.encapsulated();
        let mut digits = Vec::with_capacity(2 * octets.len());
        for octet in octets {
            digits.push(DIGITS[usize::from(octet >> 4)]);
            digits.push(DIGITS[usize::from(octet & 15)]);
        }
        f.write_str("IOR:")?;
        f.write_str(core::str::from_utf8(&digits).unwrap_or_default())
    }
}

impl core::str::FromStr for Ior {
    type Err = IorStringError;
    fn from_str(text: &str) -> Result<Self, IorStringError> {
        Self::from_string(text)
    }
}

/// Error in a stringified reference.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum IorStringError {
    /// It does not start with `IOR:`.
    NoScheme,
    /// The number of digits is odd.
    OddLength,
    /// The character at this offset is not a hexadecimal digit.
    BadDigit(usize),
    /// The octets are not a reference.
    Malformed(CdrError),
}

impl fmt::Display for IorStringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoScheme => f.write_str("the string does not start with \"IOR:\""),
            Self::OddLength => f.write_str("the number of hexadecimal digits is odd"),
            Self::BadDigit(at) => write!(f, "not a hexadecimal digit at offset {at}"),
            Self::Malformed(error) => write!(f, "the reference is malformed: {error}"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for IorStringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for IorStringError {}

/// The value of a hexadecimal digit of either case.
pub(crate) const fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}
