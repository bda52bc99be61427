// SPDX-License-Identifier: MIT OR Apache-2.0
//! Persistent connections: each object of a service has a record in a file, and the same object key
//! after a restart.

mod file;
pub(crate) mod key;
pub(crate) mod objects;
pub(crate) mod records;
pub(crate) mod saving;
pub(crate) mod settings;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use orbium::cdr::{ByteOrder, CdrReader, CdrWriter, Decode, Encode, Format};
use orbium::giop::time::UtcTime;
use orbium::lock::Mutex;
use orbium::{Completion, ExceptionKind, SystemException};

use crate::connections::file::{OpenError, RecordFile};
use crate::connections::key::{Key, Kind, number};
use crate::connections::records::{
    AdminRecord, ChannelRecord, FactoryRecord, FilterRecord, ProxyRecord,
};
use crate::error::ServiceError;

/// The change is applied but not stored: it is lost with the process.
const NOT_STORED: SystemException =
    SystemException::new(ExceptionKind::PersistStore, 0, Completion::Yes);

/// The file of a service.
pub(crate) struct Connections {
    path: PathBuf,
    file: Mutex<RecordFile>,
    numbers: Mutex<FactoryRecord>,
}

/// The objects of a file, each after those that it refers to.
#[derive(Default)]
pub(crate) struct Saved {
    pub(crate) factory: Option<FactoryRecord>,
    pub(crate) filters: Vec<(i32, FilterRecord)>,
    pub(crate) channels: Vec<(i32, ChannelRecord)>,
    pub(crate) admins: Vec<(Key, AdminRecord)>,
    pub(crate) proxies: Vec<(Key, ProxyRecord)>,
}

impl Connections {
    /// Opens a file, or creates one.
    pub(crate) fn open(path: &Path) -> Result<(Self, Saved), ServiceError> {
        let file = RecordFile::open(path).map_err(|error| match error {
            OpenError::Io(error) => ServiceError::File {
                path: path.to_owned(),
                why: error.to_string(),
            },
            OpenError::Damaged(why) => damaged(path, why),
        })?;
        let saved = saved(&file).map_err(|why| damaged(path, why))?;
        let numbers = saved.factory.unwrap_or_else(|| FactoryRecord {
            made: UtcTime::from(SystemTime::now()).0,
            ..FactoryRecord::default()
        });
        for last in [numbers.next_channel, numbers.next_filter] {
            number(last).map_err(|why| damaged(path, why))?;
        }
        let connections = Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            numbers: Mutex::new(numbers),
        };
        Ok((connections, saved))
    }

    /// The time at which the file was created.
    pub(crate) fn made(&self) -> u64 {
        self.numbers.lock().made
    }

    /// Allocates the number of the next channel or filter, which was never used before.
    ///
    /// # Errors
    /// `PERSIST_STORE`.
    pub(crate) fn next(
        &self,
        of: impl FnOnce(&mut FactoryRecord) -> &mut i32,
    ) -> Result<i32, SystemException> {
        let mut numbers = self.numbers.lock();
        let number = of(&mut numbers);
        *number += 1;
        let number = *number;
        self.save(Key::FACTORY, &*numbers)?;
        Ok(number)
    }

    /// The error of a file with inconsistent records.
    pub(crate) fn damaged(&self, why: String) -> ServiceError {
        damaged(&self.path, why)
    }

    /// Sets the record of an object, on the disk when this returns.
    ///
    /// # Errors
    /// `PERSIST_STORE`. The file is outdated; the next change writes all of it.
    pub(crate) fn save(&self, key: Key, record: &impl Encode) -> Result<(), SystemException> {
        self.change(key, Some(encoded(record)?))
    }

    /// Removes the record of an object.
    pub(crate) fn forget(&self, key: Key) {
        // The error is logged. The next change removes the record.
        let _ = self.change(key, None);
    }

    fn change(&self, key: Key, record: Option<Box<[u8]>>) -> Result<(), SystemException> {
        let changed = self.file.lock().change(key, record);
        changed.map_err(|error| {
            let path = self.path.display();
            tracing::error!(target: "orbium::notification", %path, %error, "a change of connections was not written");
            NOT_STORED
        })
    }
}

fn damaged(path: &Path, why: String) -> ServiceError {
    ServiceError::Damaged {
        path: path.to_owned(),
        why,
    }
}

/// The encoding of records: the same on every machine.
fn format() -> Format {
    Format {
        order: ByteOrder::Little,
        ..Format::native()
    }
}

fn encoded(record: &impl Encode) -> Result<Box<[u8]>, SystemException> {
    let mut writer = CdrWriter::new(format());
    record.encode(&mut writer);
    let encoded = writer.finish();
    let encoded = encoded.map_err(|error| SystemException::from_cdr(error, Completion::Yes))?;
    Ok(encoded.into())
}

fn decoded<T: Decode>(key: Key, record: &[u8]) -> Result<T, String> {
    let mut octets = record.to_vec();
    let mut reader = CdrReader::new(&mut octets, format());
    let decoded = T::decode(&mut reader).map_err(|error| format!("{}: {error}", shown(key)))?;
    match reader.remaining() {
        0 => Ok(decoded),
        more => Err(format!("{}: {more} bytes too many", shown(key))),
    }
}

/// An object for messages.
pub(crate) fn shown(key: Key) -> String {
    format!("{:?} {} of channel {}", key.kind, key.id, key.channel)
}

fn saved(file: &RecordFile) -> Result<Saved, String> {
    let mut saved = Saved::default();
    for (key, record) in &file.records {
        let key = *key;
        match key.kind {
            Kind::Factory => saved.factory = Some(decoded(key, record)?),
            Kind::FilterFactory => return Err(format!("a record of {}", shown(key))),
            Kind::Filter => saved.filters.push((key.id, decoded(key, record)?)),
            Kind::Channel => saved.channels.push((key.id, decoded(key, record)?)),
            Kind::ConsumerAdmin | Kind::SupplierAdmin => {
                saved.admins.push((key, decoded(key, record)?));
            }
            Kind::Consumer | Kind::Supplier => saved.proxies.push((key, decoded(key, record)?)),
        }
    }
    Ok(saved)
}
