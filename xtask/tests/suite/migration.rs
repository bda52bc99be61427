// SPDX-License-Identifier: MIT OR Apache-2.0
//! The option tables of `docs/migration/` agree with the arguments that orbium understands;
//! they, the guide and `SECURITY.md` name keys that exist.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

const FOLDER: &str = "crates/orbium-settings/src/arguments";

const PAGES: [&str; 3] = ["omniorb", "tao", "jacorb"];

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

/// The rows of a table in the code: each name, and how it is answered.
fn rows(file: &str, table: &str, names: &mut HashMap<String, Answer>) {
    let text = read(&format!("{FOLDER}/{file}"));
    let (_, rows) = text.split_once(&format!("{table}: &[")).expect("the table");
    let (rows, _) = rows.split_once("\n];").expect("its end");
    let words: Vec<_> = rows.split_whitespace().collect();
    let rows = words.join(" ").replace("( \"", "(\"");
    let count = names.len();
    for row in rows.split("(\"").skip(1) {
        let (name, does) = row.split_once('"').expect("a name in quotation marks");
        let does = does.trim_start_matches(',').trim_start();
        let answer = if does.starts_with("Effect::Instead") {
            Answer::Refuses
        } else if does.starts_with("Effect::Ignore") {
            Answer::Ignores
        } else if does.starts_with(|first: char| first.is_uppercase()) {
            Answer::Sets
        } else {
            continue; // a word of a choice
        };
        names.insert(name.trim_start_matches("-ORB").to_owned(), answer);
    }
    assert!(names.len() > count + 10, "{file}: few rows in {table}");
}

/// What orbium understands of other ORBs, without `-ORB`.
fn understood() -> HashMap<String, Answer> {
    let mut names = HashMap::from([("ORBInitRef.NAME".to_owned(), Answer::Sets)]);
    rows("table.rs", "ARGUMENTS", &mut names);
    rows("foreign.rs", "SSLIOP", &mut names);
    rows("foreign.rs", "JACORB", &mut names);
    names
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

/// The names of options in a cell: not their values, nor functions.
fn names<'c>(page: &str, cell: &'c str) -> impl Iterator<Item = &'c str> {
    let dashed = page == "tao";
    quoted(cell)
        .map(|name| name.split(' ').next().unwrap_or_default())
        .filter(move |name| !name.contains("::") && !name.contains('('))
        .filter(move |name| !dashed || name.starts_with('-'))
}

#[test]
fn options_are_understood_as_the_pages_say() {
    let understood = understood();
    assert!(understood.len() > 90, "only {}", understood.len());
    let mut wrong = Vec::new();
    for page in PAGES {
        for [option, _, column] in options(&format!("docs/migration/{page}.md")) {
            for name in names(page, &option) {
                let answer = understood.get(name.trim_start_matches("-ORB")).copied();
                if !agrees(&column, answer) {
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
