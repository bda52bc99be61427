// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of short items, filled as by the formatter.

use super::Text;

impl Text {
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
}
