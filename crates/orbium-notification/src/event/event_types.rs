// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types of events, as patterns.

use std::collections::HashSet;
use std::sync::Arc;

use arc_swap::ArcSwap;
use orbium::{ExceptionKind, SystemException};

use crate::idl::cos_notification::EventType;

/// Whether a pattern covers a type. In both names `*` matches any characters; an empty name and
/// `%ALL` match all.
pub(crate) fn covers(pattern: &EventType, domain: &str, name: &str) -> bool {
    is_like(&pattern.domain_name, domain) && is_like(&pattern.type_name, name)
}

fn is_like(pattern: &str, text: &str) -> bool {
    if matches!(pattern, "" | "*" | "%ALL") || pattern == text {
        return true;
    }
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Maximum number of types in a list.
pub(crate) const MAX_TYPES: usize = 4096;

/// A list of types that peers change.
#[derive(Default)]
pub(crate) struct Types(ArcSwap<Vec<EventType>>);

impl Types {
    /// Adds types, and removes others.
    ///
    /// # Errors
    /// `IMP_LIMIT`: there would be too many, and the list is unchanged.
    pub(crate) fn change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), SystemException> {
        if added.len().max(removed.len()) > MAX_TYPES {
            return Err(ExceptionKind::ImpLimit.into());
        }
        let named = set_of(removed.iter().chain(added));
        let mut is_within = true;
        self.0.rcu(|list| {
            let remaining = list.iter().filter(|it| !named.contains(&key(it)));
            let changed: Vec<_> = remaining.chain(added).cloned().collect();
            is_within = changed.len() <= MAX_TYPES;
            if is_within {
                Arc::new(changed)
            } else {
                Arc::clone(list)
            }
        });
        if is_within {
            Ok(())
        } else {
            Err(ExceptionKind::ImpLimit.into())
        }
    }

    /// Whether the list covers a type; an empty one covers all.
    pub(crate) fn cover(&self, domain: &str, name: &str) -> bool {
        let list = self.0.load();
        list.is_empty() || list.iter().any(|it| covers(it, domain, name))
    }

    /// The types of the list.
    pub(crate) fn list(&self) -> Vec<EventType> {
        Vec::clone(&self.0.load())
    }

    /// The types of several lists, each once.
    pub(crate) fn union<'l>(lists: impl IntoIterator<Item = &'l Self>) -> Vec<EventType> {
        let lists: Vec<_> = lists.into_iter().map(|it| it.0.load_full()).collect();
        let (mut lists_met, mut met) = (HashSet::new(), HashSet::new());
        // Many proxies share an admin.
        let lists = lists.iter().filter(|it| lists_met.insert(Arc::as_ptr(it)));
        let all = lists.flat_map(|it| it.iter());
        all.filter(|it| met.insert(key(it))).cloned().collect()
    }
}

/// A set for searching types: lists of peers are long.
pub(crate) fn set_of<'t>(
    types: impl IntoIterator<Item = &'t EventType>,
) -> HashSet<(&'t str, &'t str)> {
    types.into_iter().map(key).collect()
}

/// A type in a [set](set_of).
pub(crate) fn key(of: &EventType) -> (&str, &str) {
    (&of.domain_name, &of.type_name)
}

#[cfg(test)]
mod tests {
    use orbium_testkit::within;

    use super::*;
    use crate::event::event_type;
    use crate::event::updates::Change;

    /// Regression: each type was compared with all others, which took minutes with so many.
    #[test]
    fn types_of_many_lists_are_looked_up() {
        let lists: Vec<_> = (0..64).map(|_| Types::default()).collect();
        for (index, list) in lists.iter().enumerate() {
            let names = (0..MAX_TYPES).map(|it| format!("{index}.{it}"));
            let types: Vec<_> = names.map(|it| event_type("", &it)).collect();
            list.change(&types, &types).unwrap();
        }
        let (all, change) = within("the change", move || {
            let all = Types::union(lists.iter().chain(&lists));
            let change = Change::between(&all, &all[1..]);
            (all, change.unwrap())
        });
        assert_eq!(all.len(), 64 * MAX_TYPES);
        assert_eq!(change.removed, all[..1]);
        assert!(change.added.is_empty());
    }

    #[test]
    fn asterisks_stand_for_any_characters() {
        for (pattern, text, expected) in [
            ("", "Telecom", true),
            ("%ALL", "x", true),
            ("Tele*", "Telecom", true),
            ("*com", "Telecom", true),
            ("T*l*m", "Telecom", true),
            ("Tele*", "telecom", false),
            ("T*x*m", "Telecom", false),
            ("ab*b", "ab", false),
            ("Tele", "Telecom", false),
        ] {
            assert_eq!(is_like(pattern, text), expected, "{pattern} {text}");
        }
    }
}
