// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pages of the repository: every relative link and anchor leads somewhere, every
//! `{{#include}}` of the book finds its file and its anchor, and the book has every page.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

const LOOSE_PAGES: [&str; 5] = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "fuzz/README.md",
    "interop/README.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the workspace")
        .to_path_buf()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of a folder and of those below, by the end of their names.
fn files_below(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, extension, files);
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
}

fn book_pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    files_below(&root().join("docs"), "md", &mut pages);
    pages.sort();
    pages
}

fn all_pages() -> Vec<PathBuf> {
    let mut pages = book_pages();
    pages.extend(LOOSE_PAGES.map(|page| root().join(page)));
    pages.extend(crates().iter().map(|name| page_of_crate(name)));
    pages
}

/// The crates of the workspace, by the names of their folders.
fn crates() -> Vec<String> {
    let folders = fs::read_dir(root().join("crates")).expect("the folder is there");
    let names = folders.map(|entry| entry.expect("an entry").file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

/// The page of a crate: its README, but on crates.io the façade has that of the repository.
fn page_of_crate(name: &str) -> PathBuf {
    root().join(match name {
        "orbium" => "docs/crates/orbium.md".to_owned(),
        _ => format!("crates/{name}/README.md"),
    })
}

/// The lines of a page, each with its number, without those in fenced code.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// A line without what stands in backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// Where the links of a line lead: `[text](target)`.
fn targets(line: &str) -> Vec<String> {
    let line = without_code(line);
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.to_owned())
        .collect()
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn slug(heading: &str) -> String {
    let mut text = String::new();
    let mut rest = heading;
    // A link in a heading: its text alone counts.
    while let Some((before, after)) = rest.split_once('[') {
        text.push_str(before);
        let (shown, behind) = after.split_once(']').unwrap_or((after, ""));
        text.push_str(shown);
        rest = match behind.strip_prefix('(') {
            Some(target) => target.split_once(')').map_or("", |(_, rest)| rest),
            None => behind,
        };
    }
    text.push_str(rest);
    text.trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            _ => c.is_alphanumeric().then_some(c),
        })
        .collect()
}

fn anchors(text: &str) -> HashSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    prose(text)
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| {
            let slug = slug(line.trim_start_matches('#'));
            let times = seen.entry(slug.clone()).or_default();
            *times += 1;
            if *times == 1 {
                slug
            } else {
                format!("{slug}-{}", *times - 1)
            }
        })
        .collect()
}

/// Why a link leads nowhere.
fn broken(page: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = match path {
        "" => page.to_path_buf(),
        _ => page.parent().expect("a page lies in a folder").join(path),
    };
    if !file.exists() {
        return Some("there is no such file".to_owned());
    }
    let markdown = file.extension().is_some_and(|found| found == "md");
    let missing = markdown && !anchor.is_empty() && !anchors(&read(&file)).contains(anchor);
    missing.then(|| "there is no such heading".to_owned())
}

#[test]
fn every_relative_link_leads_somewhere() {
    let (mut links, mut wrong) = (0, Vec::new());
    for page in all_pages() {
        for (number, line) in prose(&read(&page)) {
            for target in targets(line) {
                links += 1;
                if let Some(reason) = broken(&page, &target) {
                    wrong.push(format!("{}:{number}: {target}: {reason}", page.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(links > 100, "only {links} links were found");
}

/// The files that a line of a drawing names by crate and path within its `src`: `server/lane/pool.rs`.
fn drawn_files(line: &str) -> impl Iterator<Item = PathBuf> {
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || "/_.-".contains(c)));
    let paths = words.filter_map(|word| word.strip_suffix(".rs")?.split_once('/'));
    paths.map(|(name, path)| root().join(format!("crates/orbium-{name}/src/{path}.rs")))
}

/// No link leads from a drawing to its files, so they were left behind where files moved.
#[test]
fn every_file_in_a_drawing_of_the_architecture_is_there() {
    let text = read(&root().join("docs/architecture.md"));
    let drawings = text.split("```").skip(1).step_by(2);
    let files: Vec<PathBuf> = drawings
        .flat_map(str::lines)
        .flat_map(drawn_files)
        .collect();
    let missing: Vec<_> = files.iter().filter(|file| !file.exists()).collect();
    assert!(missing.is_empty(), "there is no such file: {missing:?}");
    assert!(files.len() > 40, "only {} files were found", files.len());
}

/// mdBook itself says nothing of an anchor that is not there: the page has a hole.
fn hole(page: &Path, include: &str) -> Option<String> {
    let (path, part) = include.split_once(':').unwrap_or((include, ""));
    let file = page.parent().expect("a page lies in a folder").join(path);
    let Ok(text) = fs::read_to_string(&file) else {
        return Some("there is no such file".to_owned());
    };
    if part.is_empty() {
        return None;
    }
    let has = |mark: &str| {
        text.lines()
            .any(|line| line.trim() == format!("// {mark}: {part}"))
    };
    let whole = has("ANCHOR") && has("ANCHOR_END");
    (!whole).then(|| format!("no `// ANCHOR: {part}` and `// ANCHOR_END: {part}`"))
}

#[test]
fn every_included_piece_of_code_is_there() {
    let (mut includes, mut wrong) = (0, Vec::new());
    for page in book_pages() {
        for piece in read(&page).split("{{#include ").skip(1) {
            let include = piece.split_once("}}").map_or("", |(include, _)| include);
            includes += 1;
            if let Some(reason) = hole(&page, include) {
                wrong.push(format!("{}: {include}: {reason}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(includes > 20, "only {includes} includes were found");
}

#[test]
fn the_book_has_every_page_of_the_documents() {
    let summary = root().join("docs/SUMMARY.md");
    let text = read(&summary);
    let listed: HashSet<PathBuf> = prose(&text)
        .flat_map(|(_, line)| targets(line))
        .map(|target| root().join("docs").join(target))
        .collect();
    let missing: Vec<_> = book_pages()
        .into_iter()
        .filter(|page| *page != summary && !listed.contains(page))
        .collect();
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
}

#[test]
fn the_book_has_a_page_for_every_crate() {
    for name in crates() {
        let page = read(&root().join("docs/crates").join(format!("{name}.md")));
        let include = format!("{{{{#include ../../crates/{name}/README.md}}}}");
        assert!(name == "orbium" || page.trim() == include, "{name}: {page}");
    }
}

#[test]
fn the_page_of_a_crate_names_what_it_depends_on() {
    for name in crates() {
        let page = read(&page_of_crate(&name));
        let line = page.lines().find(|line| line.starts_with("**Depends on**"));
        let named = line.expect(&name).split('`').skip(1).step_by(2);
        let named: BTreeSet<String> = named.map(str::to_owned).collect();
        assert_eq!(named, dependencies(&name), "{name}");
    }
}

/// What a crate depends on, on any target.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = read(&root().join("crates").join(name).join("Cargo.toml"));
    let manifest: toml::Table = manifest.parse().expect("a manifest");
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let tables = targets.into_iter().flatten().map(|(_, target)| target);
    let tables = tables.filter_map(|target| target.get("dependencies"));
    let all = manifest.get("dependencies").into_iter().chain(tables);
    let names = all
        .filter_map(toml::Value::as_table)
        .flat_map(toml::Table::keys);
    names.cloned().collect()
}

#[test]
fn examples_on_the_page_of_a_crate_are_those_of_its_documentation() {
    let mut examples = 0;
    for name in crates() {
        let page = read(&page_of_crate(&name));
        for piece in page.split("```rust\n").skip(1) {
            examples += 1;
            let (example, _) = piece.split_once("```").expect("the end of the example");
            let shown: Vec<_> = example.lines().filter(|line| !line.is_empty()).collect();
            let documented = documented(&root().join("crates").join(&name).join("src"));
            let same = |texts: &Vec<String>| texts.windows(shown.len()).any(|it| it == shown);
            assert!(documented.iter().any(same), "{name}: {example}");
        }
    }
    assert!(examples > 10, "only {examples} examples were found");
}

/// The documentation in each file of a folder, without what is hidden and what is empty.
fn documented(folder: &Path) -> Vec<Vec<String>> {
    let mut files = Vec::new();
    files_below(folder, "rs", &mut files);
    let shown = |path: &PathBuf| {
        let text = read(path);
        let lines = text.lines().map(str::trim_start).filter_map(|line| {
            let line = line
                .strip_prefix("//!")
                .or_else(|| line.strip_prefix("///"))?;
            Some(line.strip_prefix(' ').unwrap_or(line).to_owned())
        });
        lines
            .filter(|line| !line.is_empty() && !line.starts_with("# "))
            .collect()
    };
    files.iter().map(shown).collect()
}

#[test]
fn the_page_on_unsafe_code_has_every_file_with_some() {
    let page = read(&root().join("docs/unsafe.md"));
    let mut files = Vec::new();
    for name in crates() {
        files_below(
            &root().join("crates").join(name).join("src"),
            "rs",
            &mut files,
        );
    }
    let marks = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"];
    files.retain(|file| {
        let text = read(file);
        let mut code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        code.any(|line| marks.iter().any(|mark| line.contains(mark)))
    });
    let folder = root().join("crates");
    let named =
        |file: &PathBuf| page.contains(&*file.strip_prefix(&folder).unwrap().to_string_lossy());
    let missing: Vec<_> = files.iter().filter(|file| !named(file)).collect();
    assert!(missing.is_empty(), "not in docs/unsafe.md: {missing:?}");
    assert!(files.len() > 20, "only {} files were found", files.len());
}

#[test]
fn links_and_headings_are_read_as_github_reads_them() {
    assert_eq!(targets("a [b](c.md#d), [`e`](f) `[g](h)`"), ["c.md#d", "f"]);
    assert_eq!(slug(" `any` and TypeCode"), "any-and-typecode");
    assert_eq!(slug(" Fragments (2: 9.4.9)"), "fragments-2-949");
    assert_eq!(slug(" From [TAO](x)'s files"), "from-taos-files");
    let text = "# A\n## B\n```\n# no heading\n```\n## B\n";
    assert_eq!(anchors(text), ["a", "b", "b-1"].map(str::to_owned).into());
    let page = root().join("README.md");
    assert!(broken(&page, "docs/nowhere.md").is_some());
    assert!(broken(&page, "docs/tls.md#nowhere").is_some());
    assert!(hole(&root().join("docs/index.md"), "../README.md:nowhere").is_some());
}
