// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of cycles.

use orbium_cdr::{CdrWriter, Format};

use crate::ValueBase;
use crate::wire::write::{Written, write_value};

impl ValueBase {
    /// Resets every value that can be reached from this one, including itself: their states are
    /// then those of new values, and values to which only they have handles are freed.
    ///
    /// Values are reference-counted: those of a cycle refer to one another, and are freed only once
    /// the cycle is broken, by this or by a change of their state.
    ///
    /// ```
    /// # use orbium_value::idl_value;
    /// # idl_value! {
    /// #     /// A link of a chain.
    /// #     pub struct Link(LinkState): LINK_TYPE = "IDL:Link:1.0", Plain, [] {
    /// #         public next: Option<Link> = &LINK_TYPE,
    /// #     }
    /// # }
    /// let link = Link::new(LinkState { next: None });
    /// link.write().next = Some(link.clone());
    /// link.unlink();
    /// assert_eq!(link.read().next, None);
    /// ```
    pub fn unlink(&self) {
        let mut pending = vec![self.clone()];
        while let Some(value) = pending.pop() {
            // Writing it visits all values that it refers to.
            let mut writer = CdrWriter::new(Format::native());
            write_value(Some(&value), value.class(), &mut writer);
            let written: &mut Written = writer.message_state();
            let mut written = core::mem::take(written);
            pending.append(&mut written.unwritten);
            // All are kept until the last is reset: none is dropped within another's lock.
            let values: Vec<_> = written.into_values().collect();
            for value in &values {
                value.reset();
            }
        }
    }
}
