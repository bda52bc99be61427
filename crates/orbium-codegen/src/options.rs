// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a caller can choose.

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
    asynchronous: bool,
    /// In order, each once.
    natives: Vec<(String, String)>,
    /// In order, each once.
    pub(crate) external: Vec<(String, String)>,
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
            asynchronous: false,
            natives: Vec::new(),
            external: Vec::new(),
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

    /// Adds `op_async` for every operation and attribute that no annotation
    /// `@ami` speaks of. Such an annotation of an operation, of its interface or
    /// of a module around goes before this, the innermost first; without one
    /// nothing is added unless told otherwise.
    ///
    /// What is generated then needs the runtime's feature `asynchronous`. An
    /// external module must have been generated likewise if its interfaces are
    /// inherited here.
    #[must_use]
    pub fn asynchronous(mut self, generate: bool) -> Self {
        self.asynchronous = generate;
        self
    }

    /// Names the Rust type that stands for a `native` type. The IDL name is
    /// one from file scope, such as `::M::T`; the Rust path should be absolute.
    #[must_use]
    pub fn native_type(mut self, idl: impl Into<String>, rust: impl Into<String>) -> Self {
        set(&mut self.natives, idl.into(), rust.into());
        self
    }

    /// Says that the Rust of an IDL module is elsewhere, generated from another
    /// file: nothing is generated for it, and what uses it names it by this
    /// path.
    #[must_use]
    pub fn external_module(mut self, idl: impl Into<String>, rust: impl Into<String>) -> Self {
        set(&mut self.external, idl.into(), rust.into());
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

    pub(crate) fn is_asynchronous(&self) -> bool {
        self.asynchronous
    }

    pub(crate) fn native(&self, scoped_name: &str) -> Option<&str> {
        let found = place(&self.natives, scoped_name).ok()?;
        Some(&self.natives[found].1)
    }
}

/// Where a name stands in order, or would.
fn place(of: &[(String, String)], name: &str) -> Result<usize, usize> {
    of.binary_search_by(|(known, _)| known.as_str().cmp(name))
}

/// Keeps a path for a name from file scope, in place of one kept before.
fn set(of: &mut Vec<(String, String)>, idl: String, rust: String) {
    let name = absolute(idl);
    match place(of, &name) {
        Ok(found) => of[found].1 = rust,
        Err(free) => of.insert(free, (name, rust)),
    }
}

fn absolute(name: String) -> String {
    if name.starts_with("::") {
        name
    } else {
        format!("::{name}")
    }
}
