// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options of writing and reading values as JSON.

use std::fmt;

use orbium_cdr::TypeCode;

/// Maximum levels of nested JSON, as in CDR.
pub(super) const MAX_DEPTH: usize = 128;

/// Look-up of types named in JSON by their repository id alone.
pub trait TypesById {
    /// The type with that repository id.
    fn type_with_id(&self, repository_id: &str) -> Option<TypeCode>;
}

/// Options of writing and reading values as JSON.
#[derive(Clone, Copy, Default)]
pub struct JsonOptions<'t> {
    /// Types that need not be written in full inside an `any`: the repository id suffices.
    pub types: Option<&'t dyn TypesById>,
    /// Spaces per level; `None` writes a single line.
    pub indent: Option<usize>,
    /// Write `long long` and `unsigned long long` as numbers instead of strings. Many JSON readers
    /// parse numbers as doubles and lose digits.
    pub wide_integers_as_numbers: bool,
    /// Read a bare boolean, string or number where an `any` is expected: as `boolean`,
    /// `string`, `long long` or `double`.
    pub guess_types: bool,
}

impl fmt::Debug for JsonOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonOptions")
            .field("types", &self.types.is_some())
            .field("indent", &self.indent)
            .field("wide_integers_as_numbers", &self.wide_integers_as_numbers)
            .field("guess_types", &self.guess_types)
            .finish()
    }
}

/// Text as a JSON string, with its quotation marks.
#[must_use]
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
