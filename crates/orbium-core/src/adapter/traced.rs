// SPDX-License-Identifier: MIT OR Apache-2.0
//! Active objects as shown by the spans of their requests.

use orbium_request::spans::{ServedObject, ServedObjects};

use crate::adapter::{ActiveObject, Adapters};

impl ServedObject for ActiveObject {
    fn adapter_path(&self) -> String {
        self.adapter_path()
    }

    fn repository_id(&self) -> &'static str {
        self.servant.repository_id()
    }

    fn lane(&self) -> u32 {
        self.lane()
    }
}

impl ServedObjects for Adapters {
    fn look_up(&self, key: &[u8], see: &mut dyn FnMut(Option<&dyn ServedObject>)) {
        let found = self.registry.find(key);
        let object = found.as_ref().ok().map(|found| &**found);
        see(object.map(|object| object as &dyn ServedObject));
    }
}
