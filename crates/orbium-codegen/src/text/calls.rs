// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signatures, calls and expressions, broken as the formatter breaks them.

use super::{CALL_WIDTH, Text, WIDTH, are_short, split};

impl Text {
    /// A function's signature: `head(parameters)tail`, tail being ` -> T {` or `;`. Increases the
    /// indentation if a body opens.
    pub(crate) fn signature(&mut self, head: &str, parameters: &[String], tail: &str) {
        let one = self.resolve(&format!("{head}({}){tail}", parameters.join(", ")));
        if one.len() == self.room() && one.ends_with(';') {
            // rustfmt counts one column more here and then determines that the parameters fit
            // without the return type.
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

    /// The line `) -> T {` or `) -> T;` after parameters on separate lines.
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
        let generic = bare.strip_suffix('>').unwrap_or("");
        let Some((_, types)) = generic
            .split_once("Result<")
            .or(generic.split_once("Asynchronous<"))
        else {
            return self.raw(&one);
        };
        self.open(&generic[..generic.len() - types.len()]);
        for part in &split(types) {
            self.raw(&format!("{part},"));
        }
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

    /// An expression with the text before and after it: a call or an array that is too long is
    /// broken, and its parts likewise.
    pub(super) fn expression(&mut self, before: &str, text: &str, after: &str) {
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
                // A single element is broken in place of the array.
                [only] => {
                    let (head, inside) = only.split_once('(').unwrap_or((only, ""));
                    self.open(format!("{before}&[{head}("));
                    for part in &split(inside.strip_suffix(')').unwrap_or(inside)) {
                        self.expression("", part, ",");
                    }
                    self.close(format!(")]{after}"));
                }
                items => {
                    self.open(format!("{before}&["));
                    for item in items {
                        self.expression("", item, ",");
                    }
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
            // A single struct literal is joined with the parentheses.
            let Some((name, mut fields)) = only.split_once(" { ").filter(|_| !fits) else {
                return self.raw(&one);
            };
            while let Some(rest) = fields.strip_suffix('}').or(fields.strip_suffix(' ')) {
                fields = rest;
            }
            self.open(format!("{before}{head}({name} {{"));
            for field in &split(fields) {
                self.line(format!("{field},"));
            }
            return self.close(format!("}}){after}"));
        }
        if inside.is_empty() || fits && inside.len() <= CALL_WIDTH {
            return self.raw(&one);
        }
        self.open(format!("{before}{head}("));
        if are_short(&parts) {
            self.fill(&parts);
        } else {
            for part in &parts {
                self.expression("", part, ",");
            }
        }
        self.close(format!("){after}"));
    }
}
