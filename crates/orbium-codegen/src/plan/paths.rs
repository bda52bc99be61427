// SPDX-License-Identifier: MIT OR Apache-2.0
//! Paths from one module to items of another, in this file or elsewhere.

use orbium_idl_model::{DefId, Definition};

use super::{Plan, is_outside};

impl Plan<'_> {
    /// Whether a definition is external, so that no code is generated for it.
    pub(crate) fn is_external(&self, id: DefId) -> bool {
        let place = self.places.get(id);
        place.is_some_and(|place| is_outside(&place.module))
    }

    /// Whether a definition is generated elsewhere: then its omissions and ignored annotations are
    /// reported there.
    pub(crate) fn is_of_others(&self, definition: &Definition) -> bool {
        let file = &definition.location.file;
        if self.options.external_file_of(file).is_some() {
            return true;
        }
        let mut next = definition.parent.filter(|_| !definition.in_main_file);
        while let Some(id) = next {
            let scope = &self.model[id];
            if self.options.external(&scope.scoped_name()).is_some() {
                return true;
            }
            next = scope.parent;
        }
        false
    }

    /// The path from a module to a name in another one.
    pub(crate) fn path(&self, from: &[String], module: &[String], name: &str) -> String {
        if is_outside(module) {
            return along(module[0].clone(), &module[1..], name);
        }
        let mut common = 0;
        while common < from.len() && from.get(common) == module.get(common) {
            common += 1;
        }
        let mut ups = String::new();
        for _ in common..from.len() {
            ups.push_str("super::");
        }
        along(ups, &module[common..], name)
    }

    /// The path from a module to a definition.
    pub(crate) fn path_to(&self, from: &[String], id: DefId) -> String {
        if let Some(path) = self.options.native(&self.model[id].scoped_name()) {
            return path.to_owned();
        }
        let place = &self.places[id];
        self.path(from, &place.module, &place.name)
    }
}

/// The path from a start, such as `super::`, through modules to a name.
fn along(mut path: String, modules: &[String], name: &str) -> String {
    for part in modules {
        path.push_str(part);
        path.push_str("::");
    }
    path.push_str(name);
    path
}
