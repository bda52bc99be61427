// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes Rust in the format of rustfmt.
//!
//! Lines given to [`Text`] may mark names of the prelude with a dollar sign: `$Vec<u8>` is written
//! `Vec<u8>`, or `::std::vec::Vec<u8>` in a module in which the IDL file defines another `Vec`.

mod calls;
mod lists;

use crate::names::NameSet;

/// Columns in a line.
const WIDTH: usize = 100;
/// Maximum columns of a call's arguments on one line.
const CALL_WIDTH: usize = 60;
/// Maximum columns of a short item of an array.
const SHORT: usize = 10;

/// Prelude names that generated code uses, with their paths.
const PRELUDE: [(&str, &str); 16] = [
    ("Clone", "::core::clone::Clone"),
    ("Default", "::core::default::Default"),
    ("Err", "::core::result::Result::Err"),
    ("From", "::core::convert::From"),
    ("None", "::core::option::Option::None"),
    ("Ok", "::core::result::Result::Ok"),
    ("Option", "::core::option::Option"),
    ("Result", "::core::result::Result"),
    ("Send", "::core::marker::Send"),
    ("Sized", "::core::marker::Sized"),
    ("Some", "::core::option::Option::Some"),
    ("String", "::std::string::String"),
    ("Sync", "::core::marker::Sync"),
    ("TryFrom", "::core::convert::TryFrom"),
    ("Vec", "::std::vec::Vec"),
    ("matches", "::core::matches"),
];

/// The names of the prelude that a module shadows, in their order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shadowed([bool; PRELUDE.len()]);

impl Default for Shadowed {
    fn default() -> Self {
        Self([false; PRELUDE.len()])
    }
}

impl Shadowed {
    /// The prelude names that a module with these names shadows.
    pub(crate) fn by(names: &NameSet) -> Self {
        let mut shadowed = Self::default();
        for (i, (name, _)) in PRELUDE.iter().enumerate() {
            shadowed.0[i] = names.contains(*name);
        }
        shadowed
    }
}

/// Rust text being written.
#[derive(Debug, Default)]
pub(crate) struct Text {
    out: String,
    depth: usize,
    shadowed: Shadowed,
}

impl Text {
    /// Sets the names shadowed by the present module; returns those of the enclosing one.
    pub(crate) fn shadow(&mut self, shadowed: Shadowed) -> Shadowed {
        std::mem::replace(&mut self.shadowed, shadowed)
    }

    /// The names of the prelude that are shadowed here.
    pub(crate) fn shadowed(&self) -> Shadowed {
        self.shadowed
    }

    /// The written text.
    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// The present length of the text.
    pub(crate) fn position(&self) -> usize {
        self.out.len()
    }

    /// The text written since a position.
    pub(crate) fn since(&self, position: usize) -> &str {
        &self.out[position..]
    }

    /// Inserts text at an earlier position.
    pub(crate) fn insert(&mut self, position: usize, text: &str) {
        self.out.insert_str(position, text);
    }

    /// A line at the present depth, followed by an empty line.
    pub(crate) fn indented(&self, line: &str) -> String {
        format!("{}{line}\n\n", indent(self.depth))
    }

    /// Resolves the marked names.
    pub(crate) fn resolve(&self, line: &str) -> String {
        let mut parts = line.split('$');
        let mut out = parts.next().unwrap_or("").to_owned();
        for part in parts {
            let mut end = 0;
            for letter in part.bytes() {
                if !letter.is_ascii_alphanumeric() {
                    break;
                }
                end += 1;
            }
            let (name, rest) = part.split_at(end);
            let mut written = name;
            for (i, (known, path)) in PRELUDE.iter().enumerate() {
                if self.shadowed.0[i] && *known == name {
                    written = path;
                }
            }
            out.push_str(written);
            out.push_str(rest);
        }
        out
    }

    /// Remaining columns of a line.
    fn room(&self) -> usize {
        WIDTH.saturating_sub(self.depth * 4)
    }

    /// Writes a line unchanged.
    pub(crate) fn raw(&mut self, line: &str) {
        if !line.is_empty() {
            self.out.push_str(&indent(self.depth));
            self.out.push_str(line);
        }
        self.out.push('\n');
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        let line = self.resolve(line.as_ref());
        self.raw(&line);
    }

    /// Writes a line and increases the indentation.
    pub(crate) fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.depth += 1;
    }

    /// Increases the indentation.
    pub(crate) fn inwards(&mut self) {
        self.depth += 1;
    }

    /// Decreases the indentation.
    pub(crate) fn outwards(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Whether a line fits here.
    pub(crate) fn fits(&self, line: &str) -> bool {
        self.resolve(line).len() <= self.room()
    }

    /// Decreases the indentation and writes a line.
    pub(crate) fn close(&mut self, line: impl AsRef<str>) {
        self.depth = self.depth.saturating_sub(1);
        self.line(line);
    }

    /// Writes an empty line, except at the beginning of a block or after another one.
    pub(crate) fn blank(&mut self) {
        let begins = self.out.is_empty() || self.out.ends_with("{\n") || self.out.ends_with("\n\n");
        if !begins {
            self.out.push('\n');
        }
    }

    /// Documentation, one line per line of `text`.
    pub(crate) fn doc(&mut self, text: &str) {
        for line in text.lines() {
            match line.trim_end() {
                "" => self.raw("///"),
                line => self.raw(&format!("/// {line}")),
            }
        }
    }

    /// Opens `head for target {`: on one line, or the target on the next.
    pub(crate) fn open_impl(&mut self, head: &str, target: &str) {
        let one = format!("{head} for {target} {{");
        if self.fits(&one) {
            return self.open(one);
        }
        self.line(head);
        self.inwards();
        self.line(format!("for {target}"));
        self.outwards();
        self.open("{");
    }

    /// A statement that is a call with a semicolon or `?`, broken at its parenthesis if it is too
    /// long.
    pub(crate) fn statement(&mut self, text: &str) {
        let one = self.resolve(text);
        match one.rfind(')') {
            Some(end) if !one.starts_with("let ") => {
                let (call, tail) = one.split_at(end + 1);
                self.expression("", call, tail);
            }
            _ => self.raw(&one),
        }
    }

    /// Pieces with spaces between them, as many on a line as fit; further lines are indented.
    pub(crate) fn filled(&mut self, pieces: &[String]) {
        self.fill_from(pieces, 1);
    }

    /// Items with spaces between them, as many on a line as fit.
    pub(crate) fn listed(&mut self, items: &[String]) {
        self.fill_from(items, 0);
    }

    /// Items in the braces of a head, on one line if they fit; `close` is the end.
    pub(crate) fn braced(&mut self, head: &str, items: &[String], close: &str) {
        let one = format!("{head} {{ {} {close}", items.join(", "));
        if self.fits(&one) {
            return self.line(one);
        }
        self.open(format!("{head} {{"));
        let items: Vec<_> = items.iter().map(|it| format!("{it},")).collect();
        self.listed(&items);
        self.close(close);
    }

    fn fill_from(&mut self, pieces: &[String], further: usize) {
        let (mut line, mut levels) = (String::new(), 0);
        for piece in pieces {
            let piece = self.resolve(piece);
            if !line.is_empty() && line.len() + piece.len() + 1 > self.room() {
                self.raw(&line);
                line.clear();
                self.depth += further - levels;
                levels = further;
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&piece);
        }
        self.raw(&line);
        self.depth -= levels;
    }
}

/// The arguments in the text of a list: split at commas, but not within brackets or strings.
fn split(list: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut string, mut escaped) = (0, 0i32, false, false);
    for (at, letter) in list.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if string => escaped = true,
            '"' => string = !string,
            _ if string => {}
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[start..at].trim().to_owned());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list[start..].trim().to_owned());
    parts
}

/// Spaces up to a depth.
fn indent(depth: usize) -> String {
    let mut spaces = String::new();
    for _ in 0..depth {
        spaces.push_str("    ");
    }
    spaces
}

/// Whether arguments are so simple and short that several share a line.
fn are_short(arguments: &[String]) -> bool {
    let mut short = true;
    for text in arguments {
        short &= text.len() <= SHORT;
        for c in text.bytes() {
            short &= c.is_ascii_alphanumeric() || b"_.&*# ".contains(&c);
        }
    }
    short
}
