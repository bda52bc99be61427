// SPDX-License-Identifier: MIT OR Apache-2.0
//! Homes: the explicit, the implicit and the equivalent interface (CORBA 3.3 Part 3, 6.7).

use crate::cursor::{Cursor, spelled, write};
use crate::expander::Expander;
use crate::expansion::Token;

/// The head of a home's declaration.
struct Home<'t> {
    name: &'t str,
    at: usize,
    base: Option<String>,
    supported: Vec<String>,
    managed: String,
    key: Option<String>,
}

impl<'a> Expander<'a> {
    /// `NAMEExplicit`, `NAMEImplicit` and `NAME`, which inherits both.
    pub(crate) fn home(&mut self, cursor: &mut Cursor<'_, 'a>) -> Option<Vec<Token<'a>>> {
        let home = Home::read(cursor)?;
        let body = cursor.braced()?;
        let mut out = Vec::new();
        home.explicit(body, &mut out)?;
        let name = home.name;
        self.declare_name(&format!("{name}Explicit"));
        self.declare_name(&format!("{name}Implicit"));
        write(&mut out, home.at, &home.implicit());
        let equivalent = format!("interface {name} : {name}Explicit , {name}Implicit {{ }} ;");
        write(&mut out, home.at, &equivalent);
        Some(out)
    }
}

impl<'t> Home<'t> {
    fn read(cursor: &mut Cursor<'t, '_>) -> Option<Self> {
        cursor.expect("home")?;
        let name = cursor.name()?;
        let base = cursor.scoped_behind(":")?;
        let supported = cursor.scoped_names_behind("supports")?;
        cursor.expect("manages")?;
        let managed = spelled(cursor.scoped()?);
        let key = cursor.scoped_behind("primarykey")?;
        Some(Self {
            name: &name.text,
            at: name.at,
            base,
            supported,
            managed,
            key,
        })
    }

    /// The factories and finders of the home as operations, and its other declarations.
    fn explicit<'a>(&self, body: &[Token<'a>], out: &mut Vec<Token<'a>>) -> Option<()> {
        let base = self.base.as_ref().map(|base| format!("{base}Explicit"));
        let base = base.unwrap_or_else(|| ":: Components :: CCMHome".to_owned());
        let bases: Vec<_> = std::iter::once(&base).chain(&self.supported).collect();
        let bases: Vec<_> = bases.iter().map(|it| it.as_str()).collect();
        let head = format!("interface {}Explicit : {} {{", self.name, bases.join(" , "));
        write(out, self.at, &head);
        let mut cursor = Cursor::new(body);
        while !cursor.is_at_end() {
            let raised = match cursor.peek() {
                "factory" => "CreateFailure",
                "finder" => "FinderFailure",
                _ => {
                    out.extend_from_slice(cursor.declaration()?);
                    continue;
                }
            };
            cursor.bump();
            self.initializer(cursor.declaration()?, raised, out)?;
        }
        write(out, self.at, "} ;");
        Some(())
    }

    /// `NAME (parameters) raises (…);`: it returns a component, and may raise an additional
    /// exception.
    fn initializer<'a>(
        &self,
        declaration: &[Token<'a>],
        raised: &str,
        out: &mut Vec<Token<'a>>,
    ) -> Option<()> {
        let at = declaration.first()?.at;
        write(out, at, &self.managed);
        let end = declaration.iter().position(|it| it.text == ")")?;
        out.extend_from_slice(&declaration[..=end]);
        write(out, at, &format!("raises ( :: Components :: {raised}"));
        match &declaration[end + 1..] {
            [raises, open, rest @ ..] if raises.text == "raises" && open.text == "(" => {
                write(out, at, ",");
                out.extend_from_slice(rest);
            }
            _ => write(out, at, ") ;"),
        }
        Some(())
    }

    fn implicit(&self) -> String {
        let (name, managed) = (self.name, &self.managed);
        let Some(key) = &self.key else {
            return format!(
                "interface {name}Implicit : :: Components :: KeylessCCMHome {{ \
                 {managed} create ( ) raises ( :: Components :: CreateFailure ) ; }} ;"
            );
        };
        format!(
            "interface {name}Implicit {{ \
             {managed} create ( in {key} key ) raises ( :: Components :: CreateFailure , \
             :: Components :: DuplicateKeyValue , :: Components :: InvalidKey ) ; \
             {managed} find_by_primary_key ( in {key} key ) raises ( \
             :: Components :: FinderFailure , :: Components :: UnknownKeyValue , \
             :: Components :: InvalidKey ) ; \
             void remove ( in {key} key ) raises ( :: Components :: RemoveFailure , \
             :: Components :: UnknownKeyValue , :: Components :: InvalidKey ) ; \
             {key} get_primary_key ( in {managed} comp ) ; }} ;"
        )
    }
}
