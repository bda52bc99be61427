// SPDX-License-Identifier: MIT OR Apache-2.0
//! Documentation of generated items, from IDL comments.

use orbium_idl::model::{Definition, Member};

/// The comment of a definition, and what it is in IDL.
pub(crate) fn of(definition: &Definition, noun: &str) -> String {
    let what = format!(
        "IDL {noun} `{}`, repository id `{}`.",
        definition.path.join("::"),
        definition.repository_id
    );
    with_comment(definition.doc.as_deref(), &what)
}

/// The comment of an operation or attribute, and its IDL name.
pub(crate) fn feature(definition: &Definition, what: &str) -> String {
    with_comment(
        definition.doc.as_deref(),
        &format!("{what} `{}`.", definition.name),
    )
}

/// The comment of a member, or else its IDL name.
pub(crate) fn member(member: &Member) -> String {
    match member
        .doc
        .as_deref()
        .map(escape)
        .filter(|doc| !doc.is_empty())
    {
        Some(doc) => doc,
        None => format!("IDL member `{}`.", member.name),
    }
}

/// The comment of an enumerator, or else its IDL name.
pub(crate) fn enumerator(name: &str, doc: Option<&str>) -> String {
    match doc.map(escape).filter(|doc| !doc.is_empty()) {
        Some(doc) => doc,
        None => format!("IDL enumerator `{name}`."),
    }
}

fn with_comment(doc: Option<&str>, what: &str) -> String {
    match doc.map(escape).filter(|doc| !doc.is_empty()) {
        Some(doc) => format!("{doc}\n\n{what}"),
        None => what.to_owned(),
    }
}

/// A comment as Markdown that says the same. Indentation goes, lest it become
/// a code block that is compiled as a test, and marks are escaped.
fn escape(comment: &str) -> String {
    let mut out = String::new();
    for line in comment.lines() {
        let mut shown = String::new();
        for letter in line.chars() {
            if !letter.is_control() {
                shown.push(letter);
            }
        }
        // At the start of a line these would begin lists, headings, quotes or
        // rules.
        let mut starts = true;
        let mut rest = shown.trim();
        while let Some(letter) = rest.chars().next() {
            let (url, bracketed) = match rest.strip_prefix('<') {
                Some(inside) => (url(inside), true),
                None => (url(rest), false),
            };
            if let Some(url) = url
                && !out.ends_with(char::is_alphanumeric)
            {
                out.push_str(&format!("<{url}>"));
                rest = &rest[url.len() + usize::from(bracketed)..];
                rest = rest.strip_prefix('>').filter(|_| bracketed).unwrap_or(rest);
                starts = false;
                continue;
            }
            rest = &rest[letter.len_utf8()..];
            if matches!(letter, '\\' | '`' | '[' | ']' | '<' | '*' | '_')
                || starts && matches!(letter, '-' | '+' | '=' | '#' | '>' | '~' | '|')
            {
                out.push('\\');
            }
            out.push(letter);
            starts = false;
        }
        out.push('\n');
    }
    out.trim().to_owned()
}

/// The address that a text begins with, without the punctuation behind it.
fn url(text: &str) -> Option<&str> {
    let scheme = ["https://", "http://"]
        .into_iter()
        .find(|scheme| text.starts_with(scheme))?;
    let ends = |letter: char| letter.is_whitespace() || matches!(letter, '<' | '>' | '"' | '`');
    let end = text.find(ends).unwrap_or(text.len());
    let url = text[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '\'', '*']);
    (url.len() > scheme.len()).then_some(url)
}

/// Whether a lint would want back quotes somewhere.
pub(crate) fn looks_like_code(doc: &str) -> bool {
    let mut prose = true;
    for part in doc.split('`') {
        if prose && part.split_whitespace().any(is_like_code) {
            return true;
        }
        prose = !prose;
    }
    false
}

fn is_like_code(word: &str) -> bool {
    // What would say so counts only with a letter or digit before and behind it.
    let (mut starts, mut seen) = (true, false);
    for letter in word.chars() {
        if letter.is_alphanumeric() {
            if seen || !starts && letter.is_uppercase() {
                return true;
            }
            starts = false;
        } else {
            seen |= !starts && matches!(letter, '_' | ':' | '/' | '(' | '.');
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_lose_their_marks_and_code_blocks() {
        assert_eq!(escape("a [b] <c> `d`"), r"a \[b\] \<c> \`d\`");
        assert_eq!(escape("    indented\n\n\tmore"), "indented\n\nmore");
        assert_eq!(escape("- item\n# head"), "\\- item\n\\# head");
    }

    // Bare addresses were text, and a lint of rustdoc's complained of them.
    #[test]
    fn addresses_become_links() {
        assert_eq!(
            escape("See https://www.omg.org/spec/CORBA_3, or (http://a.b/c*d)."),
            "See <https://www.omg.org/spec/CORBA_3>, or (<http://a.b/c*d>)."
        );
        assert_eq!(escape("<https://a.b> c_d"), r"<https://a.b> c\_d");
        assert_eq!(escape("xhttps://a http://"), "xhttps://a http://");
    }

    #[test]
    fn code_is_distinguished_from_prose() {
        assert!(looks_like_code("See FooBar."));
        assert!(looks_like_code("a_b"));
        assert!(!looks_like_code("What `FooBar` does. Nothing more."));
    }
}
