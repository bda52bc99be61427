// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options and limits of a compilation.

use std::path::PathBuf;

/// Options of a compilation: search path, macros, dialects, limits.
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
    /// Macros defined before the file is read, as name and replacement, in order. A name may have
    /// parameters: `("max(a)", "a")`.
    pub defines: Vec<(String, String)>,
    /// Predefined macros to undefine, after all definitions.
    pub undefines: Vec<String>,
    /// Read CORBA 3 words (`component`, `home`, `import`, `typeid`, …) as plain identifiers, for
    /// IDL from before CORBA 3.
    pub pre_corba3: bool,
    /// Follow IDL 4 where it differs: its keywords, `>>` closing two sequences, unions that
    /// switch on `octet` or `wchar`, `E::a` for enumerators. The names `int8` to `uint64` and
    /// annotations are understood either way.
    pub idl4: bool,
    /// Only warn when the name of a parameter, member, operation or attribute collides with a
    /// type name used with it (`void f(in Foo foo)`) or with that of the type around it
    /// (`struct Right { string right; }`), which the standard forbids.
    pub lenient_names: bool,
    /// Reject constructs that the standard forbids but distributed IDL commonly contains: a module
    /// reopened under another repository id prefix, and a forward declared interface without a
    /// definition that operations of the main file use. Without it both are warnings.
    pub strict: bool,
    /// Warn about pragmas and deprecated anonymous types too.
    pub pedantic: bool,
    /// Bounds against hostile input.
    pub limits: Limits,
}

/// Bounds of one compilation. Exceeding one is an error with a location.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum depth of nested includes.
    pub include_depth: usize,
    /// Maximum number of files read in total, counting repetitions.
    pub includes: usize,
    /// Maximum octets of one file.
    pub file_size: usize,
    /// Maximum number of octets of one identifier.
    pub identifier: usize,
    /// Maximum octets of scoped names, repository ids, comments and values of constants, summed
    /// over all definitions: each has a copy.
    pub text: usize,
    /// Maximum number of tokens after preprocessing.
    pub tokens: usize,
    /// Maximum number of tokens produced by macro expansion, intermediate ones included.
    pub expansion: usize,
    /// Maximum nesting of braces, parentheses and angle brackets.
    pub nesting: usize,
    /// Maximum number of names that interfaces and value types inherit, summed over all of them.
    pub inherited: usize,
    /// Maximum number of errors reported before the compilation is aborted.
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            include_depth: 100,
            includes: 10_000,
            file_size: 64 << 20,
            identifier: 1024,
            text: 128 << 20,
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

    /// Undefines a macro, like `-U`.
    #[must_use]
    pub fn undefine(mut self, name: impl Into<String>) -> Self {
        self.undefines.push(name.into());
        self
    }
}
