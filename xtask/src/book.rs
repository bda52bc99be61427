// SPDX-License-Identifier: MIT OR Apache-2.0
//! A preprocessor of mdBook: links out of `docs/` are replaced by links to the repository, as the
//! book only has pages of `docs/`, and links to the README of a crate by links to its page.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use xtask::outcome::Outcome;
use xtask::shell;

/// The URL of the repository's files.
const REPOSITORY: &str = "https://github.com/orbium-orb/orbium/blob/main";

/// Implements mdBook's protocol: `supports RENDERER`, or context and book as JSON on standard input
/// and the book on standard output.
pub(crate) fn run(mut arguments: impl Iterator<Item = String>) -> Outcome<()> {
    if arguments.next().as_deref() == Some("supports") {
        return Ok(());
    }
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| format!("mdBook's book cannot be read: {error}"))?;
    let input: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let Value::Array(mut both) = input else {
        return Err("mdBook is to give context and book".to_owned());
    };
    let mut book = both.pop().ok_or("mdBook is to give a book")?;
    rewrite(&mut book);
    println!("{book}");
    Ok(())
}

/// Rewrites every chapter, at any depth.
fn rewrite(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(rewrite),
        Value::Object(fields) => {
            let path = fields
                .get("path")
                .and_then(Value::as_str)
                .map(PathBuf::from);
            if let (Some(path), Some(Value::String(content))) = (path, fields.get_mut("content")) {
                *content = with_links(&path, content);
            }
            fields.values_mut().for_each(rewrite);
        }
        _ => {}
    }
}

/// The text of a chapter, with links to pages outside the book replaced. Lines of fenced code are
/// unchanged.
fn with_links(page: &Path, content: &str) -> String {
    let mut text = String::with_capacity(content.len());
    let mut fenced = false;
    for line in content.split_inclusive('\n') {
        fenced ^= line.trim_start().starts_with("```");
        let mut pieces = line.split("](");
        text.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            text.push_str("](");
            match piece.split_once(')') {
                Some((target, rest)) if !fenced => {
                    text.push_str(&in_book(page, target).unwrap_or_else(|| target.to_owned()));
                    text.push(')');
                    text.push_str(rest);
                }
                _ => text.push_str(piece),
            }
        }
    }
    text
}

/// The target of a link in the book, if it differs from the link.
fn in_book(page: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with('#') {
        return None;
    }
    let folder = Path::new("docs").join(page.parent().unwrap_or(Path::new("")));
    let included = readme_folder(page);
    let path = resolve(included.as_ref().unwrap_or(&folder), target)?;
    let to_root = "../".repeat(folder.components().count() - 1);
    if let Some((name, anchor)) = crate_page(&path) {
        return Some(format!("{to_root}crates/{name}.md{anchor}"));
    }
    match path.strip_prefix("docs/") {
        Some(inside) => included.map(|_| format!("{to_root}{inside}")),
        None => Some(format!("{REPOSITORY}/{path}")),
    }
}

/// The folder of a crate with its README in the book: the links of that page are relative to it.
fn readme_folder(page: &Path) -> Option<PathBuf> {
    let name = page.strip_prefix("crates").ok()?.with_extension("");
    let folder = Path::new("crates").join(name);
    let readme = shell::root().join(&folder).join("README.md");
    readme.is_file().then_some(folder)
}

/// The crate of a README in a path, and the anchor behind it.
fn crate_page(path: &str) -> Option<(&str, &str)> {
    let (name, file) = path.strip_prefix("crates/")?.split_once('/')?;
    Some((name, file.strip_prefix("README.md")?))
}

/// A link from a folder as a path from the root of the repository.
fn resolve(folder: &Path, target: &str) -> Option<String> {
    let mut path = Vec::new();
    for component in folder.join(target).components() {
        match component {
            Component::ParentDir => drop(path.pop()?),
            Component::Normal(name) => path.push(name.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    Some(path.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_book_lead_to_the_repository() {
        let page = Path::new("guide/hello.md");
        for (target, leads_to) in [
            ("../tls.md", None),
            ("servants.md#state", None),
            ("#here", None),
            ("https://example.com/../x", None),
            ("../../examples/hello", Some("examples/hello")),
            ("../../README.md#hello", Some("README.md#hello")),
        ] {
            let expected = leads_to.map(|path| format!("{REPOSITORY}/{path}"));
            assert_eq!(in_book(page, target), expected, "{target}");
        }
        assert_eq!(
            with_links(
                Path::new("a.md"),
                "[x](../y) [z](b.md)\n```\n[x](../y)\n```\n"
            ),
            format!("[x]({REPOSITORY}/y) [z](b.md)\n```\n[x](../y)\n```\n")
        );
    }

    #[test]
    fn links_of_a_readme_lead_on_from_its_page_in_the_book() {
        let page = Path::new("crates/orbium-cdr.md");
        for (target, expected) in [
            (
                "src/reader.rs",
                format!("{REPOSITORY}/crates/orbium-cdr/src/reader.rs"),
            ),
            (
                "../../fuzz/README.md",
                format!("{REPOSITORY}/fuzz/README.md"),
            ),
            ("../../docs/tls.md#a", "../tls.md#a".to_owned()),
            (
                "../orbium-giop/README.md#b",
                "../crates/orbium-giop.md#b".to_owned(),
            ),
        ] {
            assert_eq!(in_book(page, target), Some(expected));
        }
        let architecture = in_book(
            Path::new("architecture.md"),
            "../crates/orbium-cdr/README.md",
        );
        assert_eq!(architecture.as_deref(), Some("crates/orbium-cdr.md"));
    }

    #[test]
    fn chapters_are_found_at_every_depth() {
        let mut book = serde_json::json!({"items": [{"Chapter": {
            "path": "a.md", "content": "[x](../y)", "sub_items": [
                {"Chapter": {"path": "b/c.md", "content": "[x](../../y)", "sub_items": []}},
            ],
        }}, "Separator"]});
        rewrite(&mut book);
        let text = book.to_string();
        assert_eq!(
            text.matches(&format!("{REPOSITORY}/y")).count(),
            2,
            "{text}"
        );
    }
}
