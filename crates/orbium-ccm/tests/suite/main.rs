// SPDX-License-Identifier: MIT OR Apache-2.0
//! From components and template modules to what they are equivalent to, as one program.

mod components;
mod hostile;
mod templates;

/// The tokens of a text.
fn tokens(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = match first {
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") || rest.starts_with(">>") => 2,
            _ => first.len_utf8(),
        };
        all.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    all
}

/// What comes of a text, behind a declaration of `Components`; with the messages behind it.
#[track_caller]
fn expanded(text: &str) -> String {
    let components = "module Components { };";
    let text = format!("{components} {text}");
    let tokens = tokens(&text);
    let expansion = orbium_ccm::expand(&tokens, 100_000).expect("something to expand");
    for token in &expansion.tokens {
        assert!(token.at < tokens.len());
    }
    let mut shown = expansion.to_string();
    for note in &expansion.notes {
        shown.push_str(&format!("\n{} {}", tokens[note.at], note.message));
    }
    let prefix = "module Components { } ; ";
    shown.strip_prefix(prefix).unwrap_or(&shown).to_owned()
}

/// The same text, if it is written as these are.
fn spelled(text: &str) -> String {
    tokens(text).join(" ")
}
