// SPDX-License-Identifier: MIT OR Apache-2.0
//! Storage of all definitions, changed in transactions.

use std::collections::{BTreeMap, HashMap};

use orbium::TypeCode;
use orbium::lock::Mutex;

use crate::database::Database;
use crate::entry::{Body, Entry, InterfaceKind, Key, ROOT, TypeDef};
use crate::fault;
use crate::fault::Result;

/// Maximum number of definitions and anonymous types of one repository.
const MAX_ENTRIES: usize = 1_000_000;

/// Maximum number of bases, direct and indirect, of one interface or value.
const MAX_BASES: usize = 1000;

/// A complete TypeCode, and its parts.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) code: TypeCode,
    pub(crate) parts: u64,
}

/// The bases of an interface or value.
#[derive(Default)]
pub(crate) struct Inheritance {
    /// The nearest first, each once.
    pub(crate) bases: Vec<Key>,
    /// Whether it is its own base.
    pub(crate) is_cyclic: bool,
    /// The number of references to bases, repetitions included: the cost of finding them.
    pub(crate) edges: usize,
}

/// All definitions.
pub(crate) struct Store {
    entries: BTreeMap<Key, Entry>,
    by_id: HashMap<String, Key>,
    next: Key,
    /// Distinguishes the references of this repository from those of others.
    pub(crate) stamp: u64,
    /// The entries that the open transaction has replaced.
    undo: BTreeMap<Key, Option<Entry>>,
    /// TypeCodes that were built since the last change.
    pub(crate) made: Mutex<HashMap<Key, Made>>,
    database: Option<Database>,
}

impl Store {
    /// An empty repository in memory.
    pub(crate) fn new(stamp: u64) -> Self {
        let root = Entry::anonymous(Body::Repository);
        Self {
            entries: BTreeMap::from([(ROOT, root)]),
            by_id: HashMap::new(),
            next: ROOT + 1,
            stamp,
            undo: BTreeMap::new(),
            made: Mutex::default(),
            database: None,
        }
    }

    /// A repository that writes every transaction to a database, with the entries of the database.
    pub(crate) fn with_database(
        stamp: u64,
        entries: impl IntoIterator<Item = (Key, Entry)>,
        database: Database,
    ) -> Self {
        let mut store = Self::new(stamp);
        for (key, entry) in entries {
            store.put(key, entry);
        }
        store.undo.clear();
        store.database = Some(database);
        store
    }

    /// Changes the store and the database in a transaction, or leaves both unchanged.
    pub(crate) fn change<T, E: From<orbium::SystemException>>(
        &mut self,
        work: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let next = self.next;
        let done = work(self).and_then(|done| {
            self.write().map_err(E::from)?;
            Ok(done)
        });
        let undo = std::mem::take(&mut self.undo);
        if done.is_err() {
            for (key, entry) in undo {
                match entry {
                    Some(entry) => self.put(key, entry),
                    None => self.remove(key),
                }
            }
            self.undo.clear();
            self.next = next;
        }
        done
    }

    fn write(&mut self) -> Result<()> {
        let Some(database) = &self.database else {
            return Ok(());
        };
        let changed = self.undo.keys().map(|key| (*key, self.entries.get(key)));
        database.write(changed).map_err(|_| fault::NOT_STORED)
    }

    fn put(&mut self, key: Key, entry: Entry) {
        if !entry.id.is_empty() {
            self.by_id.insert(entry.id.clone(), key);
        }
        self.next = self.next.max(key.saturating_add(1));
        self.forget_types();
        let before = self.entries.insert(key, entry);
        if let Some(before) = &before
            && before.id != self.entries[&key].id
        {
            self.remove_id(&before.id, key);
        }
        self.undo.entry(key).or_insert(before);
    }

    /// Removes an entry alone; its container still lists it.
    pub(crate) fn remove(&mut self, key: Key) {
        self.forget_types();
        let before = self.entries.remove(&key);
        if let Some(before) = &before {
            self.remove_id(&before.id, key);
        }
        self.undo.entry(key).or_insert(before);
    }

    fn forget_types(&mut self) {
        self.made.get_mut().clear();
    }

    /// Adds an entry without changing its container.
    pub(crate) fn insert(&mut self, entry: Entry) -> Result<Key> {
        if self.entries.len() >= MAX_ENTRIES {
            return Err(fault::TOO_LARGE);
        }
        let key = self.next;
        self.put(key, entry);
        Ok(key)
    }

    /// Changes an entry. The first change in a transaction copies it, later ones do not.
    pub(crate) fn update(&mut self, key: Key, change: impl FnOnce(&mut Entry)) -> Result<()> {
        let entry = self.entries.get_mut(&key).ok_or(fault::GONE)?;
        self.undo.entry(key).or_insert_with(|| Some(entry.clone()));
        let id = entry.id.clone();
        change(entry);
        if entry.id != id {
            let new = entry.id.clone();
            self.remove_id(&id, key);
            if !new.is_empty() {
                self.by_id.insert(new, key);
            }
        }
        self.forget_types();
        Ok(())
    }

    /// Removes a repository id, if it is that of an entry.
    fn remove_id(&mut self, id: &str, key: Key) {
        if self.by_id.get(id) == Some(&key) {
            self.by_id.remove(id);
        }
    }

    pub(crate) fn entry(&self, key: Key) -> Result<&Entry> {
        self.entries.get(&key).ok_or(fault::GONE)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (Key, &Entry)> {
        self.entries.iter().map(|(key, entry)| (*key, entry))
    }

    pub(crate) fn with_id(&self, id: &str) -> Option<Key> {
        self.by_id.get(id).copied()
    }

    /// The scoped name from the repository on, such as `::M::I`.
    pub(crate) fn absolute_name(&self, key: Key) -> Result<String> {
        let mut path = Vec::new();
        let mut scope = key;
        while let Some(container) = self.entry(scope)?.container {
            path.push(self.entry(scope)?.name.as_str());
            scope = container;
        }
        Ok(path.iter().rev().map(|name| format!("::{name}")).collect())
    }

    /// The id of the container; empty if that is the repository.
    pub(crate) fn defined_in(&self, key: Key) -> Result<&str> {
        match self.entry(key)?.container {
            Some(container) => Ok(&self.entry(container)?.id),
            None => Ok(""),
        }
    }

    /// The direct bases: those of a value include the interfaces that it supports.
    fn bases(&self, key: Key) -> Result<Vec<Key>> {
        Ok(match &self.entry(key)?.body {
            Body::Interface { bases, .. } => bases.clone(),
            Body::Value(value) => {
                let mut bases: Vec<Key> = value.base.into_iter().collect();
                bases.extend(&value.abstract_bases);
                bases.extend(&value.supports);
                bases
            }
            _ => Vec::new(),
        })
    }

    /// All bases of an interface or value, the nearest first, each once.
    ///
    /// # Errors
    /// IMP_LIMIT: there are more than [`MAX_BASES`].
    pub(crate) fn all_bases(&self, key: Key) -> Result<Vec<Key>> {
        self.inheritance(key).map(|it| it.bases)
    }

    /// As [`Store::all_bases`], with the result of checks of the graph.
    pub(crate) fn inheritance(&self, key: Key) -> Result<Inheritance> {
        let mut all = Inheritance::default();
        let mut seen = std::collections::HashSet::from([key]);
        let mut pending = self.bases(key)?;
        pending.reverse();
        while let Some(base) = pending.pop() {
            all.edges += 1;
            all.is_cyclic |= base == key;
            if seen.insert(base) {
                if all.bases.len() >= MAX_BASES {
                    return Err(fault::TOO_LARGE);
                }
                all.bases.push(base);
                pending.extend(self.bases(base)?.into_iter().rev());
            }
        }
        Ok(all)
    }

    /// Whether any interface or value inherits itself, which no change may cause.
    pub(crate) fn has_inheritance_cycle(&self) -> Result<bool> {
        let mut derived: HashMap<Key, usize> = HashMap::new();
        for key in self.entries.keys() {
            for base in self.bases(*key)? {
                *derived.entry(base).or_default() += 1;
            }
        }
        // Without the entries that no other one inherits, and so on, only cycles remain.
        let keys = self.entries.keys().copied();
        let mut pending: Vec<Key> = keys.filter(|key| !derived.contains_key(key)).collect();
        while let Some(key) = pending.pop() {
            for base in self.bases(key)? {
                let left = derived.entry(base).or_default();
                *left = left.saturating_sub(1);
                if *left == 0 {
                    derived.remove(&base);
                    pending.push(base);
                }
            }
        }
        Ok(!derived.is_empty())
    }

    /// Whether an interface or value is, or inherits, the one with that id.
    pub(crate) fn is_a(&self, key: Key, id: &str) -> Result<bool> {
        let is_universal = match &self.entry(key)?.body {
            Body::Value(_) => id == "IDL:omg.org/CORBA/ValueBase:1.0",
            Body::Interface { kind, .. } => {
                id == orbium::reference::OBJECT_REPOSITORY_ID && *kind != InterfaceKind::Abstract
                    || id == "IDL:omg.org/CORBA/AbstractBase:1.0"
                        && *kind == InterfaceKind::Abstract
            }
            _ => return Ok(false),
        };
        if is_universal {
            return Ok(true);
        }
        let Some(wanted) = self.with_id(id) else {
            return Ok(false);
        };
        Ok(wanted == key || self.all_bases(key)?.contains(&wanted))
    }

    /// The users of each entry: by a type, or as a base or an exception.
    pub(crate) fn users(&self) -> HashMap<Key, Vec<Key>> {
        let mut users: HashMap<Key, Vec<Key>> = HashMap::new();
        for (user, entry) in self.entries() {
            let types = entry.body.types().into_iter();
            let types = types.filter_map(|ty| match ty {
                TypeDef::Entry(key) => Some(key),
                TypeDef::Primitive(_) => None,
            });
            for key in types.chain(entry.body.others()) {
                users.entry(key).or_default().push(user);
            }
        }
        users
    }

    /// The contents of a container: its own definitions in order, then inherited ones.
    pub(crate) fn contents(&self, key: Key, exclude_inherited: bool) -> Result<Vec<Key>> {
        let mut contents = self.entry(key)?.contents.clone();
        if !exclude_inherited {
            for base in self.all_bases(key)? {
                contents.extend(&self.entry(base)?.contents);
            }
        }
        Ok(contents)
    }

    /// Resolves a scoped name in a container.
    pub(crate) fn lookup(&self, key: Key, name: &str) -> Result<Option<Key>> {
        let (mut scope, name) = match name.strip_prefix("::") {
            Some(name) => (ROOT, name),
            None => (key, name),
        };
        for part in name.split("::") {
            let contents = self.contents(scope, false)?;
            let mut named = contents.into_iter().filter_map(|key| {
                let entry = self.entries.get(&key)?;
                (entry.name == part).then_some(key)
            });
            match named.next() {
                Some(found) => scope = found,
                None => return Ok(None),
            }
        }
        Ok((scope != ROOT && !name.is_empty()).then_some(scope))
    }

    /// The members of a value's state.
    pub(crate) fn state(&self, key: Key) -> Result<Vec<(Key, &Entry, TypeDef, bool)>> {
        let mut state = Vec::new();
        for member in &self.entry(key)?.contents {
            let entry = self.entry(*member)?;
            if let Body::ValueMember { ty, public } = entry.body {
                state.push((*member, entry, ty, public));
            }
        }
        Ok(state)
    }
}
