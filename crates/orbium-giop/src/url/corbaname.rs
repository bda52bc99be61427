// SPDX-License-Identifier: MIT OR Apache-2.0
//! `corbaname:` URLs (CORBA 3.3 Part 2, clause 7.6.10).

use core::fmt;

use crate::Corbaloc;
use crate::url::corbaloc::{DEFAULT_KEY, parse_addresses, unescape, write_escaped};
use crate::url::url_error::{UrlError, UrlErrorKind};
use crate::url::url_text::has_scheme;

/// A naming context and a name to be resolved in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Corbaname {
    /// The location of the naming context; its default key is `NameService`.
    pub context: Corbaloc,
    /// Stringified name, unescaped as a URL but not yet as a name; empty for
    /// the context itself.
    pub name: String,
}

impl Corbaname {
    /// The scheme.
    pub const SCHEME: &'static str = "corbaname:";

    /// Parses a URL.
    ///
    /// # Errors
    /// [`UrlError`].
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if !has_scheme(text, Self::SCHEME) {
            return Err(UrlError::new(UrlErrorKind::UnknownScheme, 0));
        }
        let (location, name) = text.split_once('#').unwrap_or((text, ""));
        let (addresses, key_at) = parse_addresses(location, Self::SCHEME.len())?;
        let mut key = unescape(location.get(key_at..).unwrap_or_default(), key_at)?;
        if key.is_empty() {
            key = DEFAULT_KEY.into();
        }
        let name_at = location.len() + 1;
        let name = String::from_utf8(unescape(name, name_at)?)
            .map_err(|_| UrlError::new(UrlErrorKind::NotText, name_at))?;
        Ok(Self {
            context: Corbaloc { addresses, key },
            name,
        })
    }
}

impl fmt::Display for Corbaname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::SCHEME)?;
        self.context.write_rest(f)?;
        if self.name.is_empty() {
            return Ok(());
        }
        f.write_str("#")?;
        write_escaped(f, self.name.as_bytes())
    }
}
