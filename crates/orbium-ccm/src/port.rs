// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ports: facets, receptacles, sources and sinks of events as operations (CORBA 3.3 Part 3, 6.4 to
//! 6.6), and extended ports (7.4).

use crate::cursor::{Cursor, spelled, write};
use crate::expander::Expander;
use crate::expansion::Token;
use crate::scopes::qualified;

/// Maximum nesting of port types.
const MAX_NESTED_PORTS: usize = 16;

/// Expands the ports of one component.
pub(crate) struct Ports<'e, 'a> {
    expander: &'e mut Expander<'a>,
    /// The prefix of the names of a port type's ports.
    prefix: String,
    /// Whether the ports are those of the other end.
    is_mirrored: bool,
    /// The module of the port type.
    scope: Option<String>,
    depth: usize,
}

impl<'e, 'a> Ports<'e, 'a> {
    pub(crate) fn of(expander: &'e mut Expander<'a>) -> Self {
        Self {
            expander,
            prefix: String::new(),
            is_mirrored: false,
            scope: None,
            depth: 0,
        }
    }

    /// Appends the replacement of a component's or port type's contents.
    pub(crate) fn expand(&mut self, body: &[Token<'a>], out: &mut Vec<Token<'a>>) -> Option<()> {
        let mut cursor = Cursor::new(body);
        while !cursor.is_at_end() {
            match cursor.peek() {
                "port" | "mirrorport" => self.extended(&mut cursor, out)?,
                "provides" | "uses" | "emits" | "publishes" | "consumes" => {
                    self.plain(&mut cursor, out)?;
                }
                _ => self.feature(cursor.declaration()?, out),
            }
        }
        Some(())
    }

    fn plain(&mut self, cursor: &mut Cursor<'_, 'a>, out: &mut Vec<Token<'a>>) -> Option<()> {
        let word = self.direction(&cursor.bump()?.text);
        let is_multiple = cursor.eat("multiple");
        let given = cursor.scoped()?;
        let ty = self.type_name(given);
        let name = cursor.name()?;
        cursor.expect(";")?;
        self.charge(name, out)?;
        if self.leaves_out_local(given, name) {
            return Some(());
        }
        let port = format!("{}{}", self.prefix, name.text);
        let start = out.len();
        write(out, name.at, &operations(word, is_multiple, &ty, &port));
        // Messages about the type have its location.
        for token in &mut out[start..] {
            let of_type = given.iter().find(|it| it.text == token.text);
            token.at = of_type.map_or(token.at, |it| it.at);
        }
        Some(())
    }

    /// Charges a port to the limit; `None` if that is reached.
    fn charge(&mut self, name: &Token<'a>, out: &[Token<'a>]) -> Option<()> {
        let scope = self.scope.as_ref().map_or(0, String::len);
        self.expander
            .charge(scope + self.prefix.len() + name.text.len());
        (!self.expander.is_full(out.len())).then_some(())
    }

    /// Records a port that cannot be called remotely, as those of connectors for DDS; returns
    /// whether it is one.
    fn leaves_out_local(&mut self, ty: &[Token<'a>], name: &Token<'a>) -> bool {
        let text = spelled(ty);
        let within = self.scope.as_deref();
        let is_local = self.expander.scopes.is_local(&text, within);
        if is_local {
            let message = format!(
                "the port `{}{}` is left out: `{}` is a local interface",
                self.prefix,
                name.text,
                text.replace(' ', "")
            );
            self.expander.note(name, &message);
        }
        is_local
    }

    /// The direction of a port at this end.
    fn direction(&self, word: &str) -> &'static str {
        match (word, self.is_mirrored) {
            ("provides", false) | ("uses", true) => "provides",
            ("uses", false) | ("provides", true) => "uses",
            ("emits", false) => "emits",
            ("publishes", false) | ("consumes", true) => "publishes",
            _ => "consumes",
        }
    }

    /// `port TYPE name;`: the ports of the type, each with this name as a prefix.
    fn extended(&mut self, cursor: &mut Cursor<'_, 'a>, out: &mut Vec<Token<'a>>) -> Option<()> {
        let is_mirrored = self.is_mirrored != (cursor.bump()?.text == "mirrorport");
        let ty = cursor.scoped()?;
        let name = cursor.name()?;
        cursor.expect(";")?;
        self.charge(name, out)?;
        let within = self.scope.as_deref();
        let Some((full, body)) = self.expander.port_type(&spelled(ty), within) else {
            let message = format!(
                "the port `{}` is left out: there is no port type `{}`",
                name.text,
                spelled(ty).replace(' ', "")
            );
            self.expander.note(name, &message);
            return Some(());
        };
        if self.depth >= MAX_NESTED_PORTS {
            return None;
        }
        let mut inner = Ports {
            prefix: format!("{}{}_", self.prefix, name.text),
            is_mirrored,
            scope: Some(full.rsplit_once("::").map_or("", |it| it.0).to_owned()),
            depth: self.depth + 1,
            expander: &mut *self.expander,
        };
        inner.expand(&body, out)
    }

    /// An attribute, or a definition.
    fn feature(&self, declaration: &[Token<'a>], out: &mut Vec<Token<'a>>) {
        let stop =
            |it: &Token<'_>| matches!(&*it.text, ";" | "," | "getraises" | "setraises" | "raises");
        let end = declaration.iter().position(stop).unwrap_or_default();
        for (place, token) in declaration.iter().enumerate() {
            let mut token = token.clone();
            if place + 1 == end && !self.prefix.is_empty() {
                token.text = format!("{}{}", self.prefix, token.text).into();
            }
            out.push(token);
        }
    }

    /// Resolves a type of a port type in the scope of its declaration.
    fn type_name(&self, name: &[Token<'a>]) -> String {
        let text = spelled(name);
        let Some(scope) = &self.scope else {
            return text;
        };
        let found = self.expander.scopes.declared(&text, scope);
        found.map_or(text, |full| qualified(&full))
    }
}

/// The operations of a port.
fn operations(word: &str, is_multiple: bool, ty: &str, port: &str) -> String {
    match word {
        "provides" => format!("{ty} provide_{port} ( ) ;"),
        "uses" if is_multiple => multiple_receptacle(ty, port),
        "uses" => receptacle(ty, port),
        "emits" => emitter(ty, port),
        "publishes" => publisher(ty, port),
        _ => format!("{ty}Consumer get_consumer_{port} ( ) ;"),
    }
}

fn receptacle(ty: &str, port: &str) -> String {
    format!(
        "void connect_{port} ( in {ty} conxn ) raises ( :: Components :: AlreadyConnected , \
         :: Components :: InvalidConnection ) ; \
         {ty} disconnect_{port} ( ) raises ( :: Components :: NoConnection ) ; \
         {ty} get_connection_{port} ( ) ;"
    )
}

fn multiple_receptacle(ty: &str, port: &str) -> String {
    format!(
        "struct {port}Connection {{ {ty} objref ; :: Components :: Cookie ck ; }} ; \
         typedef sequence < {port}Connection > {port}Connections ; \
         :: Components :: Cookie connect_{port} ( in {ty} connection ) raises ( \
         :: Components :: ExceededConnectionLimit , :: Components :: InvalidConnection ) ; \
         {ty} disconnect_{port} ( in :: Components :: Cookie ck ) raises ( \
         :: Components :: InvalidConnection ) ; \
         {port}Connections get_connections_{port} ( ) ;"
    )
}

fn emitter(ty: &str, port: &str) -> String {
    format!(
        "void connect_{port} ( in {ty}Consumer consumer ) raises ( \
         :: Components :: AlreadyConnected ) ; \
         {ty}Consumer disconnect_{port} ( ) raises ( :: Components :: NoConnection ) ;"
    )
}

fn publisher(ty: &str, port: &str) -> String {
    format!(
        ":: Components :: Cookie subscribe_{port} ( in {ty}Consumer consumer ) raises ( \
         :: Components :: ExceededConnectionLimit ) ; \
         {ty}Consumer unsubscribe_{port} ( in :: Components :: Cookie ck ) raises ( \
         :: Components :: InvalidConnection ) ;"
    )
}
