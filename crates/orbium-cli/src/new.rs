// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium new`: creates a crate.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Args;

use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Directory to create; its last part names the crate
    #[arg(value_name = "NAME")]
    path: PathBuf,
    /// With the priorities and thread pools of Real-time CORBA
    #[arg(long, conflicts_with = "client")]
    rt: bool,
    /// Only a client; the server exists elsewhere
    #[arg(long)]
    client: bool,
    /// Depend on the crates of this checkout of orbium instead of published versions
    #[arg(long, value_name = "DIR")]
    orbium_path: Option<PathBuf>,
}

/// The files of a crate that serves.
const SERVING: [(&str, &str); 5] = [
    ("src/lib.rs", include_str!("../template/serving_lib.rs.in")),
    (
        "src/bin/@NAME@-server.rs",
        include_str!("../template/serving_server.rs.in"),
    ),
    (
        "src/bin/@NAME@-client.rs",
        include_str!("../template/client.rs.in"),
    ),
    (
        "tests/greeting.rs",
        include_str!("../template/serving_test.rs.in"),
    ),
    (
        "@NAME@.service",
        include_str!("../template/server.service.in"),
    ),
];

const REAL_TIME: [(&str, &str); 5] = [
    ("src/lib.rs", include_str!("../template/rt_lib.rs.in")),
    (
        "src/bin/@NAME@-server.rs",
        include_str!("../template/rt_server.rs.in"),
    ),
    (
        "src/bin/@NAME@-client.rs",
        include_str!("../template/rt_client.rs.in"),
    ),
    (
        "tests/greeting.rs",
        include_str!("../template/rt_test.rs.in"),
    ),
    (
        "@NAME@.service",
        include_str!("../template/server.service.in"),
    ),
];

const CLIENT: [(&str, &str); 3] = [
    ("src/lib.rs", include_str!("../template/client_lib.rs.in")),
    (
        "src/bin/@NAME@-client.rs",
        include_str!("../template/client.rs.in"),
    ),
    (
        "tests/greeting.rs",
        include_str!("../template/client_test.rs.in"),
    ),
];

const COMMON: [(&str, &str); 4] = [
    ("Cargo.toml", include_str!("../template/Cargo.toml.in")),
    ("build.rs", include_str!("../template/build.rs.in")),
    (
        "idl/@NAME@.idl",
        include_str!("../template/interface.idl.in"),
    ),
    (".gitignore", "/target\n"),
];

pub(crate) fn run(args: &NewArgs) -> Result<(), Failure> {
    let name = args.path.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let words = Words::new(name, args)?;
    let files: &[(&str, &str)] = match (args.rt, args.client) {
        (true, _) => &REAL_TIME,
        (_, true) => &CLIENT,
        _ => &SERVING,
    };
    if args.path.exists() {
        let path = args.path.display();
        return Err(Failure::because(format!("`{path}` exists already")));
    }
    let mut all = files.iter().chain(&COMMON);
    let made = all.try_for_each(|(path, template)| {
        write(&args.path.join(words.filled(path)), &words.filled(template))
    });
    if made.is_err() {
        // A part of a crate would hinder the next attempt.
        let _ = fs::remove_dir_all(&args.path);
    }
    made?;
    let path = args.path.display();
    let mut text = format!("made `{path}`; next:\n  cd {path}\n  cargo test\n");
    if !args.client {
        let soft = if args.rt { " -- --soft" } else { "" };
        text.push_str(&format!("  cargo run --bin {name}-server{soft}\n"));
    }
    output::print(&text)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let done = path
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(path, text));
    done.map_err(|error: io::Error| {
        Failure::because(format!("cannot write `{}`: {error}", path.display()))
    })
}

/// The values of the placeholders of the templates.
struct Words(Vec<(&'static str, String)>);

impl Words {
    fn new(name: &str, args: &NewArgs) -> Result<Self, Failure> {
        check_name(name)?;
        let module = module(name);
        let mut features = "";
        let mut limits = "";
        if args.rt {
            features = "features = [\"rt\"]";
            limits = "LimitRTPRIO=99\nLimitMEMLOCK=infinity\n";
        }
        let signals = if args.client {
            ""
        } else {
            "signal-hook = { version = \"0.3\", default-features = false, features = [\"iterator\"] }\n"
        };
        Ok(Words(vec![
            ("@NAME@", name.to_owned()),
            ("@CRATE@", name.replace('-', "_")),
            ("@RUST_MODULE@", rust_module(&module)?),
            ("@MODULE@", module),
            ("@ORBIUM@", dependency("orbium", features, args)?),
            ("@BUILD@", dependency("orbium-build", "", args)?),
            ("@SIGNALS@", signals.to_owned()),
            ("@LIMITS@", limits.to_owned()),
        ]))
    }

    fn filled(&self, template: &str) -> String {
        let mut text = template.to_owned();
        for (placeholder, word) in &self.0 {
            text = text.replace(placeholder, word);
        }
        text
    }
}

/// Keywords of Rust, which cannot name a crate.
const KEYWORDS: [&str; 52] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Checks that Cargo accepts the name for a package with a library and programs.
fn check_name(name: &str) -> Result<(), Failure> {
    const TAKEN: [&str; 8] = [
        "alloc",
        "core",
        "orbium",
        "orbium-build",
        "proc_macro",
        "signal-hook",
        "std",
        "test",
    ];
    let good = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if good && !TAKEN.contains(&name) && !KEYWORDS.contains(&name) {
        return Ok(());
    }
    Err(Failure::wrong_usage(format!(
        "`{name}` cannot name a crate: write letters, digits, `-` and `_`, a letter first, no keyword of Rust, \
         and no crate that it depends on"
    )))
}

/// The IDL module: `my-greeter` becomes `MyGreeter`.
fn module(name: &str) -> String {
    let mut module = String::new();
    for word in name.split(['-', '_']) {
        let mut letters = word.chars();
        module.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        module.push_str(letters.as_str());
    }
    // A module cannot have the name of a type in it.
    if module.eq_ignore_ascii_case("Greeter") {
        "Greeting".to_owned()
    } else {
        module
    }
}

/// The name of the module in Rust, as generated by the IDL compiler.
fn rust_module(module: &str) -> Result<String, Failure> {
    let refused = || {
        Failure::wrong_usage(format!(
            "`{module}` cannot name a module of IDL: choose another name"
        ))
    };
    let idl = format!("module {module} {{ interface Greeter {{ void f(); }}; }};");
    let compilation = orbium_idl::compile_source(&orbium_idl::Options::new(), "new.idl", &idl);
    let model = compilation.model.ok_or_else(refused)?;
    let code = orbium_codegen::generate(&model, &orbium_codegen::Options::new("new.idl"));
    let code = code.map_err(|_| refused())?.code;
    let declared = code.lines().find_map(|line| line.strip_prefix("pub mod "));
    let name = declared.and_then(|rest| rest.split_whitespace().next());
    name.map(str::to_owned).ok_or_else(refused)
}

/// A line of a table of dependencies.
fn dependency(package: &str, features: &str, args: &NewArgs) -> Result<String, Failure> {
    let source = match &args.orbium_path {
        None => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
        Some(checkout) => {
            let folder = checkout.join("crates").join(package);
            let folder = folder.canonicalize().map_err(|error| {
                let folder = folder.display();
                Failure::because(format!(
                    "there is no checkout of orbium: `{folder}`: {error}"
                ))
            })?;
            format!("path = {:?}", folder.display().to_string())
        }
    };
    let comma = if features.is_empty() { "" } else { ", " };
    Ok(format!("{package} = {{ {source}{comma}{features} }}"))
}

#[cfg(test)]
mod tests {
    use super::{check_name, module, rust_module};

    #[test]
    fn names_become_modules() {
        assert_eq!(module("my-greeter_two"), "MyGreeterTwo");
        assert_eq!(module("greeter"), "Greeting");
        assert_eq!(rust_module("MyGreeterTwo").unwrap(), "my_greeter_two");
        assert!(rust_module("Interface").is_err());
        assert!(rust_module("Match").is_ok_and(|name| name != "match"));
    }

    #[test]
    fn names_that_cargo_refuses_are_refused() {
        for bad in ["", "1st", "a b", "orbium", "test", "ü", "match", "gen"] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
        assert!(check_name("valve-control_2").is_ok());
    }
}
