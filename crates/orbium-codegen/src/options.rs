// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a caller can choose.

use std::collections::BTreeMap;

/// How to generate.
///
/// ```
/// let options = orbium_codegen::Options::new("cubit.idl")
///     .runtime("my_orb::codegen")
///     .native_type("::Clock::Instant", "::std::time::Instant")
///     .deny_unmapped(true);
/// # let _ = options;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    source: String,
    runtime: String,
    deny_unmapped: bool,
    natives: BTreeMap<String, String>,
    pub(crate) external: BTreeMap<String, String>,
}

impl Options {
    /// Options for a source file of that name. Only the last part of a path is
    /// shown in what is generated.
    #[must_use]
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            runtime: "orbium::codegen".to_owned(),
            deny_unmapped: false,
            natives: BTreeMap::new(),
            external: BTreeMap::new(),
        }
    }

    /// The path of the module that generated code imports; `orbium::codegen`
    /// unless told otherwise.
    #[must_use]
    pub fn runtime(mut self, path: impl Into<String>) -> Self {
        self.runtime = path.into();
        self
    }

    /// Makes whatever has no mapping an error rather than a warning.
    #[must_use]
    pub fn deny_unmapped(mut self, deny: bool) -> Self {
        self.deny_unmapped = deny;
        self
    }

    /// Names the Rust type that stands for a `native` type. The IDL name is
    /// one from file scope, such as `::M::T`; the Rust path should be absolute.
    #[must_use]
    pub fn native_type(mut self, idl: impl Into<String>, rust: impl Into<String>) -> Self {
        self.natives.insert(absolute(idl.into()), rust.into());
        self
    }

    /// Says that the Rust of an IDL module is elsewhere, generated from another
    /// file: nothing is generated for it, and what uses it names it by this
    /// path.
    #[must_use]
    pub fn external_module(mut self, idl: impl Into<String>, rust: impl Into<String>) -> Self {
        self.external.insert(absolute(idl.into()), rust.into());
        self
    }

    pub(crate) fn source_name(&self) -> &str {
        &self.source
    }

    pub(crate) fn runtime_path(&self) -> &str {
        &self.runtime
    }

    pub(crate) fn denies_unmapped(&self) -> bool {
        self.deny_unmapped
    }

    pub(crate) fn native(&self, scoped_name: &str) -> Option<&str> {
        self.natives.get(scoped_name).map(String::as_str)
    }
}

fn absolute(name: String) -> String {
    if name.starts_with("::") {
        name
    } else {
        format!("::{name}")
    }
}
