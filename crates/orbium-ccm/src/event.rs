// SPDX-License-Identifier: MIT OR Apache-2.0
//! Event types: the interface of their consumers (CORBA 3.3 Part 3, 6.6.1).

use crate::cursor::{Cursor, spelled, write};
use crate::expander::Expander;
use crate::expansion::Token;

impl<'a> Expander<'a> {
    /// The event type unchanged, and `interface NAMEConsumer`.
    pub(crate) fn event_type(&mut self, cursor: &mut Cursor<'_, 'a>) -> Option<Vec<Token<'a>>> {
        let mut head = cursor.clone();
        let _ = head.eat("abstract") || head.eat("custom");
        head.expect("eventtype")?;
        let name = head.name()?;
        let (text, at) = (&name.text, name.at);
        let base = if head.eat(":") {
            head.eat("truncatable");
            format!("{}Consumer", spelled(head.scoped()?))
        } else {
            ":: Components :: EventConsumerBase".to_owned()
        };
        let is_forward = head.peek() == ";";
        let mut out = cursor.declaration()?.to_vec();
        self.declare_name(text);
        self.declare_name(&format!("{text}Consumer"));
        if is_forward {
            write(&mut out, at, &format!("interface {text}Consumer ;"));
        } else {
            write(
                &mut out,
                at,
                &format!(
                    "interface {text}Consumer : {base} {{ void push_{text} ( in {text} the_{text} ) ; }} ;"
                ),
            );
        }
        Some(out)
    }
}
