// SPDX-License-Identifier: MIT OR Apache-2.0
//! Components: the equivalent interface (CORBA 3.3 Part 3, 6.3.2).

use crate::cursor::{Cursor, write};
use crate::expander::Expander;
use crate::expansion::Token;
use crate::port::Ports;

impl<'a> Expander<'a> {
    /// `interface NAME : BASE, SUPPORTED { ports as operations, attributes };`
    pub(crate) fn component(&mut self, cursor: &mut Cursor<'_, 'a>) -> Option<Vec<Token<'a>>> {
        cursor.expect("component")?;
        let name = cursor.name()?;
        let mut out = Vec::new();
        if cursor.eat(";") {
            write(&mut out, name.at, &format!("interface {} ;", name.text));
            return Some(out);
        }
        let base = cursor.scoped_behind(":")?;
        let base = base.unwrap_or_else(|| ":: Components :: CCMObject".to_owned());
        let mut bases = vec![base];
        bases.append(&mut cursor.scoped_names_behind("supports")?);
        let head = format!("interface {} : {} {{", name.text, bases.join(" , "));
        write(&mut out, name.at, &head);
        let body = cursor.braced()?;
        Ports::of(self).expand(body, &mut out)?;
        write(&mut out, name.at, "} ;");
        Some(out)
    }

    /// A connector: nothing a client sees.
    pub(crate) fn connector(&mut self, cursor: &mut Cursor<'_, 'a>) -> Option<Vec<Token<'a>>> {
        cursor.expect("connector")?;
        let name = cursor.name()?;
        if matches!(cursor.peek(), ":" | "{") {
            cursor.declaration()?;
            let reason = "deployments alone use it";
            self.note(
                name,
                &format!("the connector `{}` is left out: {reason}", name.text),
            );
            return Some(Vec::new());
        }
        None
    }
}
