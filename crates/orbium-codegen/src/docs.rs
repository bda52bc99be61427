// SPDX-License-Identifier: MIT OR Apache-2.0
//! Documentation of generated items, from IDL comments.

use orbium_idl_model::Definition;

/// The comment of a definition, and its kind and name in IDL.
pub(crate) fn of(definition: &Definition, noun: &str) -> String {
    let what = format!(
        "IDL {noun} `{}`, repository id `{}`.",
        definition.path.join("::"),
        definition.repository_id
    );
    with_comment(definition.doc.as_deref(), &what)
}

/// A comment as Markdown, if there is one.
pub(crate) fn comment(doc: Option<&str>) -> Option<String> {
    doc.map(escape).filter(|doc| !doc.is_empty())
}

fn with_comment(doc: Option<&str>, what: &str) -> String {
    match comment(doc) {
        Some(doc) => format!("{doc}\n\n{what}"),
        None => what.to_owned(),
    }
}

/// A comment as equivalent Markdown. Indentation is removed, as it would begin a code block that is
/// compiled as a test, and marks are escaped.
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

/// The address at the start of a text, without the punctuation behind it.
fn url(text: &str) -> Option<&str> {
    let scheme = ["https://", "http://"]
        .into_iter()
        .find(|scheme| text.starts_with(scheme))?;
    let ends = |letter: char| letter.is_whitespace() || matches!(letter, '<' | '>' | '"' | '`');
    let end = text.find(ends).unwrap_or(text.len());
    let url = text[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '\'', '*']);
    (url.len() > scheme.len()).then_some(url)
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

    // Regression: bare addresses were text, which a lint of rustdoc rejects.
    #[test]
    fn addresses_become_links() {
        assert_eq!(
            escape("See https://www.omg.org/spec/CORBA_3, or (http://a.b/c*d)."),
            "See <https://www.omg.org/spec/CORBA_3>, or (<http://a.b/c*d>)."
        );
        assert_eq!(escape("<https://a.b> c_d"), r"<https://a.b> c\_d");
        assert_eq!(escape("xhttps://a http://"), "xhttps://a http://");
    }
}
