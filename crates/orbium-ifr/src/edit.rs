// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of the repository, with the checks that the specification requires.

use std::collections::{HashMap, HashSet};

use orbium::{Any, Interface};
use orbium_dynamic::{is_identifier, is_repository_id};

use crate::corba::{self, PrimitiveKind};
use crate::entry::{Body, Case, Entry, Key, Member, TypeDef};
use crate::fault;
use crate::fault::Result;
use crate::literal;
use crate::references::{References, primitive_of};
use crate::store::Store;
use crate::view::View;

/// Maximum bytes of a name, id or version.
const MAX_NAME_LENGTH: usize = 4096;

/// An open transaction.
pub(crate) struct Edit<'s> {
    pub(crate) references: &'s References,
    pub(crate) store: &'s mut Store,
}

/// The common first arguments of `create_` operations.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
}

impl Edit<'_> {
    pub(crate) fn view(&self) -> View<'_> {
        let (references, store) = (self.references, &*self.store);
        View { references, store }
    }

    pub(crate) fn reference<I: Interface>(&self, key: Key) -> Result<Option<I>> {
        self.view().reference(key)
    }

    /// The type of an argument.
    pub(crate) fn ty(&self, argument: Option<&corba::IdlType>) -> Result<TypeDef> {
        let object = argument.map(Interface::as_object);
        self.references.type_of(self.store, object)
    }

    /// The definition of an argument, if `is_fit` accepts it.
    pub(crate) fn key<I: Interface>(
        &self,
        argument: Option<&I>,
        is_fit: impl Fn(&Body) -> bool,
    ) -> Result<Key> {
        let object = argument.ok_or(fault::BAD_ARGUMENT)?.as_object();
        let key = self.references.key_of(self.store, object)?;
        let body = &self.store.entry(key).map_err(|_| fault::BAD_ARGUMENT)?.body;
        if is_fit(body) {
            Ok(key)
        } else {
            Err(fault::BAD_ARGUMENT)
        }
    }

    /// The definitions of arguments, all of them different.
    pub(crate) fn keys<I: Interface>(
        &self,
        arguments: &[Option<I>],
        is_fit: impl Fn(&Body) -> bool,
    ) -> Result<Vec<Key>> {
        let keys = arguments.iter();
        let keys = keys.map(|argument| self.key(argument.as_ref(), &is_fit));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        let different: HashSet<_> = keys.iter().collect();
        if different.len() == keys.len() {
            Ok(keys)
        } else {
            Err(fault::BAD_ARGUMENT)
        }
    }

    pub(crate) fn members(&self, members: &[corba::StructMember]) -> Result<Vec<Member>> {
        let mut made = Vec::with_capacity(members.len());
        for member in members {
            let ty = self.member_type(member.type_def.as_ref())?;
            let name = member.name.clone();
            made.push(Member { name, ty });
        }
        check_names(made.iter().map(|it| &*it.name))?;
        Ok(made)
    }

    /// The type of a member, element or alias: not `void`, not an exception.
    pub(crate) fn member_type(&self, argument: Option<&corba::IdlType>) -> Result<TypeDef> {
        let ty = self.ty(argument)?;
        if ty.is(PrimitiveKind::PkVoid) || ty.is(PrimitiveKind::PkNull) {
            Err(fault::BAD_MEMBER_TYPE)
        } else {
            Ok(ty)
        }
    }

    pub(crate) fn cases(
        &self,
        discriminator: TypeDef,
        members: &[corba::UnionMember],
    ) -> Result<Vec<Case>> {
        let code = self.store.type_code(discriminator)?;
        // The TypeCode of an empty union exists only for a valid discriminator type.
        if orbium::TypeCode::union("", "", code.clone(), []).is_none() {
            return Err(fault::BAD_DISCRIMINATOR);
        }
        let mut labels = HashSet::new();
        let mut cases: Vec<Case> = Vec::with_capacity(members.len());
        for member in members {
            let label = literal::label_value(&code, &member.label)?;
            if !labels.insert(label) {
                return Err(fault::LABEL_TWICE);
            }
            let ty = self.member_type(member.type_def.as_ref())?;
            let name = member.name.clone();
            cases.push(Case { label, name, ty });
        }
        // Several labels of one member are adjacent.
        let mut names = Vec::new();
        for case in &cases {
            if names.last() != Some(&&*case.name) {
                names.push(&*case.name);
            }
        }
        check_names(names.into_iter())?;
        Ok(cases)
    }

    /// The value of a constant of a type.
    pub(crate) fn constant(&self, ty: TypeDef, value: &Any) -> Result<Vec<u8>> {
        let code = self.store.type_code(ty)?;
        if !literal::is_constant_type(&code) || !value.type_code().equivalent(&code) {
            return Err(fault::BAD_ARGUMENT);
        }
        literal::stored(value)
    }

    /// Adds a definition to a container.
    pub(crate) fn create(&mut self, container: Key, named: Named<'_>, body: Body) -> Result<Key> {
        check_id(named.id)?;
        check_name(named.name)?;
        check_length(named.version)?;
        if self.store.with_id(named.id).is_some() {
            return Err(fault::ID_IN_USE);
        }
        self.check_place(container, named.name, &body, None)?;
        let key = self.store.insert(Entry {
            name: named.name.to_owned(),
            id: named.id.to_owned(),
            version: named.version.to_owned(),
            container: Some(container),
            contents: Vec::new(),
            body,
        })?;
        self.store.update(container, |it| it.contents.push(key))?;
        self.check(key)?;
        Ok(key)
    }

    /// Checks that a container may contain a definition of that name.
    fn check_place(
        &self,
        container: Key,
        name: &str,
        body: &Body,
        moved: Option<Key>,
    ) -> Result<()> {
        let scope = self.store.entry(container)?;
        if !scope.body.may_contain(body) {
            return Err(fault::BAD_CONTAINER);
        }
        let has = |container: Key| -> Result<bool> {
            for key in &self.store.entry(container)?.contents {
                let other = self.store.entry(*key)?;
                if Some(*key) != moved && other.name.eq_ignore_ascii_case(name) {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        if has(container)? {
            return Err(fault::NAME_IN_USE);
        }
        for base in self.store.all_bases(container)? {
            if has(base)? {
                return Err(fault::INHERITED_NAME);
            }
        }
        Ok(())
    }

    /// Checks a changed definition: its type, its bases, its inherited names. Returns the number of
    /// bases and inherited definitions that it has visited.
    pub(crate) fn check(&self, key: Key) -> Result<usize> {
        let entry = self.store.entry(key)?;
        let visited = self.check_bases(key)?;
        for ty in entry.body.types() {
            self.store.type_code(ty)?;
        }
        if entry.body.is_type() || matches!(entry.body, Body::Exception(_)) {
            self.store.type_of(key)?;
        }
        Ok(visited)
    }

    /// Checks that an interface or value inherits neither itself, nor a name twice. Returns the
    /// number of visited bases and inherited definitions.
    fn check_bases(&self, key: Key) -> Result<usize> {
        let inheritance = self.store.inheritance(key)?;
        if inheritance.is_cyclic {
            return Err(fault::INCOMPLETE);
        }
        let mut visited = inheritance.edges;
        if visited == 0 {
            return Ok(0);
        }
        let mut names = HashSet::new();
        for content in &self.store.entry(key)?.contents {
            names.insert(self.store.entry(*content)?.name.to_ascii_lowercase());
        }
        for base in inheritance.bases {
            let contents = &self.store.entry(base)?.contents;
            visited += contents.len();
            for content in contents {
                let inherited = self.store.entry(*content)?;
                let is_feature = matches!(inherited.body, Body::Operation(_) | Body::Attribute(_));
                let name = inherited.name.to_ascii_lowercase();
                // Two bases may have types of one name, but no operations.
                if names.contains(&name) && is_feature {
                    return Err(fault::INHERITED_NAME);
                }
                if is_feature {
                    names.insert(name);
                }
            }
        }
        Ok(visited)
    }

    /// Changes the body of a definition, and removes its unused anonymous types.
    pub(crate) fn set(&mut self, key: Key, change: impl FnOnce(&mut Body)) -> Result<()> {
        let before = self.store.entry(key)?.body.types();
        self.store.update(key, |entry| change(&mut entry.body))?;
        self.check(key)?;
        self.check_users()?;
        self.collect(before);
        Ok(())
    }

    /// Checks that no type contains itself, or is too large.
    pub(crate) fn check_users(&self) -> Result<()> {
        for (key, entry) in self.store.entries() {
            if entry.body.is_type() || matches!(entry.body, Body::Exception(_)) {
                self.store.type_of(key)?;
            }
        }
        Ok(())
    }

    /// The entry of a type, if it is anonymous.
    fn anonymous(&self, ty: TypeDef) -> Option<(Key, &Entry)> {
        let TypeDef::Entry(key) = ty else { return None };
        let entry = self.store.entry(key).ok()?;
        entry.body.is_anonymous().then_some((key, entry))
    }

    /// Removes those anonymous types without references to them.
    fn collect(&mut self, types: Vec<TypeDef>) {
        let mut pending = types;
        pending.retain(|ty| self.anonymous(*ty).is_some());
        if pending.is_empty() {
            return;
        }
        let mut uses: HashMap<Key, usize> = HashMap::new();
        for (_, entry) in self.store.entries() {
            for ty in entry.body.types() {
                if let TypeDef::Entry(key) = ty {
                    *uses.entry(key).or_default() += 1;
                }
            }
        }
        while let Some(ty) = pending.pop() {
            // A type that occurs twice is removed at the first time.
            let Some((key, entry)) = self.anonymous(ty) else {
                continue;
            };
            if uses.get(&key).is_some_and(|uses| *uses > 0) {
                continue;
            }
            let parts = entry.body.types();
            self.store.remove(key);
            for part in parts {
                if let TypeDef::Entry(key) = part
                    && let Some(uses) = uses.get_mut(&key)
                {
                    *uses -= 1;
                    pending.push(part);
                }
            }
        }
    }

    pub(crate) fn destroy(&mut self, key: Key) -> Result<()> {
        if primitive_of(key).is_some() || key == crate::entry::ROOT {
            return Err(fault::INDESTRUCTIBLE);
        }
        let mut doomed = HashSet::from([key]);
        let mut pending = vec![key];
        while let Some(key) = pending.pop() {
            for content in &self.store.entry(key)?.contents {
                doomed.insert(*content);
                pending.push(*content);
            }
        }
        self.doom_anonymous(&mut doomed)?;
        if let Some(container) = self.store.entry(key)?.container {
            self.store
                .update(container, |it| it.contents.retain(|it| *it != key))?;
        }
        for key in doomed {
            self.store.remove(key);
        }
        Ok(())
    }

    /// Adds the anonymous types that are used only by doomed definitions.
    ///
    /// # Errors
    /// BAD_INV_ORDER 1: a definition that is to stay depends on a doomed one.
    fn doom_anonymous(&self, doomed: &mut HashSet<Key>) -> Result<()> {
        let users = self.store.users();
        let users_of = |key: Key| users.get(&key).map_or(&[][..], Vec::as_slice);
        // First those that depend on it, then those without other dependants.
        let mut pending: Vec<Key> = doomed.iter().copied().collect();
        while let Some(key) = pending.pop() {
            for user in users_of(key) {
                if doomed.contains(user) {
                    continue;
                }
                if !self.store.entry(*user)?.body.is_anonymous() {
                    return Err(fault::IN_USE);
                }
                doomed.insert(*user);
                pending.push(*user);
            }
        }
        pending.extend(doomed.iter());
        while let Some(key) = pending.pop() {
            for ty in self.store.entry(key)?.body.types() {
                let TypeDef::Entry(ty) = ty else { continue };
                if self.store.entry(ty).is_ok_and(|it| it.body.is_anonymous())
                    && users_of(ty).iter().all(|user| doomed.contains(user))
                    && doomed.insert(ty)
                {
                    pending.push(ty);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn set_id(&mut self, key: Key, id: &str) -> Result<()> {
        check_id(id)?;
        if self.store.with_id(id).is_some_and(|other| other != key) {
            return Err(fault::ID_IN_USE);
        }
        self.store.update(key, |it| it.id = id.to_owned())
    }

    pub(crate) fn set_name(&mut self, key: Key, name: &str) -> Result<()> {
        let container = self.store.entry(key)?.container;
        self.relocate(key, container.ok_or(fault::GONE)?, name)
    }

    pub(crate) fn set_version(&mut self, key: Key, version: &str) -> Result<()> {
        check_length(version)?;
        self.store.update(key, |it| it.version = version.to_owned())
    }

    /// Moves a definition to another container, or renames it.
    pub(crate) fn relocate(&mut self, key: Key, container: Key, name: &str) -> Result<()> {
        check_name(name)?;
        let mut scope = Some(container);
        while let Some(inner) = scope {
            if inner == key {
                return Err(fault::BAD_CONTAINER);
            }
            scope = self.store.entry(inner)?.container;
        }
        let body = self.store.entry(key)?.body.clone();
        self.check_place(container, name, &body, Some(key))?;
        let before = self.store.entry(key)?.container;
        if before != Some(container) {
            if let Some(before) = before {
                self.store
                    .update(before, |it| it.contents.retain(|it| *it != key))?;
            }
            self.store.update(container, |it| it.contents.push(key))?;
        }
        self.store.update(key, |it| {
            it.name = name.to_owned();
            it.container = Some(container);
        })?;
        self.check_users()
    }
}

pub(crate) fn is_exception(body: &Body) -> bool {
    matches!(body, Body::Exception(_))
}

fn check_length(text: &str) -> Result<()> {
    if text.len() <= MAX_NAME_LENGTH {
        Ok(())
    } else {
        Err(fault::TOO_LARGE)
    }
}

pub(crate) fn check_id(id: &str) -> Result<()> {
    check_length(id)?;
    if is_repository_id(id) {
        Ok(())
    } else {
        Err(fault::BAD_ID)
    }
}

pub(crate) fn check_name(name: &str) -> Result<()> {
    check_length(name)?;
    if is_identifier(name) {
        Ok(())
    } else {
        Err(fault::BAD_NAME)
    }
}

/// Members and enumerators have different names, ignoring case.
pub(crate) fn check_names<'n>(names: impl Iterator<Item = &'n str>) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        check_name(name).map_err(|_| fault::BAD_MEMBER)?;
        if !seen.insert(name.to_ascii_lowercase()) {
            return Err(fault::BAD_MEMBER);
        }
    }
    Ok(())
}
