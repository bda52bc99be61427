// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options of the generator.

use std::path::Path;

use orbium_idl_model::{DefinitionKind, Model};

use crate::constructs::{CONSTRUCTS, is_called};

/// Options of a generation.
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
    sources: Vec<String>,
    runtime: String,
    deny_unmapped: bool,
    asynchronous: bool,
    pollers: bool,
    handlers: bool,
    default_bodies: bool,
    allowed: Vec<String>,
    /// Scoped names and patterns, as given.
    borrowed: Vec<String>,
    /// Scoped names and patterns, as given.
    deferred: Vec<String>,
    /// Scoped names and patterns, as given.
    viewed: Vec<String>,
    /// Scoped names and patterns of interfaces, as given.
    async_servants: Vec<String>,
    /// In order, each once.
    natives: Vec<(String, String)>,
    /// In order, each once.
    external: Vec<(String, String)>,
    /// As given.
    external_files: Vec<(String, String)>,
}

impl Options {
    /// Options for a source file of that name. Only the last part of a path is shown in generated
    /// code.
    #[must_use]
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            sources: vec![source.into()],
            runtime: "orbium::codegen".to_owned(),
            deny_unmapped: false,
            asynchronous: false,
            pollers: false,
            handlers: false,
            default_bodies: false,
            allowed: Vec::new(),
            borrowed: Vec::new(),
            deferred: Vec::new(),
            viewed: Vec::new(),
            async_servants: Vec::new(),
            natives: Vec::new(),
            external: Vec::new(),
            external_files: Vec::new(),
        }
    }

    /// Names another file of the same project.
    #[must_use]
    pub fn also_from(mut self, source: impl Into<String>) -> Self {
        self.sources.push(source.into());
        self
    }

    /// The path of the module that generated code imports; `orbium::codegen` by
    /// default.
    #[must_use]
    pub fn runtime(mut self, path: impl Into<String>) -> Self {
        self.runtime = path.into();
        self
    }

    /// Treats definitions without a mapping as errors rather than warnings.
    #[must_use]
    pub fn deny_unmapped(mut self, deny: bool) -> Self {
        self.deny_unmapped = deny;
        self
    }

    /// Adds `op_async` for every operation and attribute without an annotation `@ami`.
    /// Such an annotation of an operation, of its interface or of an enclosing module
    /// overrides this, the innermost first. Off by default.
    ///
    /// An external module must have been generated with the same option if its interfaces are
    /// inherited here.
    #[must_use]
    pub fn asynchronous(mut self, generate: bool) -> Self {
        self.asynchronous = generate;
        self
    }

    /// Adds, for every operation and attribute with an asynchronous form, `sendp_op`, which returns
    /// the typed poller of its interface (CORBA Messaging's polling model). All have such a form
    /// then, as with [`asynchronous`](Self::asynchronous). Off by default.
    #[must_use]
    pub fn pollers(mut self, generate: bool) -> Self {
        self.pollers = generate;
        self
    }

    /// Adds the interfaces of reply handlers, `AMI_IHandler` for each interface `I`, and `sendc_op`
    /// for every operation and attribute with an asynchronous form: its reply is sent to such an
    /// object (CORBA Messaging's call-back model). All have an asynchronous form then, as with
    /// [`asynchronous`](Self::asynchronous). Off by default.
    ///
    /// An external module must have been generated with the same option if its interfaces are
    /// inherited here.
    #[must_use]
    pub fn handlers(mut self, generate: bool) -> Self {
        self.handlers = generate;
        self
    }

    /// Gives the methods of servant traits a body that raises NO_IMPLEMENT, so that a servant
    /// implements only those that it serves.
    #[must_use]
    pub fn default_bodies(mut self, generate: bool) -> Self {
        self.default_bodies = generate;
        self
    }

    /// Gives servants a reply slot for the operations and attributes of that name, as `@borrow`
    /// does: `Bank::Account::history`, or `Bank::*` as a prefix. Those with only numbers and enums
    /// for results, and those marked `@borrow(FALSE)`, are not affected.
    ///
    /// An external module must have been generated with the same option if its interfaces are
    /// inherited here.
    #[must_use]
    pub fn borrowed_results(mut self, pattern: impl Into<String>) -> Self {
        self.borrowed.push(pattern.into());
        self
    }

    /// Gives servants a reply token for the operations and attributes of that name, as `@deferred`
    /// does: `Bank::Account::audit`, or `Bank::*` as a prefix. Those marked `@deferred(FALSE)` or
    /// `@borrow` are not affected.
    ///
    /// An external module must have been generated with the same option if its interfaces are
    /// inherited here.
    #[must_use]
    pub fn deferred_replies(mut self, pattern: impl Into<String>) -> Self {
        self.deferred.push(pattern.into());
        self
    }

    /// Gives servants views of the arguments of the operations and attributes of that name, as
    /// `@view` does: `Bank::Account::book`, or `Bank::*` as a prefix. Arguments without a possible
    /// view, and those marked `@view(FALSE)`, are not affected.
    ///
    /// An external module must have been generated with the same option if its interfaces are
    /// inherited here.
    #[must_use]
    pub fn viewed_arguments(mut self, pattern: impl Into<String>) -> Self {
        self.viewed.push(pattern.into());
        self
    }

    /// Generates a trait `…AsyncServant` for the interfaces of that name: `Bank::Account`, or
    /// `Bank::*` as a prefix. Its methods are `async fn`s, and get owned arguments; the runtime's
    /// `AsyncServant` makes an implementation of it a servant. All operations of such an interface
    /// have reply tokens, regardless of `@deferred`, `@borrow` and `@view`.
    ///
    /// The bases of the interface have to be named too: otherwise there is a warning. An external
    /// module must have been generated with the same option if its interfaces are inherited here.
    #[must_use]
    pub fn async_servants(mut self, pattern: impl Into<String>) -> Self {
        self.async_servants.push(pattern.into());
        self
    }

    /// Acknowledges that definitions of a construct, such as `components` or `native types`,
    /// are left out, with their users: one note counts them, and [`Options::deny_unmapped`] does
    /// not apply to them.
    #[must_use]
    pub fn allow_unmapped(mut self, construct: impl Into<String>) -> Self {
        self.allowed.push(construct.into());
        self
    }

    /// Sets the Rust type of a `native` type. The IDL name is one from file scope, such as
    /// `::M::T`; the Rust path should be absolute.
    #[must_use]
    pub fn native_type(mut self, idl: impl Into<String>, rust: impl Into<String>) -> Self {
        set(&mut self.natives, idl.into(), rust.into());
        self
    }

    /// Declares that the Rust of an IDL module is elsewhere, generated from another file: no code
    /// is generated for definitions of included files in it, and their users refer to them by this
    /// path. Code for definitions that the compiled file itself adds to the module is generated
    /// here.
    #[must_use]
    pub fn external_module(mut self, idl: impl Into<String>, rust: impl Into<String>) -> Self {
        set(&mut self.external, idl.into(), rust.into());
        self
    }

    /// Declares that the Rust of an IDL file is elsewhere: no code is generated for its
    /// definitions. The Rust path is that of its modules, as in
    /// `.external_file("CosNaming.idl", "::orbium_naming")`; the file is named by the last part of
    /// its path, or by more of it.
    #[must_use]
    pub fn external_file(mut self, idl: impl Into<String>, rust: impl Into<String>) -> Self {
        self.external_files.push((idl.into(), rust.into()));
        self
    }

    pub(crate) fn source_name(&self) -> &str {
        &self.sources[0]
    }

    /// The names of the files without their folders, up to a few, in one line.
    pub(crate) fn shown_sources(&self) -> String {
        const MAX_SHOWN_NAMES: usize = 4;
        let names = self
            .sources
            .iter()
            .map(|source| {
                let name = source.rsplit(['/', '\\']).next().unwrap_or(source);
                in_one_line(name)
            })
            .collect::<Vec<_>>();
        match names.len() {
            ..=MAX_SHOWN_NAMES => names.join(", "),
            all => format!(
                "{} and {} more",
                names[..MAX_SHOWN_NAMES].join(", "),
                all - MAX_SHOWN_NAMES
            ),
        }
    }

    pub(crate) fn runtime_path(&self) -> &str {
        &self.runtime
    }

    pub(crate) fn denies_unmapped(&self) -> bool {
        self.deny_unmapped
    }

    pub(crate) fn has_default_bodies(&self) -> bool {
        self.default_bodies
    }

    /// Whether a construct may be left out.
    pub(crate) fn allows(&self, construct: &str) -> bool {
        let found = |given: &String| is_called(construct, given);
        self.allowed.iter().any(found)
    }

    /// Whether a pattern of reply slots matches an operation or attribute.
    pub(crate) fn borrows(&self, path: &[String]) -> bool {
        self.borrowed.iter().any(|pattern| is_named(pattern, path))
    }

    /// Whether a pattern of reply tokens matches an operation or attribute.
    pub(crate) fn defers(&self, path: &[String]) -> bool {
        self.deferred.iter().any(|pattern| is_named(pattern, path))
    }

    /// Whether a pattern of views matches an operation or attribute.
    pub(crate) fn views(&self, path: &[String]) -> bool {
        self.viewed.iter().any(|pattern| is_named(pattern, path))
    }

    /// Whether a pattern of asynchronous servants matches an interface.
    pub(crate) fn serves_asynchronously(&self, path: &[String]) -> bool {
        let mut patterns = self.async_servants.iter();
        patterns.any(|pattern| is_named(pattern, path))
    }

    pub(crate) fn is_asynchronous(&self) -> bool {
        self.asynchronous || self.pollers || self.handlers
    }

    pub(crate) fn has_handlers(&self) -> bool {
        self.handlers
    }

    pub(crate) fn has_pollers(&self) -> bool {
        self.pollers
    }

    /// The declared path of an external module.
    pub(crate) fn external(&self, scoped_name: &str) -> Option<&str> {
        let found = place(&self.external, scoped_name).ok()?;
        Some(&self.external[found].1)
    }

    /// The declared path of an external file's definitions.
    pub(crate) fn external_file_of(&self, file: &str) -> Option<&str> {
        let path = Path::new(file);
        let found = |known: &&(String, String)| path.ends_with(&known.0);
        Some(&self.external_files.iter().find(found)?.1)
    }

    /// Options about modules and files that the model does not contain.
    pub(crate) fn without_effect(&self, model: &Model) -> Vec<String> {
        let mut messages = Vec::new();
        for (module, _) in &self.external {
            let known = model.lookup(module);
            if !known.is_some_and(|known| matches!(known.kind, DefinitionKind::Module(_))) {
                messages.push(format!(
                    "there is no module `{module}` to come from elsewhere"
                ));
            }
        }
        for (file, _) in &self.external_files {
            let mut definitions = model.definitions();
            if !definitions.any(|known| Path::new(&*known.location.file).ends_with(file)) {
                messages.push(format!(
                    "nothing is defined in a file `{file}` to come from elsewhere"
                ));
            }
        }
        let patterns = self.borrowed.iter().chain(&self.deferred);
        for pattern in patterns.chain(&self.viewed) {
            let mut definitions = model.definitions();
            if !definitions.any(|known| is_feature(&known.kind) && is_named(pattern, &known.path)) {
                messages.push(format!("`{pattern}` names no operation or attribute"));
            }
        }
        for pattern in &self.async_servants {
            let is_interface =
                |known: &DefinitionKind| matches!(known, DefinitionKind::Interface(_));
            let mut definitions = model.definitions();
            if !definitions.any(|known| is_interface(&known.kind) && is_named(pattern, &known.path))
            {
                messages.push(format!("`{pattern}` names no interface"));
            }
        }
        for given in &self.allowed {
            if !CONSTRUCTS.iter().any(|known| is_called(known, given)) {
                let known = CONSTRUCTS
                    .iter()
                    .map(|known| format!("`{known}`"))
                    .collect::<Vec<_>>()
                    .join(", ");
                messages.push(format!(
                    "`{given}` is nothing that is left out; that are {known}"
                ));
            }
        }
        messages
    }

    pub(crate) fn native(&self, scoped_name: &str) -> Option<&str> {
        let found = place(&self.natives, scoped_name).ok()?;
        Some(&self.natives[found].1)
    }
}

fn is_feature(kind: &DefinitionKind) -> bool {
    matches!(
        kind,
        DefinitionKind::Operation(_) | DefinitionKind::Attribute(_)
    )
}

/// Whether a pattern is the name of a definition, or a prefix of it with `*`.
fn is_named(pattern: &str, path: &[String]) -> bool {
    let pattern = pattern.strip_prefix("::").unwrap_or(pattern);
    let name = path.join("::");
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// A name without characters that end a line or are not shown, for a comment.
fn in_one_line(name: &str) -> String {
    let mut shown = String::new();
    for letter in name.chars() {
        // Line separators, and marks of the direction of text, which can hide code.
        let is_mark = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if letter.is_control() || is_mark {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// The index of a name in order, or that of its insertion.
fn place(of: &[(String, String)], name: &str) -> Result<usize, usize> {
    of.binary_search_by(|(known, _)| known.as_str().cmp(name))
}

/// Sets the path for a name from file scope, in place of a previous one.
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
