// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resolution of a path to the file that defines its item, through imports and re-exports.

use std::collections::HashSet;

use super::module_tree::{Binding, FileId, ModuleId, Tree};

/// The target of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// An item defined in this file.
    Item(FileId),
    Module(ModuleId),
}

/// Lookups in progress: a cyclic import resolves to nothing.
type Visited = HashSet<(ModuleId, String)>;

impl Tree {
    /// The file that defines the item of `path` in `module`. `None` for a module, or outside the
    /// tree.
    pub(crate) fn defining_file(&self, module: ModuleId, path: &[String]) -> Option<FileId> {
        match self.resolve(module, path, &mut Visited::new())? {
            Target::Item(file) => Some(file),
            Target::Module(_) => None,
        }
    }

    /// As [`Self::defining_file`], for a macro: by its name in the crate that its path
    /// begins with, or else in the crate of `module`.
    pub(crate) fn defining_file_of_macro(
        &self,
        module: ModuleId,
        path: &[String],
    ) -> Option<FileId> {
        let (first, last) = (path.first()?, path.last()?);
        let other = self.crates.iter().position(|it| it.name == *first);
        let krate = other.unwrap_or(self.modules[module].krate);
        self.macros.get(&(krate, last.clone())).copied()
    }

    fn resolve(&self, module: ModuleId, path: &[String], visited: &mut Visited) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let mut here = match first.as_str() {
            "crate" => Target::Module(self.root(module)),
            "self" => Target::Module(module),
            "super" => Target::Module(self.modules[module].parent?),
            name => self
                .lookup(module, name, visited)
                .or_else(|| self.library(name))?,
        };
        for name in rest {
            let Target::Module(module) = here else { break };
            here = match name.as_str() {
                "self" => here,
                "super" => Target::Module(self.modules[module].parent?),
                name => self.lookup(module, name, visited)?,
            };
        }
        Some(here)
    }

    fn lookup(&self, module: ModuleId, name: &str, visited: &mut Visited) -> Option<Target> {
        if !visited.insert((module, name.to_owned())) {
            return None;
        }
        let scope = &self.modules[module];
        let bindings = scope.names.get(name).map_or(&[][..], Vec::as_slice);
        let found = bindings
            .iter()
            .find_map(|binding| match binding {
                Binding::Item => Some(Target::Item(scope.file)),
                Binding::Module(child) => Some(Target::Module(*child)),
                Binding::Import(path) => self.resolve(module, path, visited),
            })
            .or_else(|| {
                scope
                    .globs
                    .iter()
                    .find_map(|path| match self.resolve(module, path, visited)? {
                        Target::Module(other) => self.lookup(other, name, visited),
                        Target::Item(_) => None,
                    })
            });
        visited.remove(&(module, name.to_owned()));
        found
    }

    fn root(&self, module: ModuleId) -> ModuleId {
        let mut root = module;
        while let Some(parent) = self.modules[root].parent {
            root = parent;
        }
        root
    }

    fn library(&self, name: &str) -> Option<Target> {
        let krate = self.crates.iter().find(|it| it.name == name)?;
        krate.roots.first().map(|&root| Target::Module(root))
    }
}
