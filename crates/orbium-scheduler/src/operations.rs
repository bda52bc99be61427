// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registered operations by interface and name, for lookup by requests.

use std::collections::HashMap;

use orbium::interceptor::ReceiveRequest;

/// Operations with scoped names, each with its identifier.
pub(crate) struct Operations<T> {
    /// For each name of an operation: its interfaces as `Nav/GPS`, the longest first.
    by_name: HashMap<String, Vec<(String, T)>>,
}

impl<T: Copy> Operations<T> {
    pub(crate) fn of<'n>(names: impl Iterator<Item = (&'n str, T)>) -> Self {
        let mut by_name: HashMap<String, Vec<(String, T)>> = HashMap::new();
        for (name, id) in names {
            if let Some((interface, operation)) = name.rsplit_once("::") {
                let interfaces = by_name.entry(operation.to_owned()).or_default();
                interfaces.push((interface.replace("::", "/"), id));
            }
        }
        for interfaces in by_name.values_mut() {
            interfaces.sort_by_key(|(interface, _)| std::cmp::Reverse(interface.len()));
        }
        Self { by_name }
    }

    /// The operation of a request to a servant.
    pub(crate) fn served(&self, request: &ReceiveRequest<'_, '_>) -> Option<T> {
        let (name, interface) = (request.operation(), request.target_most_derived_interface());
        self.of_target(&name, &interface, |id| request.target_is_a(id))
    }

    /// The operation of that name of an object with a most derived interface of that repository
    /// id.
    pub(crate) fn of_target(
        &self,
        name: &str,
        interface: &str,
        is_a: impl Fn(&str) -> bool,
    ) -> Option<T> {
        let declared = self.declared(interface, name);
        declared.or_else(|| self.inherited(name, is_a))
    }

    /// The operation of that name in an interface with that repository id.
    pub(crate) fn declared(&self, repository_id: &str, operation: &str) -> Option<T> {
        let path = path(repository_id);
        self.first(operation, |interface| {
            let prefix = path.strip_suffix(interface);
            prefix.is_some_and(|it| it.is_empty() || it.ends_with('/'))
        })
    }

    /// The operation of that name in the first interface that `is_a` accepts by its repository id.
    fn inherited(&self, operation: &str, is_a: impl Fn(&str) -> bool) -> Option<T> {
        self.first(operation, |interface| is_a(&format!("IDL:{interface}:1.0")))
    }

    fn first(&self, operation: &str, accepts: impl Fn(&str) -> bool) -> Option<T> {
        let mut interfaces = self.by_name.get(operation)?.iter();
        let found = interfaces.find(|(interface, _)| accepts(interface));
        found.map(|(_, id)| *id)
    }
}

/// `Nav::GPS::position` for `IDL:Nav/GPS:1.0` and `position`.
pub(crate) fn scoped_name(repository_id: &str, operation: &str) -> String {
    format!("{}::{operation}", path(repository_id).replace('/', "::"))
}

/// `Nav/GPS` for `IDL:Nav/GPS:1.0`, with the prefix of the id if it has one.
fn path(repository_id: &str) -> &str {
    let path = repository_id.strip_prefix("IDL:").unwrap_or(repository_id);
    path.rsplit_once(':').map_or(path, |(path, _)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_found_by_repository_ids_with_prefix_and_by_the_longest_name() {
        let (short, long) = (1, 2);
        let names = [
            ("GPS::position", short),
            ("Nav::GPS::position", long),
            ("position", 3),
        ];
        let operations = Operations::of(names.into_iter());
        for (id, found) in [
            ("IDL:GPS:1.0", Some(short)),
            ("IDL:Nav/GPS:2.1", Some(long)),
            ("IDL:example.org/Nav/GPS:1.0", Some(long)),
            ("IDL:example.org/GPS:1.0", Some(short)),
            ("IDL:OtherGPS:1.0", None),
            ("IDL:Nav:1.0", None),
            ("", None),
        ] {
            assert_eq!(operations.declared(id, "position"), found, "{id}");
        }
        assert_eq!(operations.declared("IDL:GPS:1.0", "reset"), None);
        let derived = operations.inherited("position", |id| id == "IDL:GPS:1.0");
        assert_eq!(derived, Some(short));
        assert_eq!(scoped_name("IDL:Nav/GPS:1.0", "reset"), "Nav::GPS::reset");
    }
}
