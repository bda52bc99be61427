// SPDX-License-Identifier: MIT OR Apache-2.0
//! Context objects: properties sent with operations that have a `context` clause in IDL.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use orbium_cdr::{CdrError, CdrReader, CdrWriter, Decode as _};
use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_sync::lock::{Mutex, MutexGuard};

/// Names and values, as carried by a request.
pub type Properties = Vec<(String, String)>;

/// Named strings, and the enclosing context (`CORBA::Context`, CORBA 3.3 Part 1, clause 8.6): a
/// request sends the properties named by the `context` clause of its operation. Clones are the same
/// context.
///
/// ```
/// use orbium_invocation::Context;
///
/// let orb = Context::new("");
/// orb.set_one_value("site", "lab")?;
/// let session = orb.create_child("session")?;
/// session.set_one_value("user.name", "anna")?;
/// session.set_one_value("user.role", "operator")?;
///
/// let found = session.values("", "user.*", false)?;
/// assert_eq!(found.len(), 2);
/// // Missing properties are looked up in the enclosing contexts.
/// assert_eq!(session.values("", "site", false)?, [("site".into(), "lab".into())]);
/// # Ok::<(), orbium_invocation::SystemException>(())
/// ```
#[derive(Clone)]
pub struct Context(Arc<Node>);

struct Node {
    name: String,
    parent: Option<Context>,
    content: Mutex<Content>,
    is_deleted: AtomicBool,
}

#[derive(Default)]
struct Content {
    values: BTreeMap<String, String>,
    children: Vec<Weak<Node>>,
}

impl Context {
    /// An empty context without a parent.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self::within(name, None)
    }

    fn within(name: &str, parent: Option<Self>) -> Self {
        Self(Arc::new(Node {
            name: name.to_owned(),
            parent,
            content: Mutex::default(),
            is_deleted: AtomicBool::new(false),
        }))
    }

    /// Its name, from which a search can start.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The enclosing context.
    #[must_use]
    pub fn parent(&self) -> Option<&Self> {
        self.0.parent.as_ref()
    }

    /// An empty context within this one.
    ///
    /// # Errors
    /// BAD_PARAM 37: the name is empty, or has other characters than letters, digits and
    /// underscores. OBJECT_NOT_EXIST: this context was deleted.
    pub fn create_child(&self, name: &str) -> Result<Self, SystemException> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_part) {
            return Err(bad_param(37));
        }
        let mut content = self.content()?;
        content.children.retain(|child| child.strong_count() > 0);
        let child = Self::within(name, Some(self.clone()));
        content.children.push(Arc::downgrade(&child.0));
        Ok(child)
    }

    /// Sets a property.
    ///
    /// # Errors
    /// BAD_PARAM 35: the name is empty, or has a `*` in it. OBJECT_NOT_EXIST: this context was
    /// deleted.
    pub fn set_one_value(&self, name: &str, value: &str) -> Result<(), SystemException> {
        self.set_values([(name, value)])
    }

    /// Sets properties: all, or none if one is refused.
    ///
    /// # Errors
    /// As [`set_one_value`](Self::set_one_value).
    pub fn set_values<'v>(
        &self,
        values: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Result<(), SystemException> {
        let mut checked = Vec::new();
        for (name, value) in values {
            if name.is_empty() || name.contains('*') {
                return Err(bad_param(35));
            }
            checked.push((name.to_owned(), value.to_owned()));
        }
        self.content()?.values.extend(checked);
        Ok(())
    }

    /// The properties that match a pattern: a name, or the beginning of names followed by a `*`.
    /// The search starts in the context of that name, this one or an enclosing one, or here if
    /// `start_scope` is empty; with `restrict_scope` it does not continue in the contexts that
    /// enclose that one. Of several with one name the nearest is used.
    ///
    /// # Errors
    /// BAD_PARAM 36: the pattern is empty, or has a `*` before its end. BAD_CONTEXT 1: there is no
    /// context of that name; 2: no property matches. OBJECT_NOT_EXIST: a context was deleted.
    pub fn values(
        &self,
        start_scope: &str,
        pattern: &str,
        restrict_scope: bool,
    ) -> Result<Properties, SystemException> {
        let pattern = Pattern::new(pattern)?;
        let start = match start_scope {
            "" => Some(self),
            name => self.scopes().find(|it| it.name() == name),
        };
        let start = start.ok_or_else(|| bad_context(1))?;
        let most = if restrict_scope { 1 } else { usize::MAX };
        let mut found = BTreeMap::new();
        for scope in start.scopes().take(most) {
            for (name, value) in &scope.content()?.values {
                if pattern.matches(name) && !found.contains_key(name) {
                    found.insert(name.clone(), value.clone());
                }
            }
        }
        if found.is_empty() {
            Err(bad_context(2))
        } else {
            Ok(found.into_iter().collect())
        }
    }

    /// The properties sent by a request: those that match the names of a `context` clause. Unset
    /// ones are not sent.
    ///
    /// # Errors
    /// BAD_PARAM 36: one of the names is not a pattern. OBJECT_NOT_EXIST: a context was deleted.
    pub fn properties<'p>(
        &self,
        patterns: impl IntoIterator<Item = &'p str>,
    ) -> Result<Properties, SystemException> {
        let mut all = BTreeMap::new();
        for pattern in patterns {
            match self.values("", pattern, false) {
                Ok(found) => all.extend(found),
                Err(none) if none.kind == ExceptionKind::BadContext => {}
                Err(other) => return Err(other),
            }
        }
        Ok(all.into_iter().collect())
    }

    /// Deletes the properties of this context that match a pattern.
    ///
    /// # Errors
    /// BAD_PARAM 36: the pattern is empty, or has a `*` before its end. BAD_CONTEXT 2: no
    /// property matches. OBJECT_NOT_EXIST: this context was deleted.
    pub fn delete_values(&self, pattern: &str) -> Result<(), SystemException> {
        let pattern = Pattern::new(pattern)?;
        let mut content = self.content()?;
        let before = content.values.len();
        content.values.retain(|name, _| !pattern.matches(name));
        if content.values.len() == before {
            Err(bad_context(2))
        } else {
            Ok(())
        }
    }

    /// Deletes the context, for all its holders; with `descendents` also the enclosed ones.
    ///
    /// # Errors
    /// BAD_PARAM 38: it has children. OBJECT_NOT_EXIST: it was deleted before.
    pub fn delete(&self, descendents: bool) -> Result<(), SystemException> {
        let children = {
            let content = self.content()?;
            let children = content.children.iter().filter_map(Weak::upgrade);
            let mut children: Vec<_> = children.map(Self).collect();
            children.retain(|child| !child.is_deleted());
            if !children.is_empty() && !descendents {
                return Err(bad_param(38));
            }
            self.0.is_deleted.store(true, Ordering::Release);
            children
        };
        for child in children {
            // Another thread may have deleted it.
            let _ = child.delete(true);
        }
        Ok(())
    }

    fn is_deleted(&self) -> bool {
        self.0.is_deleted.load(Ordering::Acquire)
    }

    /// This context and the enclosing ones.
    fn scopes(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |scope| scope.parent())
    }

    fn content(&self) -> Result<MutexGuard<'_, Content>, SystemException> {
        let content = self.0.content.lock();
        if self.is_deleted() {
            Err(ExceptionKind::ObjectNotExist.into())
        } else {
            Ok(content)
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("name", &self.0.name)
            .finish_non_exhaustive()
    }
}

/// A pattern of names.
enum Pattern<'p> {
    Name(&'p str),
    Beginning(&'p str),
}

impl<'p> Pattern<'p> {
    fn new(text: &'p str) -> Result<Self, SystemException> {
        let pattern = match text.strip_suffix('*') {
            Some(beginning) => Self::Beginning(beginning),
            None => Self::Name(text),
        };
        let (Self::Name(fixed) | Self::Beginning(fixed)) = pattern;
        if text.is_empty() || fixed.contains('*') {
            Err(bad_param(36))
        } else {
            Ok(pattern)
        }
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Name(wanted) => name == *wanted,
            Self::Beginning(beginning) => name.starts_with(beginning),
        }
    }
}

/// Marshals properties after the arguments of a request.
pub fn write_properties<'a>(properties: &'a [(String, String)], writer: &mut CdrWriter<'a>) {
    writer.write_count(properties.len() * 2);
    for (name, value) in properties {
        writer.write_str(name);
        writer.write_str(value);
    }
}

/// Unmarshals the properties after the arguments of a request.
///
/// # Errors
/// MARSHAL: they are not pairs, or cannot be decoded.
pub fn read_properties(reader: &mut CdrReader<'_>) -> Result<Properties, SystemException> {
    let unread = |error: CdrError| SystemException::from_cdr(error, Completion::No);
    let mut strings = Vec::<String>::decode(reader).map_err(unread)?.into_iter();
    let mut properties = Vec::new();
    while let Some(name) = strings.next() {
        let odd = || SystemException::new(ExceptionKind::Marshal, 0, Completion::No);
        properties.push((name, strings.next().ok_or_else(odd)?));
    }
    Ok(properties)
}

fn bad_param(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::BadParam, minor, Completion::No)
}

fn bad_context(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::BadContext, minor, Completion::No)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &[(String, String)]) -> Vec<&str> {
        found.iter().map(|(name, _)| &**name).collect()
    }

    /// Conformance: dynamic - contexts: the nearest value counts; a pattern ends with `*`
    #[test]
    fn values_are_looked_up_from_the_inside_out() {
        let root = Context::new("");
        let (shared, own) = (("sys.host", "a"), ("sys.host", "b"));
        root.set_values([shared, ("sys.load", "1"), ("user", "anna")])
            .unwrap();
        let session = root.create_child("session").unwrap();
        session.set_values([own]).unwrap();
        let inner = session.create_child("inner").unwrap();
        let found = inner.values("", "sys.*", false).unwrap();
        assert_eq!(found[0], ("sys.host".to_owned(), "b".to_owned()));
        assert_eq!(names(&found), ["sys.host", "sys.load"]);
        let all = inner.values("session", "*", true).unwrap();
        assert_eq!(names(&all), ["sys.host"]);
        assert_eq!(names(&inner.values("", "user", false).unwrap()), ["user"]);
        // Names are compared with their case.
        assert_eq!(inner.values("", "User", false), Err(bad_context(2)));
        assert_eq!(inner.values("", "user", true), Err(bad_context(2)));
    }

    /// Conformance: dynamic - contexts: a property without a name, or with a `*` in it: BAD_PARAM 35
    #[test]
    fn names_of_properties_are_checked() {
        let context = Context::new("");
        for name in ["", "a*", "*"] {
            let set = context.set_values([("fine", "1"), (name, "2")]);
            assert_eq!(set, Err(bad_param(35)));
        }
        assert_eq!(context.values("", "fine", false), Err(bad_context(2)));
    }

    /// Conformance: dynamic - contexts: a pattern that is empty, or has a `*` before its end: BAD_PARAM 36
    #[test]
    fn patterns_are_checked() {
        let context = Context::new("");
        for pattern in ["", "a*b", "**", "*a"] {
            assert_eq!(context.values("", pattern, false), Err(bad_param(36)));
            assert_eq!(context.delete_values(pattern), Err(bad_param(36)));
            assert_eq!(context.properties([pattern]), Err(bad_param(36)));
        }
    }

    /// Conformance: dynamic - contexts: a child with a name that is none: BAD_PARAM 37
    #[test]
    fn names_of_children_are_checked() {
        let context = Context::new("");
        for name in ["", "a b", "a*", "ä"] {
            let child = context.create_child(name).map(drop);
            assert_eq!(child, Err(bad_param(37)));
        }
    }

    /// Conformance: dynamic - contexts: deleting one with others in it: BAD_PARAM 38
    #[test]
    fn a_context_with_others_in_it_is_deleted_with_them_or_not() {
        let root = Context::new("");
        let child = root.create_child("child").unwrap();
        let inner = child.create_child("inner").unwrap();
        assert_eq!(root.delete(false), Err(bad_param(38)));
        root.delete(true).unwrap();
        let gone = Err(ExceptionKind::ObjectNotExist.into());
        for context in [root, child, inner] {
            assert_eq!(context.set_one_value("a", "b"), gone);
            assert_eq!(context.delete(false), gone);
        }
        // One that was dropped, or deleted, is in it no more.
        let root = Context::new("");
        drop(root.create_child("child"));
        root.create_child("other").unwrap().delete(false).unwrap();
        root.delete(false).unwrap();
    }

    /// Conformance: dynamic - contexts: a search that begins in no context around: BAD_CONTEXT 1
    #[test]
    fn a_scope_is_this_context_or_one_around_it() {
        let root = Context::new("root");
        let child = root.create_child("child").unwrap();
        root.set_one_value("a", "b").unwrap();
        assert_eq!(root.values("child", "a", false), Err(bad_context(1)));
        assert_eq!(child.values("root", "a", false).map(drop), Ok(()));
    }

    /// Conformance: dynamic - contexts: no property matches: BAD_CONTEXT 2
    #[test]
    fn absent_properties_are_not_deleted() {
        let context = Context::new("");
        context
            .set_values([("a1", ""), ("a2", ""), ("b", "")])
            .unwrap();
        assert_eq!(context.delete_values("c"), Err(bad_context(2)));
        context.delete_values("a*").unwrap();
        assert_eq!(names(&context.values("", "*", false).unwrap()), ["b"]);
        // A request sends the properties that are set.
        let sent = context.properties(["b", "c", "b*"]).unwrap();
        assert_eq!(names(&sent), ["b"]);
    }
}
