// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code sets and their negotiation (CORBA 3.3 Part 2, clause 7.10).

use core::fmt;

use orbium_cdr::{CdrError, CdrReader, CdrWriter, CharSet, WideSet};

use crate::encapsulation::{decode_encapsulation, encapsulate, read_list};
use crate::reference::orb_type::{ORB_TYPE_OMNIORB, ORB_TYPE_ORBIUM};

/// A code set of the OSF registry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeSetId(pub u32);

impl CodeSetId {
    /// Absence of a code set.
    pub const NONE: Self = Self(0);
    /// ISO 8859-1.
    pub const ISO_8859_1: Self = Self(0x0001_0001);
    /// ISO 646 IRV: ASCII.
    pub const ASCII: Self = Self(0x0001_0020);
    /// UCS-2, level 1.
    pub const UCS_2: Self = Self(0x0001_0100);
    /// UCS-4, level 1.
    pub const UCS_4: Self = Self(0x0001_0104);
    /// UTF-16.
    pub const UTF_16: Self = Self(0x0001_0109);
    /// UTF-8.
    pub const UTF_8: Self = Self(0x0501_0001);

    /// The registered name, or `None` for an unregistered id.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0 => "none",
            0x0001_0001 => "ISO 8859-1",
            0x0001_0002 => "ISO 8859-2",
            0x0001_0003 => "ISO 8859-3",
            0x0001_0004 => "ISO 8859-4",
            0x0001_0005 => "ISO 8859-5",
            0x0001_0006 => "ISO 8859-6",
            0x0001_0007 => "ISO 8859-7",
            0x0001_0008 => "ISO 8859-8",
            0x0001_0009 => "ISO 8859-9",
            0x0001_000A => "ISO 8859-10",
            0x0001_000F => "ISO 8859-15",
            0x0001_0020 => "US-ASCII",
            0x0001_0100..=0x0001_0102 => "UCS-2",
            0x0001_0104..=0x0001_0106 => "UCS-4",
            0x0001_0109 => "UTF-16",
            0x0501_0001 => "UTF-8",
            0x1002_04E2 => "windows-1250",
            0x1002_04E3 => "windows-1251",
            0x1002_04E4 => "windows-1252",
            0x1002_04E5 => "windows-1253",
            0x1002_04E6 => "windows-1254",
            0x1002_04E7 => "windows-1255",
            0x1002_04E8 => "windows-1256",
            0x1002_04E9 => "windows-1257",
            0x1002_0025 => "IBM-037",
            0x1002_01F8 => "IBM-500",
            _ => return None,
        })
    }

    /// Whether its character repertoire is a subset of Unicode's, and so of the fallback sets':
    /// "compatible" in the negotiation. True of the ISO 8859 family, ASCII and the Unicode
    /// encodings.
    const fn is_unicode_subset(self) -> bool {
        matches!(
            self.0,
            0x0001_0001..=0x0001_000F | 0x0001_0020 | 0x0001_0100..=0x0001_0109 | 0x0501_0001
        )
    }
}

impl fmt::Display for CodeSetId {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{:#010x}", self.0),
        }
    }
}

impl fmt::Debug for CodeSetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The code sets of one side, for one kind of character.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CodeSetComponent {
    /// The native code set; NONE if the side has none.
    pub native: CodeSetId,
    /// The conversion code sets, in order of preference.
    pub conversion: Vec<CodeSetId>,
}

impl Default for CodeSetId {
    fn default() -> Self {
        Self::NONE
    }
}

impl CodeSetComponent {
    fn read(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let native = CodeSetId(reader.read_u32()?);
        let conversion = read_list(reader, 4, |reader| reader.read_u32().map(CodeSetId))?;
        Ok(Self { native, conversion })
    }

    fn write(&self, writer: &mut CdrWriter<'_>) {
        writer.write_u32(self.native.0);
        writer.write_count(self.conversion.len());
        for set in &self.conversion {
            writer.write_u32(set.0);
        }
    }

    fn has(&self, set: CodeSetId) -> bool {
        set != CodeSetId::NONE && self.conversion.contains(&set)
    }
}

/// The code sets that a server publishes (TAG_CODE_SETS).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CodeSetComponentInfo {
    /// For `char` and `string`.
    pub char_data: CodeSetComponent,
    /// For `wchar` and `wstring`.
    pub wchar_data: CodeSetComponent,
}

/// The code set that references give as native for `char` and `string`. orbium supports ISO 8859-1
/// and UTF-8 with either setting; the setting decides which of the two clients of other ORBs
/// choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NativeCharSet {
    /// ISO 8859-1, with conversion from UTF-8: a `char` is any octet, and converting clients with
    /// native UTF-8 send text as ISO 8859-1.
    #[default]
    Latin1,
    /// UTF-8, with conversion from ISO 8859-1: text of any script; clients of other ORBs cannot
    /// send a `char` beyond ASCII.
    Utf8,
}

impl NativeCharSet {
    const fn name(self) -> &'static str {
        match self {
            Self::Latin1 => "ISO-8859-1",
            Self::Utf8 => "UTF-8",
        }
    }

    fn sets(self) -> CodeSetComponent {
        let (native, conversion) = match self {
            Self::Latin1 => (CodeSetId::ISO_8859_1, vec![CodeSetId::UTF_8]),
            Self::Utf8 => (CodeSetId::UTF_8, vec![CodeSetId::ISO_8859_1]),
        };
        CodeSetComponent { native, conversion }
    }
}

impl fmt::Display for NativeCharSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl core::str::FromStr for NativeCharSet {
    type Err = UnknownCodeSet;

    /// Reads `ISO-8859-1` or `UTF-8`, or the number of the set in the OSF
    /// registry, as TAO writes it (`0x00010001`).
    fn from_str(text: &str) -> Result<Self, UnknownCodeSet> {
        let number = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        match number.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(number) if number == CodeSetId::ISO_8859_1.0 => return Ok(Self::Latin1),
            Some(number) if number == CodeSetId::UTF_8.0 => return Ok(Self::Utf8),
            _ => {}
        }
        let plain = text.replace([' ', '_'], "-");
        let all = [Self::Latin1, Self::Utf8];
        let found = all
            .into_iter()
            .find(|set| plain.eq_ignore_ascii_case(set.name()));
        found.ok_or(UnknownCodeSet)
    }
}

/// Error of an unsupported code set for `char`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UnknownCodeSet;

impl fmt::Display for UnknownCodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("orbium has no such code set for char: write ISO-8859-1 or UTF-8")
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for UnknownCodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for UnknownCodeSet {}

impl CodeSetComponentInfo {
    /// The code sets that an orbium server publishes: for `char` both sets, one of them as native;
    /// for `wchar` UTF-16.
    #[must_use]
    pub fn orbium(native: NativeCharSet) -> Self {
        Self {
            char_data: native.sets(),
            wchar_data: CodeSetComponent {
                native: CodeSetId::UTF_16,
                conversion: Vec::new(),
            },
        }
    }

    /// Reads the contents of the encapsulation.
    ///
    /// # Errors
    /// [`CdrError`] for malformed data.
    pub fn read(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            char_data: CodeSetComponent::read(reader)?,
            wchar_data: CodeSetComponent::read(reader)?,
        })
    }

    /// Writes the contents of the encapsulation.
    pub fn write(&self, writer: &mut CdrWriter<'_>) {
        self.char_data.write(writer);
        self.wchar_data.write(writer);
    }
}

/// The code sets in use on a connection (service context CODE_SETS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeSetContext {
    /// For `char` and `string`.
    pub char_data: CodeSetId,
    /// The transmission code set of `wchar` and `wstring`; NONE if there is none.
    pub wchar_data: CodeSetId,
    /// Whether a `char` is ISO 8859-1 though `string` is UTF-8. Only between two orbium ORBs: a
    /// third set follows the two of the standard.
    pub latin1_char: bool,
}

impl CodeSetContext {
    /// The two sets of the standard.
    #[must_use]
    pub const fn new(char_data: CodeSetId, wchar_data: CodeSetId) -> Self {
        Self {
            char_data,
            wchar_data,
            latin1_char: false,
        }
    }

    /// Reads the data of the service context.
    ///
    /// # Errors
    /// [`CdrError`] for malformed data.
    pub fn decode(data: &[u8]) -> Result<Self, CdrError> {
        decode_encapsulation(data, |reader| {
            Ok(Self {
                char_data: CodeSetId(reader.read_u32()?),
                wchar_data: CodeSetId(reader.read_u32()?),
                latin1_char: reader.remaining() >= 4
                    && CodeSetId(reader.read_u32()?) == CodeSetId::ISO_8859_1,
            })
        })
    }

    /// The data of the service context.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        encapsulate(|writer| {
            writer.write_u32(self.char_data.0);
            writer.write_u32(self.wchar_data.0);
            if self.latin1_char {
                writer.write_u32(CodeSetId::ISO_8859_1.0);
            }
        })
    }
}

/// The two sides share no code set (CODESET_INCOMPATIBLE).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CodeSetError {
    /// No common code set for `char`; the peer's native set.
    Char(CodeSetId),
    /// No common code set for `wchar`; the peer's native set.
    WChar(CodeSetId),
}

impl fmt::Display for CodeSetError {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Char(set) => write!(f, "no code set for char is shared with the peer ({set})"),
            Self::WChar(set) => write!(f, "no code set for wchar is shared with the peer ({set})"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for CodeSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for CodeSetError {}

/// Negotiated code sets, in the terms of [`orbium_cdr::Format`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negotiated {
    /// For `char` and `string`.
    pub char_set: CharSet,
    /// For `wchar` and `wstring`; `None` if the server has none.
    pub wide_set: Option<WideSet>,
}

impl Negotiated {
    /// The sets without negotiation: ISO 8859-1 and no wide characters.
    pub const DEFAULT: Self = Self {
        char_set: CharSet::Latin1,
        wide_set: None,
    };

    /// Whether these are the [`DEFAULT`](Self::DEFAULT) sets, for which no service context is sent.
    #[must_use]
    pub const fn is_default(self) -> bool {
        matches!(self.char_set, CharSet::Latin1) && self.wide_set.is_none()
    }

    /// Selects the code sets for a server with this component; `None` if its profile has none. GIOP
    /// 1.0 has no negotiation: see [`Negotiated::DEFAULT`]. `orb` is the type of the server's ORB,
    /// if its profile has one.
    ///
    /// Selects UTF-8 if the server supports it, for text in any script. The exception is omniORB
    /// with native ISO 8859-1: its strings have no other script, and UTF-8 would only lose its
    /// `char`s beyond ASCII.
    ///
    /// # Errors
    ///
    /// [`CodeSetError::Char`] if no code set is shared. A server that shares no wide code set is
    /// treated as one without wide characters, so that calls without them still work.
    pub fn with_server(
        server: Option<&CodeSetComponentInfo>,
        orb: Option<u32>,
    ) -> Result<Self, CodeSetError> {
        let Some(server) = server else {
            return Ok(Self::DEFAULT);
        };
        let ours = CodeSetComponentInfo::orbium(NativeCharSet::Utf8);
        let char_set = narrow(&ours.char_data, &server.char_data, orb)?;
        let wide = select(&ours.wchar_data, &server.wchar_data, CodeSetId::UTF_16);
        Ok(Self {
            char_set,
            wide_set: wide.and_then(wide_set),
        })
    }

    /// The code sets in a client's service context.
    ///
    /// # Errors
    /// [`CodeSetError`] for an unsupported code set (CODESET_INCOMPATIBLE minor 2).
    pub fn from_context(context: CodeSetContext) -> Result<Self, CodeSetError> {
        let CodeSetContext {
            char_data,
            wchar_data,
            latin1_char,
        } = context;
        Ok(Self {
            char_set: match char_set(char_data) {
                _ if char_data == CodeSetId::NONE => CharSet::Latin1,
                Some(CharSet::Utf8) if latin1_char => CharSet::Utf8AndLatin1Char,
                Some(set) => set,
                None => return Err(CodeSetError::Char(char_data)),
            },
            wide_set: if wchar_data == CodeSetId::NONE {
                None
            } else {
                Some(wide_set(wchar_data).ok_or(CodeSetError::WChar(wchar_data))?)
            },
        })
    }

    /// The context to send; its wide set is 0 if the server has none.
    #[must_use]
    pub const fn context(self) -> CodeSetContext {
        CodeSetContext {
            char_data: match self.char_set {
                CharSet::Latin1 => CodeSetId::ISO_8859_1,
                CharSet::Utf8 | CharSet::Utf8AndLatin1Char => CodeSetId::UTF_8,
            },
            latin1_char: matches!(self.char_set, CharSet::Utf8AndLatin1Char),
            wchar_data: match self.wide_set {
                Some(WideSet::Utf16) => CodeSetId::UTF_16,
                None => CodeSetId::NONE,
            },
        }
    }
}

/// The client's choice for `char` and `string`.
fn narrow(
    ours: &CodeSetComponent,
    server: &CodeSetComponent,
    orb: Option<u32>,
) -> Result<CharSet, CodeSetError> {
    let has_utf_8 = server.native == CodeSetId::UTF_8 || server.has(CodeSetId::UTF_8);
    let is_latin_1_alone = orb == Some(ORB_TYPE_OMNIORB) && server.native == CodeSetId::ISO_8859_1;
    match select(ours, server, CodeSetId::UTF_8) {
        // A component that names no set leaves the default in force.
        _ if *server == CodeSetComponent::default() => Ok(CharSet::Latin1),
        _ if has_utf_8 && orb == Some(ORB_TYPE_ORBIUM) => Ok(CharSet::Utf8AndLatin1Char),
        _ if has_utf_8 && !is_latin_1_alone => Ok(CharSet::Utf8),
        Some(set) => char_set(set).ok_or(CodeSetError::Char(server.native)),
        None => Err(CodeSetError::Char(server.native)),
    }
}

/// The transmission code set for one kind of character: native sets first, then
/// the server's conversions in its order, then the fallback if all characters
/// of both native sets are in it. `None`: incompatible.
#[must_use]
pub fn select(
    client: &CodeSetComponent,
    server: &CodeSetComponent,
    fallback: CodeSetId,
) -> Option<CodeSetId> {
    if server.native != CodeSetId::NONE
        && (server.native == client.native || client.has(server.native))
    {
        return Some(server.native);
    }
    if server.has(client.native) {
        return Some(client.native);
    }
    let shared = server.conversion.iter().find(|set| client.has(**set));
    if let Some(set) = shared {
        return Some(*set);
    }
    (client.native.is_unicode_subset() && server.native.is_unicode_subset()).then_some(fallback)
}

const fn char_set(set: CodeSetId) -> Option<CharSet> {
    match set {
        CodeSetId::UTF_8 => Some(CharSet::Utf8),
        // ASCII is the half that ISO 8859-1 and it share.
        CodeSetId::ISO_8859_1 | CodeSetId::ASCII => Some(CharSet::Latin1),
        _ => None,
    }
}

const fn wide_set(set: CodeSetId) -> Option<WideSet> {
    match set {
        CodeSetId::UTF_16 => Some(WideSet::Utf16),
        _ => None,
    }
}
