// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes Rust the way rustfmt would have it.
//!
//! Lines given to [`Text`] may mark names of the prelude with a dollar sign:
//! `$Vec<u8>` is written `Vec<u8>`, or `::std::vec::Vec<u8>` in a module where
//! the IDL file calls something else `Vec`.

use std::collections::HashSet;

/// Columns in a line.
const WIDTH: usize = 100;
/// Columns that the arguments of a call may take on one line.
const CALL_WIDTH: usize = 60;
/// Columns that the fields of a struct literal may take on one line.
const LITERAL_WIDTH: usize = 18;
/// Columns up to which an item of an array is short.
const SHORT: usize = 10;

/// Prelude names that generated code uses, and where they come from.
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

/// Rust text in the making.
#[derive(Debug, Default)]
pub(crate) struct Text {
    out: String,
    depth: usize,
    shadowed: HashSet<String>,
}

/// An argument of a call.
pub(crate) enum Argument {
    /// An expression.
    Plain(String),
    /// A closure with statements: its head, such as `|reader|`, and the lines.
    Closure(String, Vec<String>),
}

impl Text {
    /// Sets the names that the module now written defines itself; gives back
    /// those of the module around it.
    pub(crate) fn shadow(&mut self, names: HashSet<String>) -> HashSet<String> {
        std::mem::replace(&mut self.shadowed, names)
    }

    /// What was written.
    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// How far the text goes.
    pub(crate) fn position(&self) -> usize {
        self.out.len()
    }

    /// What was written since.
    pub(crate) fn since(&self, position: usize) -> &str {
        &self.out[position..]
    }

    /// Puts text where the writing was before.
    pub(crate) fn insert(&mut self, position: usize, text: &str) {
        self.out.insert_str(position, text);
    }

    /// A line at the present depth, with an empty line after it.
    pub(crate) fn indented(&self, line: &str) -> String {
        format!("{}{line}\n\n", " ".repeat(self.depth * 4))
    }

    /// Resolves the marked names.
    pub(crate) fn resolve(&self, line: &str) -> String {
        let mut parts = line.split('$');
        let mut out = parts.next().unwrap_or("").to_owned();
        for part in parts {
            let end = part
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(part.len());
            let (name, rest) = part.split_at(end);
            let path = PRELUDE
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, path)| *path);
            match path.filter(|_| self.shadowed.contains(name)) {
                Some(path) => out.push_str(path),
                None => out.push_str(name),
            }
            out.push_str(rest);
        }
        out
    }

    /// Columns left for a line here.
    fn room(&self) -> usize {
        WIDTH.saturating_sub(self.depth * 4)
    }

    /// Writes a line as it is.
    pub(crate) fn raw(&mut self, line: &str) {
        if !line.is_empty() {
            self.out.extend(std::iter::repeat_n(' ', self.depth * 4));
            self.out.push_str(line);
        }
        self.out.push('\n');
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        let line = self.resolve(line.as_ref());
        self.raw(&line);
    }

    /// Writes a line and goes one level in.
    pub(crate) fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.depth += 1;
    }

    /// Goes one level in.
    pub(crate) fn inwards(&mut self) {
        self.depth += 1;
    }

    /// Goes one level out.
    pub(crate) fn outwards(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Whether a line has room here.
    pub(crate) fn fits(&self, line: &str) -> bool {
        self.resolve(line).len() <= self.room()
    }

    /// Goes one level out and writes a line.
    pub(crate) fn close(&mut self, line: impl AsRef<str>) {
        self.depth = self.depth.saturating_sub(1);
        self.line(line);
    }

    /// Goes out and in again: `} else {`.
    pub(crate) fn middle(&mut self, line: impl AsRef<str>) {
        self.close(line);
        self.depth += 1;
    }

    /// An empty line, except where a block begins or one is there already.
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

    /// A function's signature: `head(parameters)tail`, tail being ` -> T {` or `;`.
    /// Goes one level in if a body opens.
    pub(crate) fn signature(&mut self, head: &str, parameters: &[String], tail: &str) {
        let one = self.resolve(&format!("{head}({}){tail}", parameters.join(", ")));
        if one.len() == self.room() && one.ends_with(';') {
            // rustfmt counts one column more here and then finds that the
            // parameters fit without what is returned.
            let (start, result) = one.rsplit_once(" -> ").unwrap_or((&one, ""));
            let (start, result) = (start.to_owned(), format!("-> {result}"));
            self.raw(&start);
            self.raw(&result);
        } else if one.len() <= self.room() {
            self.raw(&one);
        } else {
            self.open(format!("{head}("));
            for parameter in parameters {
                self.line(format!("{parameter},"));
            }
            self.outwards();
            self.returning(tail);
        }
        if tail.ends_with('{') {
            self.depth += 1;
        }
    }

    /// The line `) -> T {` or `) -> T;` after parameters on lines of their own.
    fn returning(&mut self, tail: &str) {
        let one = self.resolve(&format!("){tail}"));
        let end = if one.ends_with('{') { " {" } else { ";" };
        let bare = one.strip_suffix(end).unwrap_or(&one).to_owned();
        // rustfmt counts the indentation twice before a brace, and not quite
        // all of it elsewhere.
        let indent = self.depth * 4;
        let fits = match end {
            ";" => one.len() + indent <= WIDTH + 3,
            _ => one.len() + 2 * indent <= WIDTH,
        };
        if fits {
            return self.raw(&one);
        }
        if bare.len() + indent <= WIDTH + 2 && end == " {" {
            self.raw(&bare);
            return self.raw("{");
        }
        let parts = bare
            .strip_suffix('>')
            .and_then(|bare| bare.split_once("Result<"));
        let Some((start, types)) = parts else {
            return self.raw(&one);
        };
        self.open(format!("{start}Result<"));
        split(types)
            .iter()
            .for_each(|part| self.raw(&format!("{part},")));
        self.close(format!(">{end}"));
    }

    /// `let NAME = VALUE;` or the like: broken after the `=` when too long.
    pub(crate) fn assign(&mut self, left: &str, value: &str) {
        let one = self.resolve(&format!("{left} = {value};"));
        if one.len() <= self.room() {
            self.raw(&one);
        } else {
            self.open(format!("{left} ="));
            self.line(format!("{value};"));
            self.depth -= 1;
        }
    }

    /// A call: `head(arguments)tail`.
    pub(crate) fn call(&mut self, head: &str, arguments: &[Argument], tail: &str) {
        let plain: Option<Vec<&str>> = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Plain(text) => Some(text.as_str()),
                Argument::Closure(..) => None,
            })
            .collect();
        if let Some(plain) = plain {
            let inside = self.resolve(&plain.join(", "));
            let one = self.resolve(&format!("{head}({inside}){tail}"));
            if inside.len() <= CALL_WIDTH && one.len() <= self.room() {
                self.raw(&one);
                return;
            }
        }
        self.open(format!("{head}("));
        let plain = |argument: &Argument| match argument {
            Argument::Plain(text) => Some(self.resolve(text)),
            Argument::Closure(..) => None,
        };
        let short: Option<Vec<String>> = arguments.iter().map(plain).collect();
        if let Some(short) = short.filter(|all| all.iter().all(|text| is_short(text))) {
            self.fill(&short);
            return self.close(format!("){tail}"));
        }
        for argument in arguments {
            match argument {
                Argument::Plain(text) => self.argument(text),
                Argument::Closure(head, lines) => {
                    self.open(format!("{head} {{"));
                    for line in lines {
                        self.statement(line);
                    }
                    self.close("},");
                }
            }
        }
        self.close(format!("){tail}"));
    }

    /// `left = head(arguments)tail`: on one line, or all but the left on the
    /// next line, or one argument a line.
    pub(crate) fn assign_call(&mut self, left: &str, head: &str, arguments: &[String], tail: &str) {
        let inside = self.resolve(&arguments.join(", "));
        let whole = format!("{left} = {head}({inside}){tail}");
        let moved = self.resolve(&format!("{head}({inside}){tail}")).len() + 4 <= self.room();
        if inside.len() <= CALL_WIDTH && moved && !self.fits(&whole) {
            self.open(format!("{left} ="));
            self.line(format!("{head}({inside}){tail}"));
            return self.outwards();
        }
        let arguments: Vec<Argument> = arguments.iter().cloned().map(Argument::Plain).collect();
        if self.fits(&format!("{left} = {head}(")) {
            self.call(&format!("{left} = {head}"), &arguments, tail);
        } else {
            self.open(format!("{left} ="));
            self.call(head, &arguments, tail);
            self.outwards();
        }
    }

    /// An argument on a line of its own; a closure whose body is too long
    /// becomes a block.
    fn argument(&mut self, text: &str) {
        let line = self.resolve(&format!("{text},"));
        let Some((head, body)) = text.split_once("| ").filter(|_| line.len() > self.room()) else {
            return self.expression("", text, ",");
        };
        self.open(format!("{head}| {{"));
        self.line(body);
        self.close("},");
    }

    /// An expression with what stands before and after it: a call or an array
    /// that is too long is broken, its parts alike.
    fn expression(&mut self, before: &str, text: &str, after: &str) {
        let text = self.resolve(text);
        let one = format!("{before}{text}{after}");
        let fits = one.len() <= self.room();
        let array = text
            .strip_prefix("&[")
            .and_then(|text| text.strip_suffix(']'));
        if let Some(items) = array {
            let items = split(items);
            return match items.as_slice() {
                _ if text.len() <= CALL_WIDTH + 3 && fits => self.raw(&one),
                // An only element is broken in place of the array.
                [only] => {
                    let (head, inside) = only.split_once('(').unwrap_or((only, ""));
                    self.open(format!("{before}&[{head}("));
                    for part in split(inside.strip_suffix(')').unwrap_or(inside)) {
                        self.expression("", part, ",");
                    }
                    self.close(format!(")]{after}"));
                }
                items => {
                    self.open(format!("{before}&["));
                    items.iter().for_each(|item| self.expression("", item, ","));
                    self.close(format!("]{after}"));
                }
            };
        }
        let call = text.strip_suffix(')').and_then(|text| text.split_once('('));
        let Some((head, inside)) = call.filter(|(head, _)| !head.contains(['|', ' '])) else {
            return self.raw(&one);
        };
        let parts = split(inside);
        if let ([only], true) = (parts.as_slice(), inside.ends_with('}')) {
            // A struct literal alone goes with the parentheses.
            let Some((name, fields)) = only.split_once(" { ").filter(|_| !fits) else {
                return self.raw(&one);
            };
            self.open(format!("{before}{head}({name} {{"));
            for field in split(fields.trim_end_matches(['}', ' '])) {
                self.line(format!("{field},"));
            }
            return self.close(format!("}}){after}"));
        }
        if inside.is_empty() || fits && inside.len() <= CALL_WIDTH {
            return self.raw(&one);
        }
        self.open(format!("{before}{head}("));
        if parts.iter().all(|part| is_short(part)) {
            let parts: Vec<String> = parts.into_iter().map(str::to_owned).collect();
            self.fill(&parts);
        } else {
            parts.iter().for_each(|part| self.expression("", part, ","));
        }
        self.close(format!("){after}"));
    }

    /// Opens `left = head(`, on one line or two, to be closed by
    /// [`Text::close_assigned`] with what is given back.
    pub(crate) fn open_assigned(&mut self, left: &str, head: &str) -> usize {
        let one = format!("{left} = {head}(");
        if self.fits(&one) {
            self.open(one);
            return 1;
        }
        self.open(format!("{left} ="));
        self.open(format!("{head}("));
        2
    }

    /// Closes what [`Text::open_assigned`] opened.
    pub(crate) fn close_assigned(&mut self, levels: usize) {
        self.close(");");
        (1..levels).for_each(|_| self.outwards());
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

    /// `&[items],` on lines of its own: calls, each broken if too long.
    pub(crate) fn array(&mut self, items: &[String]) {
        self.expression("", &format!("&[{}]", items.join(", ")), ",");
    }

    /// Short items, as many on a line as fit.
    fn fill(&mut self, items: &[String]) {
        let mut line = String::new();
        for item in items {
            if !line.is_empty() && line.len() + item.len() + 2 >= self.room() {
                self.raw(&line);
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(item);
            line.push(',');
        }
        self.raw(&line);
    }

    /// `pattern => body,` in a match: a body that is too long becomes a block.
    pub(crate) fn match_arm(&mut self, pattern: &str, body: &str) {
        let one = format!("{pattern} => {body},");
        if self.fits(&one) {
            return self.line(one);
        }
        self.open(format!("{pattern} => {{"));
        self.line(body);
        self.close("}");
    }

    /// A statement that is a call with a semicolon or `?`, broken at its
    /// parenthesis if it is too long.
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

    /// How many lines were written.
    pub(crate) fn lines(&self) -> usize {
        self.out.lines().count()
    }

    /// `head[items]tail` with strings: on one line, or one a line.
    pub(crate) fn strings(&mut self, head: &str, items: &[String], tail: &str) {
        let inside = items.join(", ");
        let one = format!("{head}[{inside}]{tail}");
        if inside.len() <= CALL_WIDTH && self.fits(&one) {
            return self.raw(&one);
        }
        // Short ones are filled like numbers.
        if items.iter().all(|item| item.len() <= SHORT) {
            return self.numbers(head, items, tail);
        }
        self.open(format!("{head}["));
        items.iter().for_each(|item| self.raw(&format!("{item},")));
        self.close(format!("]{tail}"));
    }

    /// `head { fields }tail`, on one line if the fields are few and short.
    pub(crate) fn literal(&mut self, head: &str, fields: &[String], tail: &str) {
        let inside = self.resolve(&fields.join(", "));
        let one = self.resolve(&format!("{head} {{ {inside} }}{tail}"));
        if inside.len() <= LITERAL_WIDTH && one.len() <= self.room() {
            return self.raw(&one);
        }
        self.open(format!("{head} {{"));
        fields
            .iter()
            .for_each(|field| self.line(format!("{field},")));
        self.close(format!("}}{tail}"));
    }

    /// `head[items]tail` with short items, filled like rustfmt fills numbers.
    pub(crate) fn numbers(&mut self, head: &str, items: &[String], tail: &str) {
        let inside = items.join(", ");
        let one = self.resolve(&format!("{head}[{inside}]{tail}"));
        if inside.len() <= CALL_WIDTH && one.len() <= self.room() {
            self.raw(&one);
            return;
        }
        self.open(format!("{head}["));
        self.fill(items);
        self.close(format!("]{tail}"));
    }
}

/// The arguments in the text of a list: split at commas, but not inside
/// brackets or strings.
fn split(list: &str) -> Vec<&str> {
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
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list[start..].trim());
    parts
}

/// Whether an argument is so simple and short that several share a line.
fn is_short(text: &str) -> bool {
    let simple = |c: char| c.is_ascii_alphanumeric() || "_.&*# ".contains(c);
    text.len() <= SHORT && text.chars().all(simple)
}
