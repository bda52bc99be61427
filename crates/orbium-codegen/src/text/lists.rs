// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists, laid out as the formatter does: in one line, filled, or an item a line.

use super::{CALL_WIDTH, LITERAL_WIDTH, SHORT, Text};

impl Text {
    /// `&[items],` on lines of its own: calls, each broken if too long.
    pub(crate) fn array(&mut self, items: &[String]) {
        self.expression("", &format!("&[{}]", items.join(", ")), ",");
    }

    /// Short items, as many on a line as fit.
    pub(super) fn fill(&mut self, items: &[String]) {
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
        for item in items {
            self.raw(&format!("{item},"));
        }
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
        for field in fields {
            self.line(format!("{field},"));
        }
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
