// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unions: which member, and under which label.

use orbium_cdr::{TCKind, TypeRef};
use serde_json::value::RawValue;

use super::integer;
use super::parser::{Parsed, Parser};
use crate::labels::write_label;
use crate::member_tables::FoundMember;

impl Parser<'_> {
    pub(super) fn union(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        let wanted = format!("union {}", code.name());
        let object = self.object(&wanted, text)?;
        let discriminator = self.discriminator(code)?;
        let mut members = object.0.iter().filter(|(name, _)| name != "$d");
        let member = members.next();
        if members.next().is_some() {
            return Err(self.error(format!("{wanted} has one member at a time")));
        }
        let found = member.and_then(|(name, _)| self.tables.find(code, name));
        if let (Some((name, _)), None) = (member, found) {
            return Err(self.error(format!("{wanted} has no member `{name}`")));
        }
        let label = match object.get("$d") {
            Some(label) => self.member("$d", |this| this.label(discriminator, label.get()))?,
            None => self.implied_label(code, discriminator, found)?,
        };
        write_label(discriminator, label, &mut self.writer);
        self.selected(code, label, member)
    }

    fn discriminator<'c>(&self, code: TypeRef<'c>) -> Parsed<TypeRef<'c>> {
        match code.discriminator_type() {
            Some(discriminator) => self.unaliased(discriminator),
            None => Err(self.error("the type is incomplete")),
        }
    }

    /// Writes the member that a label selects, which must be the given one.
    fn selected(
        &mut self,
        code: TypeRef<'_>,
        label: i64,
        given: Option<&(String, &RawValue)>,
    ) -> Parsed {
        match (code.selected_member(label), given) {
            (None, None) => Ok(()),
            (None, Some((name, _))) => {
                Err(self.error(format!("`$d` selects no member, but `{name}` is there")))
            }
            (Some(member), None) => Err(self.error(format!(
                "`$d` selects the member `{}`, which is missing",
                member.name()
            ))),
            (Some(member), Some((name, _))) if member.name() != name => Err(self.error(format!(
                "`$d` selects the member `{}`, but `{name}` is there",
                member.name()
            ))),
            (Some(member), Some((_, value))) => self.typed_member(member, value),
        }
    }

    /// The label that a discriminator represents.
    pub(super) fn label(&mut self, discriminator: TypeRef<'_>, text: &str) -> Parsed<i64> {
        Ok(match discriminator.kind() {
            TCKind::Boolean => match text {
                "true" => 1,
                "false" => 0,
                _ => return Err(self.mismatch("boolean", text)),
            },
            TCKind::Char => i64::from(self.char(text)?.0),
            TCKind::WChar => i64::from(self.wchar(text)?.0),
            TCKind::Enum => i64::from(self.ordinal(discriminator, text)?),
            kind => {
                let Some((least, greatest)) = integer::range(kind) else {
                    return Err(self.error("the type is incomplete"));
                };
                let value = self.whole(kind, text)?;
                if value < least || value > greatest {
                    return Err(self.error(format!(
                        "{value} is out of range for {}: {least} to {greatest}",
                        kind.keyword()
                    )));
                }
                // An `unsigned long long` as the number with the same bits.
                value as i64
            }
        })
    }

    /// The label of a member that is given without a label.
    fn implied_label(
        &mut self,
        code: TypeRef<'_>,
        discriminator: TypeRef<'_>,
        found: Option<FoundMember>,
    ) -> Parsed<i64> {
        let index = found.map(|it| it.index);
        let Some(member) = index.and_then(|it| code.member(it)) else {
            return Err(self.error(format!("union {} has a `$d` or a member", code.name())));
        };
        if found.is_some_and(|it| it.is_repeated) {
            let name = member.name();
            return Err(self.error(format!("`{name}` has several labels: say which as `$d`")));
        }
        let label = match member.label() {
            None => self.tables.unused_label(code, discriminator),
            label => label,
        };
        label.ok_or_else(|| self.error("no value of the discriminator is unused"))
    }
}
