// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plain keys of objects, as in `corbaloc::host:port/Name`.

use std::sync::Arc;

use orbium_sync::lock::RwLock;

/// A plain key and the real key that it maps to.
#[derive(Debug)]
struct PlainKey {
    plain: Box<[u8]>,
    key: Arc<[u8]>,
    /// Whether clients are forwarded to the whole reference.
    forwards: bool,
}

/// Plain keys in their order. They are few: the program assigns each.
#[derive(Debug, Default)]
pub struct PlainKeys(RwLock<Vec<PlainKey>>);

fn place(keys: &[PlainKey], plain: &[u8]) -> Result<usize, usize> {
    keys.binary_search_by(|it| (*it.plain).cmp(plain))
}

impl PlainKeys {
    /// Whether clients that call by that key are to be forwarded to the whole reference.
    pub fn forwards(&self, key: &[u8]) -> bool {
        let keys = self.0.read();
        place(&keys, key).is_ok_and(|place| keys[place].forwards)
    }

    /// Maps a plain key to a real one.
    pub fn bind(&self, plain: &[u8], key: &[u8], forwards: bool) {
        let mut keys = self.0.write();
        match place(&keys, plain) {
            Ok(place) => {
                keys[place].key = key.into();
                keys[place].forwards = forwards;
            }
            Err(place) => {
                let (plain, key) = (plain.into(), key.into());
                keys.insert(
                    place,
                    PlainKey {
                        plain,
                        key,
                        forwards,
                    },
                );
            }
        }
    }

    /// The key to which a plain one maps.
    pub fn key_behind(&self, plain: &[u8]) -> Option<Arc<[u8]>> {
        let keys = self.0.read();
        let place = place(&keys, plain).ok()?;
        Some(Arc::clone(&keys[place].key))
    }
}
