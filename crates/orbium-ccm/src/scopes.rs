// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modules around a declaration, and the names that are declared in them.

use std::collections::HashSet;

/// The module that is being read, and what was declared so far.
#[derive(Default)]
pub(crate) struct Scopes {
    /// Names of the modules around, with the number of braces open before each.
    around: Vec<(String, usize)>,
    /// Braces that are open.
    open: usize,
    declared: HashSet<String>,
    /// Local interfaces among them.
    local: HashSet<String>,
}

impl Scopes {
    /// A module begins: its brace is the next one.
    pub(crate) fn begin(&mut self, module: &str) {
        self.around.push((module.to_owned(), self.open));
    }

    /// A token of what is copied.
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

    /// Whether the declaration stands in a module, or outside of all.
    pub(crate) fn is_in_module(&self) -> bool {
        self.open == self.around.len()
    }

    pub(crate) fn is_within(&self, module: &str) -> bool {
        self.around.first().is_some_and(|it| it.0 == module)
    }

    /// The name from file scope of what is declared here.
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

    /// A local interface.
    pub(crate) fn declare_local(&mut self, name: &str) {
        self.declare(name);
        let full = self.full(name);
        self.local.insert(full);
    }

    /// Whether a name means a local interface, in this module or in that one.
    pub(crate) fn is_local(&self, name: &str, module: Option<&str>) -> bool {
        let full = self.find(name, module, |it| self.declared.contains(it));
        full.is_some_and(|it| self.local.contains(&it))
    }

    /// The name from file scope of what a name means in a module, if it was declared.
    pub(crate) fn declared(&self, name: &str, module: &str) -> Option<String> {
        self.find(name, Some(module), |it| self.declared.contains(it))
    }

    /// The first of the names from file scope that a name may mean that is known: in this module,
    /// or in that one, and those around it.
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
