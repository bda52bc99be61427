// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiler extensions that a build script registers.

use std::fmt;

use orbium_idl::model::Model;
use orbium_idl::{Diagnostic, Severity};

/// Annotations of timing and of quality of service, which only an extension reads.
const TIMING: [&str; 3] = ["rt", "calls", "qos"];

/// An extension of the compiler, for annotations that the generator does not read: see
/// [`Config::extend`](crate::Config::extend).
///
/// ```
/// use orbium_build::Extension;
/// use orbium_idl::{Diagnostic, model::Model};
///
/// /// Counts the definitions in a constant of the generated code.
/// #[derive(Debug)]
/// struct Counted;
///
/// impl Extension for Counted {
///     fn annotations(&self) -> &[&str] {
///         &[]
///     }
///
///     fn check(&self, _: &Model) -> Vec<Diagnostic> {
///         Vec::new()
///     }
///
///     fn code(&self, model: &Model) -> Result<String, String> {
///         let count = model.definitions().count();
///         Ok(format!("pub const DEFINITIONS: usize = {count};\n"))
///     }
/// }
///
/// orbium_build::Config::new().extend(Counted);
/// ```
pub trait Extension: fmt::Debug + Send + Sync {
    /// The names of the annotations that it reads, without the `@`.
    fn annotations(&self) -> &[&str];

    /// Checks them in a model without other errors, and returns diagnostics: an error among these
    /// ends the compilation.
    fn check(&self, model: &Model) -> Vec<Diagnostic>;

    /// Rust text to append to the generated file; may be empty.
    ///
    /// # Errors
    /// A sentence with the reason why there is none.
    fn code(&self, model: &Model) -> Result<String, String>;
}

/// An error at each annotation of timing requirements that is not among `names`.
pub(crate) fn unread(model: &Model, names: &[&str]) -> Vec<Diagnostic> {
    let is_unread = |name: &str| TIMING.contains(&name) && !names.contains(&name);
    let annotations = model.definitions().flat_map(|it| &it.annotations);
    let unread = annotations.filter(|it| is_unread(&it.name));
    let diagnostics = unread.map(|annotation| Diagnostic {
        severity: Severity::Error,
        code: "unread-annotation",
        message: format!("no extension of the compiler reads `@{}`", annotation.name),
        excerpt: Some(annotation.excerpt.clone()),
        labels: Vec::new(),
        help: Some(format!(
            "add the crate `orbium-ridl` to the build-dependencies and \
             `.extend(orbium_ridl::{}::checked())` to the build script",
            match annotation.name.as_str() {
                "qos" => "QosConstants",
                _ => "RtInfos",
            }
        )),
    });
    diagnostics.collect()
}
