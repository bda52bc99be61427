// SPDX-License-Identifier: MIT OR Apache-2.0
//! Strings that name objects (CORBA 3.3 Part 2, clause 7.6.10).

use core::fmt;

use crate::url::url_error::{UrlError, UrlErrorKind};
use crate::url::url_text::has_scheme;
use crate::{Corbaloc, Corbaname, Ior};

/// A parsed object string, the argument of `string_to_object`.
///
/// ```
/// use orbium_giop::ObjectUrl;
/// let url = ObjectUrl::parse("corbaloc:iiop:1.2@[::1]:5000/Dev/Trader").unwrap();
/// assert_eq!(url.to_string(), "corbaloc:iiop:1.2@[::1]:5000/Dev/Trader");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectUrl {
    /// `IOR:`
    Ior(Ior),
    /// `corbaloc:`
    Corbaloc(Corbaloc),
    /// `corbaname:`
    Corbaname(Corbaname),
}

impl ObjectUrl {
    /// Parses an object string. The case of schemes does not matter, nor does
    /// white space around the string.
    ///
    /// # Errors
    /// [`UrlError`].
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let text = text.trim();
        if has_scheme(text, "IOR:") {
            return Ior::from_string(text)
                .map(Self::Ior)
                .map_err(|error| UrlError::new(UrlErrorKind::BadIor(error), 4));
        }
        if has_scheme(text, Corbaloc::SCHEME) {
            return Corbaloc::parse(text).map(Self::Corbaloc);
        }
        if has_scheme(text, Corbaname::SCHEME) {
            return Corbaname::parse(text).map(Self::Corbaname);
        }
        Err(UrlError::new(UrlErrorKind::UnknownScheme, 0))
    }
}

impl core::str::FromStr for ObjectUrl {
    type Err = UrlError;
    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::parse(text)
    }
}

impl fmt::Display for ObjectUrl {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ior(ior) => ior.fmt(f),
            Self::Corbaloc(corbaloc) => corbaloc.fmt(f),
            Self::Corbaname(corbaname) => corbaname.fmt(f),
        }
    }
}
