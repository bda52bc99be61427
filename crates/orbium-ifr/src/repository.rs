// SPDX-License-Identifier: MIT OR Apache-2.0
//! A repository that an ORB serves.

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
    /// An empty repository, gone with the process.
    ///
    /// The ORB's initial reference `InterfaceRepository` leads to it unless it has one, and so
    /// does the key of that name in `corbaloc:` URLs.
    ///
    /// # Errors
    /// [`RepositoryError`]: the ORB has a repository already, or is shut down.
    pub fn in_memory(orb: &Orb) -> Result<Self, RepositoryError> {
        Self::serve(orb, Store::new(new_stamp()))
    }

    /// The repository in a file, which is made if there is none. References to definitions stay
    /// good if it is opened again at the same address.
    ///
    /// # Errors
    /// [`RepositoryError`]; also what is wrong with the file.
    pub fn open(orb: &Orb, file: &Path) -> Result<Self, RepositoryError> {
        Self::of(orb, Database::open(file, new_stamp())?)
    }

    /// The repository in the octets of such a file, as a program has that includes one; an empty
    /// repository if there are none. What is changed is gone with the process.
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
        // The configuration's own is another repository, and stays.
        if let Err(_taken) = orb.register_initial_reference(INTERFACE_REPOSITORY, &reference) {}
        Ok(Self { objects, reference })
    }

    /// The object that clients call.
    #[must_use]
    pub fn reference(&self) -> corba::Repository {
        self.reference.clone()
    }

    /// Adds what compiled IDL defines, all of it or nothing, and returns how many definitions are
    /// new. What is there already, and the same, stays as it is.
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

/// A number that no other repository has.
fn new_stamp() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanoseconds = now.map_or(0, |since| since.as_nanos() as u64);
    nanoseconds ^ u64::from(std::process::id()).rotate_left(48)
}

/// The greatest key of a file: as many are left as any repository has definitions.
const LAST_KEY: Key = Key::MAX >> 1;

/// Checks what was read from a file, before anything follows it.
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
        if store.inherits_itself(key)? {
            return Err(damaged("a definition inherits itself"));
        }
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
