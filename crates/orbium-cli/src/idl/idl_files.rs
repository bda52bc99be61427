// SPDX-License-Identifier: MIT OR Apache-2.0
//! IDL files, and the options of their parser.

use std::path::PathBuf;

use clap::Args;
use orbium_idl::model::Model;
use orbium_idl::{Compilation, Options, compile_project};

use crate::failure::Failure;
use crate::{idl, output};

/// Options of the parser.
#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// Search this folder for included files; may be repeated
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a macro, as 1 unless a value is given; may be repeated
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = idl::define)]
    defines: Vec<(String, String)>,
    /// Read CORBA 3 words (component, home, import …) as plain names
    #[arg(long)]
    pre_corba3: bool,
    /// Follow IDL 4 where it differs from CORBA 3
    #[arg(long)]
    idl4: bool,
}

impl FileArgs {
    /// The compiled files. Warnings in included files of others are not shown.
    pub(crate) fn compiled(&self, files: &[PathBuf]) -> Compilation {
        let mut options = Options::new();
        options.include_paths.clone_from(&self.include);
        options.defines.clone_from(&self.defines);
        options.pre_corba3 = self.pre_corba3;
        options.idl4 = self.idl4;
        options.lenient_names = true;
        compile_project(&options, files)
    }

    /// The model of the files; errors in them are shown.
    pub(crate) fn model(&self, files: &[PathBuf]) -> Result<Model, Failure> {
        let mut compilation = self.compiled(files);
        match compilation.model.take() {
            Some(model) => Ok(model),
            None => {
                let errors = compilation.errors().cloned().collect();
                compilation.diagnostics = errors;
                let file = files.first().map(PathBuf::as_path);
                let file = file.unwrap_or("".as_ref());
                output::diagnostics(&idl::rendered(&compilation, file));
                Err(Failure::Shown)
            }
        }
    }
}
