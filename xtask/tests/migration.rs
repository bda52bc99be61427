// SPDX-License-Identifier: MIT OR Apache-2.0
//! The option tables of `docs/migration/` agree with the arguments that orbium understands;
//! they, the guide and `SECURITY.md` name keys that exist.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

const ARGUMENTS: &str = "crates/orbium-core/src/configuration/arguments/table.rs";

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let path = root.expect("the crate lies in the workspace").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// How an argument is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Sets,
    Refuses,
    Ignores,
}

/// The arguments of the code, without `-ORB`.
fn understood() -> HashMap<String, Answer> {
    let text = read(ARGUMENTS);
    let (_, rows) = text.split_once("ARGUMENTS: &[").expect("the table");
    let (rows, _) = rows.split_once("\n];").expect("its end");
    rows.split("\"-ORB")
        .skip(1)
        .map(|row| {
            let (name, does) = row.split_once('"').expect("a name in quotation marks");
            let answer = if does.contains("Does::Instead") {
                Answer::Refuses
            } else if does.contains("Does::Ignore") {
                Answer::Ignores
            } else {
                Answer::Sets
            };
            (name.to_owned(), answer)
        })
        .collect()
}

/// What stands in backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The rows of the table of options: option, key, argument.
fn options(page: &str) -> Vec<[String; 3]> {
    let text = read(page).replace("\\|", "/");
    let (_, section) = text
        .split_once("\n## Options\n")
        .expect("a section on options");
    let (section, _) = section.split_once("\n## ").unwrap_or((section, ""));
    let rows: Vec<_> = section
        .lines()
        .filter(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| {
            let mut cells = line.trim_matches('|').split('|').map(str::trim);
            [(); 3].map(|()| cells.next().unwrap_or_default().to_owned())
        })
        .collect();
    assert!(rows.len() > 15, "{page}: only {} options", rows.len());
    rows
}

/// Whether the last column says what the code does.
fn agrees(column: &str, answer: Option<Answer>) -> bool {
    match answer {
        None => column == "–",
        Some(Answer::Sets) => column.starts_with("yes") || column.ends_with("alone"),
        Some(Answer::Refuses) => column.starts_with("refused"),
        Some(Answer::Ignores) => column.starts_with("accepted"),
    }
}

#[test]
fn options_are_understood_as_the_pages_say() {
    let understood = understood();
    assert!(understood.len() > 50, "only {} arguments", understood.len());
    let mut wrong = Vec::new();
    for page in ["docs/migration/omniorb.md", "docs/migration/tao.md"] {
        for [option, _, column] in options(page) {
            let is_option = |name: &&str| {
                let word = name.trim_start_matches("-ORB");
                !name.contains("::")
                    && !name.contains('(')
                    && word != "MT"
                    && !word.starts_with('/')
            };
            for name in quoted(&option).filter(is_option) {
                let first = name.split(' ').next().unwrap_or_default();
                if first.starts_with('-') && !first.starts_with("-ORB") {
                    continue; // an option of SSLIOP
                }
                if !first.starts_with("-ORB") && page.contains("tao") {
                    continue; // a value
                }
                let answer = understood.get(first.trim_start_matches("-ORB"));
                if !agrees(&column, answer.copied()) {
                    wrong.push(format!("{page}: {name}: {column:?}, but {answer:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The pages of the guide and the tables of options, by path from the root.
fn pages_that_name_keys() -> Vec<String> {
    let mut pages = vec!["SECURITY.md".to_owned()];
    for folder in ["docs/guide", "docs/migration"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(folder);
        for entry in fs::read_dir(path).expect("the folder is there") {
            let name = entry.expect("an entry").file_name();
            pages.push(format!("{folder}/{}", name.to_string_lossy()));
        }
    }
    pages
}

#[test]
fn keys_of_the_guide_exist() {
    let configuration = read("docs/configuration.md");
    let known: BTreeSet<&str> = configuration.lines().flat_map(quoted).collect();
    let (mut keys, mut wrong) = (0, Vec::new());
    for page in pages_that_name_keys() {
        let text = read(&page);
        for word in text.lines().flat_map(quoted) {
            let key = word.split([' ', ':', '=']).next().unwrap_or_default();
            if ["limits.", "tls."].iter().any(|part| key.starts_with(part)) {
                keys += 1;
                if !known.contains(key) && !key.ends_with(".md") {
                    wrong.push(format!("{page}: no key `{key}`"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(keys > 60, "only {keys} keys");
}
