// SPDX-License-Identifier: MIT OR Apache-2.0
//! Extensions of the compiler.

use std::fs;

use orbium_build::{Error, Extension};
use orbium_idl::model::Model;
use orbium_idl::{Diagnostic, Severity};

use crate::build::Folder;

const GYRO: &str = "interface Gyro {\n  @rt(wcet=\"2 ms\")\n  @calls(operation=\"log\")\n  \
                    long read();\n  void log(); };";

/// Reads some annotations, may find a diagnostic, and ends the code with a comment.
#[derive(Debug)]
struct Reader {
    annotations: Vec<&'static str>,
    finds: Option<Severity>,
}

impl Extension for Reader {
    fn annotations(&self) -> &[&str] {
        &self.annotations
    }

    fn check(&self, model: &Model) -> Vec<Diagnostic> {
        let annotation = model.definitions().find_map(|it| it.annotations.first());
        let found = self.finds.map(|severity| Diagnostic {
            severity,
            code: "found",
            message: "found by the reader".to_owned(),
            excerpt: annotation.map(|it| it.excerpt.clone()),
            labels: Vec::new(),
            help: None,
        });
        found.into_iter().collect()
    }

    fn code(&self, model: &Model) -> Result<String, String> {
        match model.definitions().count() {
            0 => Err("there is nothing to count".to_owned()),
            count => Ok(format!("// {count} definitions\n")),
        }
    }
}

fn reader(finds: Option<Severity>) -> Reader {
    Reader {
        annotations: vec!["rt", "calls"],
        finds,
    }
}

/// The diagnostics of a compilation that an annotation ends.
#[track_caller]
fn rejected(compiled: Result<orbium_build::Compiled, Error>) -> String {
    match compiled {
        Err(Error::Idl { diagnostics, .. }) => diagnostics,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_annotation_that_no_extension_reads_is_an_error_that_names_the_crate() {
    let folder = Folder::new("unread");
    let gyro = folder.file("gyro.idl", GYRO);
    let none = rejected(folder.config().try_compile(&gyro));
    for text in [
        "gyro.idl:2:3: error: no extension of the compiler reads `@rt`",
        "gyro.idl:3:3: error: no extension of the compiler reads `@calls`",
        "add the crate `orbium-ridl` to the build-dependencies",
        "`.extend(orbium_ridl::RtInfos::checked())`",
    ] {
        assert!(none.contains(text), "{none}");
    }
    let half = Reader {
        annotations: vec!["rt"],
        finds: None,
    };
    let half = rejected(folder.config().extend(half).try_compile(&gyro));
    assert!(
        !half.contains("`@rt`") && half.contains("`@calls`"),
        "{half}"
    );
    assert!(!folder.0.join("out/gyro.rs").exists());
}

#[test]
fn an_extension_ends_the_code() {
    let folder = Folder::new("extended");
    let gyro = folder.file("gyro.idl", GYRO);
    let config = folder.config().extend(reader(None));
    let compiled = config.try_compile(&gyro).unwrap();
    let code = fs::read_to_string(&compiled.written[0]).unwrap();
    assert!(code.ends_with("// 3 definitions\n"), "{code}");
    let empty = folder.file("empty.idl", "#define EMPTY\n");
    let refused = config.try_compile(&empty);
    assert!(
        matches!(&refused, Err(Error::Extension(reason)) if reason == "there is nothing to count"),
        "{refused:?}"
    );
}

#[test]
fn findings_of_an_extension_are_shown() {
    let folder = Folder::new("found");
    let gyro = folder.file("gyro.idl", GYRO);
    let warns = folder.config().extend(reader(Some(Severity::Warning)));
    let compiled = warns.try_compile(&gyro).unwrap();
    assert!(compiled.warnings.contains("warning: found by the reader"));
    let fails = folder.config().extend(reader(Some(Severity::Error)));
    assert!(rejected(fails.try_compile(&gyro)).contains("error: found by the reader"));
}
