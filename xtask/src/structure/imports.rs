// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dependencies between files: uses of one file's definitions in another. A private `use`, a path
//! in a signature or a body and the invocation of a macro are uses; a re-export is not, it is
//! followed; nor is `mod`.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};

use super::module_tree::{FileId, ModuleId, Tree, attributes, is_test};
use super::tokens;

/// Pairs of files of which the first uses the second.
pub(crate) type Imports = BTreeSet<(FileId, FileId)>;

/// All uses between different files.
pub(crate) fn imports(tree: &Tree) -> Imports {
    let mut found = Imports::new();
    for (id, file) in tree.files.iter().enumerate() {
        let mut walk = Walk {
            tree,
            file: id,
            module: file.module,
            found: &mut found,
        };
        walk.visit_file(&file.syntax);
    }
    found
}

struct Walk<'a> {
    tree: &'a Tree,
    file: FileId,
    module: ModuleId,
    found: &'a mut Imports,
}

impl Walk<'_> {
    fn note(&mut self, defined_in: Option<FileId>) {
        if let Some(other) = defined_in.filter(|&other| other != self.file) {
            self.found.insert((self.file, other));
        }
    }

    fn note_path(&mut self, path: &[String]) {
        self.note(self.tree.defining_file(self.module, path));
    }

    fn note_tree(&mut self, prefix: &mut Vec<String>, tree: &syn::UseTree) {
        let name = match tree {
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.note_tree(prefix, tree);
                }
                return;
            }
            // The items of an enumeration: the path before the asterisk ends at it.
            syn::UseTree::Glob(_) => return self.note_path(prefix),
            syn::UseTree::Path(path) => &path.ident,
            syn::UseTree::Name(name) => &name.ident,
            syn::UseTree::Rename(rename) => &rename.ident,
        };
        prefix.push(name.to_string());
        match tree {
            syn::UseTree::Path(path) => self.note_tree(prefix, &path.tree),
            _ => {
                self.note_path(prefix);
                self.note(self.tree.defining_file_of_macro(self.module, prefix));
            }
        }
        prefix.pop();
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let line = item.mod_token.span.start().line;
        let Some(&inner) = self.tree.modules[self.module].inline.get(&line) else {
            return;
        };
        let outer = std::mem::replace(&mut self.module, inner);
        visit::visit_item_mod(self, item);
        self.module = outer;
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if matches!(item.vis, syn::Visibility::Inherited) {
            self.note_tree(&mut Vec::new(), &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|it| it.ident.to_string())
            .collect();
        self.note_path(&names);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invoked: &'ast syn::Macro) {
        let path = &invoked.path;
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|it| it.ident.to_string())
            .collect();
        self.note(self.tree.defining_file_of_macro(self.module, &names));
        for path in tokens::paths_in(invoked.tokens.clone()) {
            self.note_path(&path);
        }
    }
}
