// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options and limits of a compilation.

use std::path::PathBuf;

/// Options of a compilation: search path, macros, texts of the standard, limits.
///
/// ```
/// use orbium_idl::Options;
///
/// let options = Options::new().include("idl").define("NARROW", "").undefine("WIDE");
/// assert!(!options.idl4);
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    /// Folders searched for included files, in order, after the folder of the including file.
    pub include_paths: Vec<PathBuf>,
    /// Macros defined before the file is read, as name and replacement, in order. A name may carry parameters:
    /// `("max(a)", "a")`.
    pub defines: Vec<(String, String)>,
    /// Predefined macros to take back, after all definitions.
    pub undefines: Vec<String>,
    /// Read CORBA 3 words (`component`, `home`, `import`, `typeid`, …) as plain identifiers, as
    /// IDL written before CORBA 3 needs it.
    pub pre_corba3: bool,
    /// Follow IDL 4 where it differs: its keywords, `>>` closing two sequences, unions that
    /// switch on `octet` or `wchar`, `E::a` for enumerators. The names `int8` to `uint64` and
    /// annotations are understood either way.
    pub idl4: bool,
    /// Only warn when the name of a parameter, member, operation or attribute collides with a
    /// type name used with it (`void f(in Foo foo)`) or with that of the type around it
    /// (`struct Right { string right; }`), which the standard forbids.
    pub lenient_names: bool,
    /// Reject what the standard forbids but distributed IDL commonly does: a module reopened
    /// under another repository id prefix, and a forward declared interface that operations of
    /// the main file use and nothing defines. Without it both are warnings.
    pub strict: bool,
    /// Warn about pragmas and deprecated anonymous types too.
    pub pedantic: bool,
    /// Bounds against hostile input.
    pub limits: Limits,
}

/// Bounds on what one compilation may do. Going beyond one is an error with a location.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Files that include each other, one inside the next.
    pub include_depth: usize,
    /// Files read in all, counting repetitions.
    pub includes: usize,
    /// Octets in one file.
    pub file_size: usize,
    /// Tokens after preprocessing.
    pub tokens: usize,
    /// Tokens produced by macro expansion, intermediate ones included.
    pub expansion: usize,
    /// Braces, parentheses and angle brackets inside each other.
    pub nesting: usize,
    /// Names that interfaces and value types inherit, summed over all of them.
    pub inherited: usize,
    /// Errors reported before giving up.
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            include_depth: 100,
            includes: 10_000,
            file_size: 64 << 20,
            tokens: 8_000_000,
            expansion: 1_000_000,
            nesting: 100,
            inherited: 500_000,
            errors: 500,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}

impl Options {
    /// CORBA 3, no search path, the predefined macros only.
    pub fn new() -> Self {
        Options {
            include_paths: Vec::new(),
            defines: Vec::new(),
            undefines: Vec::new(),
            pre_corba3: false,
            idl4: false,
            lenient_names: false,
            strict: false,
            pedantic: false,
            limits: Limits::default(),
        }
    }

    /// Adds a folder to the search path, like `-I`.
    #[must_use]
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Self {
        self.include_paths.push(folder.into());
        self
    }

    /// Defines a macro, like `-D`.
    #[must_use]
    pub fn define(mut self, name: impl Into<String>, replacement: impl Into<String>) -> Self {
        self.defines.push((name.into(), replacement.into()));
        self
    }

    /// Takes a macro back, like `-U`.
    #[must_use]
    pub fn undefine(mut self, name: impl Into<String>) -> Self {
        self.undefines.push(name.into());
        self
    }
}
