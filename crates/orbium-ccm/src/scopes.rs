// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modules around a declaration, and the names that they declare.

use std::collections::HashSet;

/// The present module, and the declarations so far.
#[derive(Default)]
pub(crate) struct Scopes {
    /// Names of the enclosing modules, with the number of open braces before each.
    around: Vec<(String, usize)>,
    /// The number of open braces.
    open: usize,
    declared: HashSet<String>,
    /// Local interfaces among them.
    local: HashSet<String>,
}

impl Scopes {
    /// Begins a module: its brace is the next one.
    pub(crate) fn begin(&mut self, module: &str) {
        self.around.push((module.to_owned(), self.open));
    }

    /// Records a token of copied text.
    pub(crate) fn pass(&mut self, token: &str) {
        match token {
            "{" => self.open += 1,
            "}" => {
                self.open = self.open.saturating_sub(1);
                let ends = |it: &(String, usize)| it.1 == self.open;
                if self.around.last().is_some_and(ends) {
                    self.around.pop();
                }
            }
            _ => {}
        }
    }

    /// Whether the declaration is in a module.
    pub(crate) fn is_in_module(&self) -> bool {
        self.open == self.around.len()
    }

    pub(crate) fn is_within(&self, module: &str) -> bool {
        self.around.first().is_some_and(|it| it.0 == module)
    }

    /// The scoped name of a declaration here.
    pub(crate) fn full(&self, name: &str) -> String {
        let mut full = self.path();
        if !full.is_empty() {
            full.push_str("::");
        }
        full.push_str(name);
        full
    }

    pub(crate) fn declare(&mut self, name: &str) {
        let full = self.full(name);
        self.declared.insert(full);
    }

    /// Declares a local interface.
    pub(crate) fn declare_local(&mut self, name: &str) {
        self.declare(name);
        let full = self.full(name);
        self.local.insert(full);
    }

    /// Whether a name refers to a local interface, seen from this module or from `module`.
    pub(crate) fn is_local(&self, name: &str, module: Option<&str>) -> bool {
        let full = self.find(name, module, |it| self.declared.contains(it));
        full.is_some_and(|it| self.local.contains(&it))
    }

    /// The scoped name to which a name in a module refers, if it was declared.
    pub(crate) fn declared(&self, name: &str, module: &str) -> Option<String> {
        self.find(name, Some(module), |it| self.declared.contains(it))
    }

    /// The first known scoped name to which a name may refer: in this module, or in `module`, and
    /// the enclosing ones.
    pub(crate) fn find(
        &self,
        name: &str,
        module: Option<&str>,
        is_known: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let name = name.replace(' ', "");
        if let Some(absolute) = name.strip_prefix("::") {
            return is_known(absolute).then(|| absolute.to_owned());
        }
        let mut module = module.map_or_else(|| self.path(), str::to_owned);
        loop {
            let candidate = if module.is_empty() {
                name.clone()
            } else {
                format!("{module}::{name}")
            };
            if is_known(&candidate) {
                return Some(candidate);
            }
            if module.is_empty() {
                return None;
            }
            module = module.rsplit_once("::").map_or("", |it| it.0).to_owned();
        }
    }

    fn path(&self) -> String {
        let names: Vec<_> = self.around.iter().map(|it| it.0.as_str()).collect();
        names.join("::")
    }
}

/// `A::B` as tokens of an absolute name.
pub(crate) fn qualified(full: &str) -> String {
    format!(":: {}", full.replace("::", " :: "))
}
