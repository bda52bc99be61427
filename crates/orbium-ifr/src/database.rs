// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions in a file: a change of the repository is also one transaction of the database.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use redb::{DatabaseError, ReadableTable, TableDefinition};

use crate::entry::{Entry, Key};
use crate::error::RepositoryError;
use crate::octets::Octets;

const ENTRIES: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("entries");
const REPOSITORY: TableDefinition<'_, &str, u64> = TableDefinition::new("repository");

/// The version of the format of entries.
const FORMAT: u64 = 1;

/// The file of a repository.
pub(crate) struct Database(redb::Database);

/// The content of a file.
pub(crate) struct Opened {
    pub(crate) database: Database,
    /// Distinguishes the references of this repository from those of others.
    pub(crate) stamp: u64,
    pub(crate) entries: Vec<(Key, Entry)>,
}

fn failed(error: impl Display) -> RepositoryError {
    RepositoryError::Database(error.to_string())
}

/// The error if the engine panics.
fn unreadable() -> RepositoryError {
    RepositoryError::Damaged("it cannot be read".to_owned())
}

impl Database {
    /// Opens a file, or creates one, with `stamp` if it is new.
    pub(crate) fn open(path: &Path, stamp: u64) -> Result<Opened, RepositoryError> {
        Self::opened(|| redb::Database::create(path), stamp)
    }

    /// Opens the bytes of such a file; a new one if there are none.
    pub(crate) fn of_octets(octets: Octets, stamp: u64) -> Result<Opened, RepositoryError> {
        let create = || redb::Database::builder().create_with_backend(octets);
        Self::opened(create, stamp)
    }

    /// The engine panics on the bytes of some files that it did not write.
    fn opened(
        create: impl FnOnce() -> Result<redb::Database, DatabaseError>,
        stamp: u64,
    ) -> Result<Opened, RepositoryError> {
        let read = || Self::read(create().map_err(failed)?, stamp);
        catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(unreadable()))
    }

    fn read(database: redb::Database, stamp: u64) -> Result<Opened, RepositoryError> {
        let stamp = marked(&database, stamp)?;
        let read = database.begin_read().map_err(failed)?;
        let table = read.open_table(ENTRIES).map_err(failed)?;
        let mut entries = Vec::new();
        for row in table.iter().map_err(failed)? {
            let (key, value) = row.map_err(failed)?;
            let entry = serde_json::from_slice(value.value());
            let entry = entry.map_err(|error| RepositoryError::Damaged(error.to_string()))?;
            entries.push((key.value(), entry));
        }
        let database = Self(database);
        Ok(Opened {
            database,
            stamp,
            entries,
        })
    }

    /// Writes entries, and deletes those that are `None`.
    pub(crate) fn write<'e>(
        &self,
        changed: impl Iterator<Item = (Key, Option<&'e Entry>)>,
    ) -> Result<(), RepositoryError> {
        let write = || self.write_all(changed);
        catch_unwind(AssertUnwindSafe(write)).unwrap_or_else(|_| Err(unreadable()))
    }

    fn write_all<'e>(
        &self,
        changed: impl Iterator<Item = (Key, Option<&'e Entry>)>,
    ) -> Result<(), RepositoryError> {
        let transaction = self.0.begin_write().map_err(failed)?;
        {
            let mut table = transaction.open_table(ENTRIES).map_err(failed)?;
            for (key, entry) in changed {
                match entry {
                    Some(entry) => {
                        let text = serde_json::to_vec(entry).map_err(failed)?;
                        table.insert(key, &*text).map_err(failed)?;
                    }
                    None => {
                        table.remove(key).map_err(failed)?;
                    }
                }
            }
        }
        transaction.commit().map_err(failed)
    }
}

/// The stamp of a database; a new one gets `stamp`.
fn marked(database: &redb::Database, stamp: u64) -> Result<u64, RepositoryError> {
    let transaction = database.begin_write().map_err(failed)?;
    let stamp = {
        transaction.open_table(ENTRIES).map_err(failed)?;
        let mut table = transaction.open_table(REPOSITORY).map_err(failed)?;
        let number = |name: &str| -> Result<Option<u64>, RepositoryError> {
            let found = table.get(name).map_err(failed)?;
            Ok(found.map(|it| it.value()))
        };
        match (number("format")?, number("stamp")?) {
            (None, None) => {
                table.insert("format", FORMAT).map_err(failed)?;
                table.insert("stamp", stamp).map_err(failed)?;
                stamp
            }
            (Some(FORMAT), Some(stamp)) => stamp,
            _ => return Err(RepositoryError::Damaged("unknown format".to_owned())),
        }
    };
    transaction.commit().map_err(failed)?;
    Ok(stamp)
}
