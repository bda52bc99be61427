// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments that determine the Rust of an IDL file, the same for its types and its servants.

use clap::Args;
use orbium_build::Config;

#[derive(Debug, Args)]
pub(super) struct MappingArgs {
    /// Give servants a reply slot for operations of that name, such as
    /// `Bank::Account::history` or `Bank::*`, as `@borrow` does; may be repeated
    #[arg(long, value_name = "NAME")]
    borrowed_results: Vec<String>,
    /// Give servants a reply token for operations of that name, such as
    /// `Bank::Account::audit` or `Bank::*`, as `@deferred` does; may be repeated
    #[arg(long, value_name = "NAME")]
    deferred_replies: Vec<String>,
    /// Give servants views of the arguments of operations of that name, such as
    /// `Bank::Account::book` or `Bank::*`, as `@view` does; may be repeated
    #[arg(long, value_name = "NAME")]
    viewed_arguments: Vec<String>,
    /// The Rust type of a `native` type, such as
    /// `Clock::Instant=::std::time::Instant`; may be repeated
    #[arg(long = "native-type", value_name = "IDL=RUST", value_parser = idl_and_rust)]
    native_types: Vec<(String, String)>,
    /// The Rust of an IDL module, or of a file, is elsewhere; may be repeated
    ///
    /// `Shared::Types=::shared::types` names a module and its path in Rust,
    /// `types.idl=::shared` a file and the path of its modules.
    #[arg(long = "external", value_name = "IDL=RUST", value_parser = idl_and_rust)]
    external: Vec<(String, String)>,
}

impl MappingArgs {
    /// The configuration with these arguments.
    pub(super) fn apply(&self, mut config: Config) -> Config {
        for name in &self.borrowed_results {
            config = config.borrowed_results(name);
        }
        for name in &self.deferred_replies {
            config = config.deferred_replies(name);
        }
        for name in &self.viewed_arguments {
            config = config.viewed_arguments(name);
        }
        for (idl, rust) in &self.native_types {
            config = config.native_type(idl, rust);
        }
        for (idl, rust) in &self.external {
            config = if idl.ends_with(".idl") {
                config.external_file(idl, rust)
            } else {
                config.external_module(idl, rust)
            };
        }
        config
    }
}

/// A name of IDL and a path in Rust.
fn idl_and_rust(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((idl, rust)) if !idl.is_empty() && !rust.is_empty() => {
            Ok((idl.to_owned(), rust.to_owned()))
        }
        _ => Err("`IDL=RUST` expected, such as `Shared=::shared_idl::shared`".to_owned()),
    }
}
