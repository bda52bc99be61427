// SPDX-License-Identifier: MIT OR Apache-2.0
//! Look-up of the members of unions and of enumerators by name, once per type rather than for each
//! value.

use std::collections::HashMap;

use orbium_cdr::{MemberRef, TypeCode, TypeRef};

use crate::labels::unused_label;

/// Number of members from which they are looked up in a table, to avoid quadratic time.
const MIN_TABLE_MEMBERS: usize = 16;

/// A member that has been found by its name.
#[derive(Clone, Copy)]
pub(crate) struct FoundMember {
    /// The index of the first member of that name.
    pub(crate) index: usize,
    /// Whether further members have the name: labels of the same member of a union.
    pub(crate) is_repeated: bool,
}

/// The tables of all types with many members, by their identities.
#[derive(Default)]
pub(crate) struct MemberTables(HashMap<(usize, u32), MemberTable>);

struct MemberTable {
    /// No other type has its identity as long as it exists.
    code: TypeCode,
    /// The indices of the members in the order of their names.
    by_name: Vec<usize>,
    /// Once computed.
    unused_label: Option<Option<i64>>,
}

impl MemberTables {
    /// The table of a type; `None` if it has few members.
    fn table(&mut self, code: TypeRef<'_>) -> Option<&mut MemberTable> {
        if code.member_count() < MIN_TABLE_MEMBERS {
            return None;
        }
        let table = self.0.entry(code.identity());
        Some(table.or_insert_with(|| MemberTable::new(code)))
    }

    /// The member or enumerator with that name.
    pub(crate) fn find(&mut self, code: TypeRef<'_>, name: &str) -> Option<FoundMember> {
        if let Some(table) = self.table(code) {
            return table.find(name);
        }
        let mut members = code.members();
        Some(FoundMember {
            index: members.position(|it| it.name() == name)?,
            is_repeated: members.any(|it| it.name() == name),
        })
    }

    /// As [`unused_label`], computed once per type.
    pub(crate) fn unused_label(
        &mut self,
        code: TypeRef<'_>,
        discriminator: TypeRef<'_>,
    ) -> Option<i64> {
        let compute = || unused_label(code, discriminator);
        match self.table(code) {
            Some(table) => *table.unused_label.get_or_insert_with(compute),
            None => compute(),
        }
    }
}

impl MemberTable {
    fn new(code: TypeRef<'_>) -> Self {
        let mut by_name: Vec<_> = code.members().zip(0..).collect();
        by_name.sort_by_key(|(member, _)| member.name());
        Self {
            code: code.to_type_code(),
            by_name: by_name.into_iter().map(|(_, index)| index).collect(),
            unused_label: None,
        }
    }

    fn find(&self, name: &str) -> Option<FoundMember> {
        let name_of = |index: &usize| self.code.member(*index).map(MemberRef::name);
        let place = self.by_name.partition_point(|it| name_of(it) < Some(name));
        let found = self.by_name[place..].iter();
        let mut found = found.take_while(|it| name_of(it) == Some(name));
        Some(FoundMember {
            index: *found.next()?,
            is_repeated: found.next().is_some(),
        })
    }
}
