// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks IDL files: `check [-Ifolder]… [-Dname[=text]]… file…`.

use std::path::Path;
use std::process::ExitCode;

use orbium_idl::{Options, compile};

fn main() -> ExitCode {
    let mut options = Options::new();
    let mut good = true;
    for argument in std::env::args().skip(1) {
        if let Some(folder) = argument.strip_prefix("-I") {
            options = options.include(folder);
        } else if let Some(macro_text) = argument.strip_prefix("-D") {
            let (name, text) = macro_text.split_once('=').unwrap_or((macro_text, "1"));
            options = options.define(name, text);
        } else {
            let compilation = compile(&options, Path::new(&argument));
            eprint!("{compilation}");
            good &= compilation.model.is_some();
        }
    }
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
