// SPDX-License-Identifier: MIT OR Apache-2.0
//! Components and connectors: the equivalent interface (CORBA 3.3 Part 3, 6.3.2; IDL 4, 7.4.11).

use crate::cursor::{Cursor, write};
use crate::expander::Expander;
use crate::expansion::Token;
use crate::port::Ports;

impl<'a> Expander<'a> {
    /// `interface NAME : BASE, SUPPORTED { ports as operations, attributes };`
    pub(crate) fn component(&mut self, cursor: &mut Cursor<'_, 'a>) -> Option<Vec<Token<'a>>> {
        cursor.expect("component")?;
        let name = cursor.name()?;
        if cursor.eat(";") {
            let mut out = Vec::new();
            write(&mut out, name.at, &format!("interface {} ;", name.text));
            return Some(out);
        }
        let mut bases = vec![base(cursor)?];
        bases.append(&mut cursor.scoped_names_behind("supports")?);
        self.equivalent(name, &bases, cursor)
    }

    /// The same for a connector, which connects ports of components (IDL 4, 7.4.11).
    pub(crate) fn connector(&mut self, cursor: &mut Cursor<'_, 'a>) -> Option<Vec<Token<'a>>> {
        cursor.expect("connector")?;
        let name = cursor.name()?;
        let bases = [base(cursor)?];
        self.equivalent(name, &bases, cursor)
    }

    /// A connector without the base of its interface, as module `Components` is not declared.
    pub(crate) fn connector_without_base(
        &mut self,
        cursor: &mut Cursor<'_, 'a>,
    ) -> Option<Vec<Token<'a>>> {
        cursor.expect("connector")?;
        let name = cursor.name()?;
        base(cursor)?;
        cursor.braced()?;
        let message = format!(
            "the connector `{}` is left out: its interface needs `Components.idl`, which is not included",
            name.text
        );
        self.note(name, &message);
        Some(Vec::new())
    }

    /// The interface, with the ports of the following body.
    fn equivalent(
        &mut self,
        name: &Token<'a>,
        bases: &[String],
        cursor: &mut Cursor<'_, 'a>,
    ) -> Option<Vec<Token<'a>>> {
        let mut out = Vec::new();
        let head = format!("interface {} : {} {{", name.text, bases.join(" , "));
        write(&mut out, name.at, &head);
        let body = cursor.braced()?;
        Ports::of(self).expand(body, &mut out)?;
        write(&mut out, name.at, "} ;");
        Some(out)
    }
}

/// The name behind `:`, or the default base.
fn base(cursor: &mut Cursor<'_, '_>) -> Option<String> {
    let base = cursor.scoped_behind(":")?;
    Some(base.unwrap_or_else(|| ":: Components :: CCMObject".to_owned()))
}
