// SPDX-License-Identifier: MIT OR Apache-2.0
//! A repository served by an ORB.

use std::collections::HashSet;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use orbium::{Any, Interface, Orb, SystemException};
use orbium_idl::model::Model;

use crate::corba;
use crate::database::{Database, Opened};
use crate::entry::{Body, Key, ROOT};
use crate::error::{LoadError, RepositoryError};
use crate::fault;
use crate::literal;
use crate::load;
use crate::objects::Objects;
use crate::octets::Octets;
use crate::store::Store;

/// The name of the initial reference, and the key of `corbaloc:` URLs.
pub const INTERFACE_REPOSITORY: &str = "InterfaceRepository";

/// An Interface Repository, in memory or in a file.
///
/// ```
/// use orbium::Orb;
/// use orbium_idl::{Options, compile_source};
/// use orbium_ifr::InterfaceRepository;
///
/// let orb = Orb::builder().build()?;
/// let repository = InterfaceRepository::in_memory(&orb)?;
/// let idl = "interface Greeter { string greet(in string name); };";
/// let model = compile_source(&Options::new(), "greeter.idl", idl).model.ok_or("bad IDL")?;
/// repository.load(&model)?;
///
/// let greeter = repository.reference().lookup_id("IDL:Greeter:1.0")?.ok_or("not there")?;
/// assert_eq!(greeter.absolute_name()?, "::Greeter");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct InterfaceRepository {
    objects: Objects,
    reference: corba::Repository,
}

impl InterfaceRepository {
    /// An empty repository, which is lost with the process.
    ///
    /// The ORB's initial reference `InterfaceRepository` refers to it, unless the ORB has one
    /// already, and so does the key of that name in `corbaloc:` URLs.
    ///
    /// # Errors
    /// [`RepositoryError`]: the ORB has a repository already, or is shut down.
    pub fn in_memory(orb: &Orb) -> Result<Self, RepositoryError> {
        Self::serve(orb, Store::new(new_stamp()))
    }

    /// The repository in a file, which is created if it does not exist. References to definitions
    /// remain valid if it is opened again at the same address.
    ///
    /// # Errors
    /// [`RepositoryError`]; also errors in the file.
    pub fn open(orb: &Orb, file: &Path) -> Result<Self, RepositoryError> {
        Self::of(orb, Database::open(file, new_stamp())?)
    }

    /// The repository in the bytes of such a file, for instance of one that is included in the
    /// program; an empty repository if there are none. Changes are lost with the process.
    ///
    /// ```
    /// use orbium::Orb;
    /// use orbium_ifr::{InterfaceRepository, RepositoryError};
    ///
    /// let orb = Orb::builder().build()?;
    /// let refused = InterfaceRepository::from_octets(&orb, b"not such a file".to_vec());
    /// assert!(matches!(refused, Err(RepositoryError::Database(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_octets(orb: &Orb, octets: Vec<u8>) -> Result<Self, RepositoryError> {
        Self::of(orb, Database::of_octets(Octets::new(octets), new_stamp())?)
    }

    fn of(orb: &Orb, opened: Opened) -> Result<Self, RepositoryError> {
        let store = Store::with_database(opened.stamp, opened.entries, opened.database);
        check(&store)?;
        Self::serve(orb, store)
    }

    fn serve(orb: &Orb, store: Store) -> Result<Self, RepositoryError> {
        let objects = Objects::new(store);
        objects.serve(orb)?;
        let reference = objects.root()?;
        orb.bind_key(INTERFACE_REPOSITORY, &reference)?;
        // The reference of the configuration is another repository, and remains.
        if let Err(_taken) = orb.register_initial_reference(INTERFACE_REPOSITORY, &reference) {}
        Ok(Self { objects, reference })
    }

    /// The object that clients call.
    #[must_use]
    pub fn reference(&self) -> corba::Repository {
        self.reference.clone()
    }

    /// Adds the definitions of compiled IDL, all or none, and returns the number of new ones. Equal
    /// existing definitions are unchanged.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn load(&self, model: &Model) -> Result<u32, LoadError> {
        self.objects.edit(|edit| load::load(edit, model))
    }
}

impl std::fmt::Debug for InterfaceRepository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InterfaceRepository")
            .field("reference", &self.reference.as_object().ior().type_id)
            .finish_non_exhaustive()
    }
}

/// A number that is unique among repositories.
fn new_stamp() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanoseconds = now.map_or(0, |since| since.as_nanos() as u64);
    nanoseconds ^ u64::from(std::process::id()).rotate_left(48)
}

/// The greatest key of a file, so that as many remain as the maximum number of definitions.
const LAST_KEY: Key = Key::MAX >> 1;

/// Validates the content of a file before it is used.
fn check(store: &Store) -> Result<(), RepositoryError> {
    let damaged = |why: &str| RepositoryError::Damaged(why.to_owned());
    let root = store.entry(ROOT)?;
    if root.body != Body::Repository || root.container.is_some() {
        return Err(damaged("there is no repository"));
    }
    if store.entries().any(|(key, _)| key > LAST_KEY) {
        return Err(damaged("no key is left for another definition"));
    }
    let mut seen: HashSet<Key> = HashSet::from([ROOT]);
    let mut pending = vec![ROOT];
    while let Some(scope) = pending.pop() {
        for key in &store.entry(scope)?.contents {
            let entry = store
                .entry(*key)
                .map_err(|_| damaged("a definition is missing"))?;
            let fits = store.entry(scope)?.body.may_contain(&entry.body);
            if entry.container != Some(scope) || !fits || !seen.insert(*key) {
                return Err(damaged("a definition is out of place"));
            }
            pending.push(*key);
        }
    }
    for (key, entry) in store.entries() {
        if !entry.body.is_anonymous() && !seen.contains(&key) {
            return Err(damaged("a definition is in no container"));
        }
        for other in entry.body.others() {
            store
                .entry(other)
                .map_err(|_| damaged("a definition is missing"))?;
        }
    }
    if store.has_inheritance_cycle()? {
        return Err(damaged("a definition inherits itself"));
    }
    check_types(store)
}

/// Validates the types and constants of a file.
fn check_types(store: &Store) -> Result<(), RepositoryError> {
    let damaged = |why: &str| RepositoryError::Damaged(why.to_owned());
    for (key, entry) in store.entries() {
        let is_type = entry.body.is_type() || matches!(entry.body, Body::Exception(_));
        let made = if is_type {
            store.type_of(key).map(drop)
        } else {
            Ok(())
        };
        let used = entry.body.types();
        let mut used = used.into_iter().map(|ty| store.type_code(ty).map(drop));
        made.and_then(|()| used.try_for_each(|it| it)).map_err(
            |error: SystemException| match error {
                fault::GONE => damaged("a type is missing"),
                _ => damaged("a type contains itself, or too much"),
            },
        )?;
        if let Body::Constant { ty, value } = &entry.body {
            let value = literal::constant(value).ok();
            let code = store.type_code(*ty)?;
            let fits = |it: &Any| it.type_code().equivalent(&code);
            if !literal::is_constant_type(&code) || !value.as_ref().is_some_and(fits) {
                return Err(damaged("a constant is of another type"));
            }
        }
    }
    Ok(())
}
