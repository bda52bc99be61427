// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of definitions.

use orbium_idl::model::{
    Attribute, ConstValue, DefId, DefSet, Definition, DefinitionKind, Direction, Interface,
    InterfaceKind, Member, Model, Operation, Type, Union, ValueKind, ValueType,
};

use super::identifiers::{default_id, escaped};
use super::selection::Selection;

/// Writes IDL.
pub(super) struct Writer<'m> {
    model: &'m Model,
    selection: &'m Selection,
    prefix: String,
    out: String,
    depth: usize,
    /// Types declared within the declaration of a member.
    written: DefSet,
}

impl<'m> Writer<'m> {
    pub(super) fn new(model: &'m Model, selection: &'m Selection, prefix: String) -> Self {
        Self {
            model,
            selection,
            prefix,
            out: String::new(),
            depth: 0,
            written: DefSet::default(),
        }
    }

    pub(super) fn begin(&mut self) {
        if !self.prefix.is_empty() {
            let line = format!("#pragma prefix \"{}\"", self.prefix);
            self.line(&line);
        }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(&"  ".repeat(self.depth));
        self.out.push_str(text);
        self.out.push('\n');
    }

    pub(super) fn open(&mut self, id: DefId, word: &str) {
        let line = format!("{word} {} {{", escaped(&self.model[id].name));
        self.line(&line);
        self.depth += 1;
    }

    pub(super) fn close(&mut self) {
        self.depth -= 1;
        self.line("};");
    }

    /// The comment of a definition.
    fn comment(&mut self, definition: &Definition) {
        for line in definition.doc.iter().flat_map(|doc| doc.lines()) {
            // A backslash at the end would join the next line to the comment.
            let line = format!("// {}", line.trim_end_matches(['\\', ' ']));
            self.line(line.trim_end());
        }
    }

    /// Writes the repository id, if it differs from the one that the name implies.
    fn id(&mut self, definition: &Definition) {
        if definition.repository_id != default_id(definition, &self.prefix) {
            let name = escaped(&definition.name);
            let line = format!("#pragma ID {name} \"{}\"", definition.repository_id);
            self.line(&line);
        }
    }

    pub(super) fn forward(&mut self, id: DefId) {
        let definition = &self.model[id];
        let name = escaped(&definition.name);
        let line = match &definition.kind {
            DefinitionKind::Interface(it) => format!("{} {name};", interface_words(it.kind)),
            DefinitionKind::ValueType(it) if it.kind == ValueKind::Abstract => {
                format!("abstract {} {name};", definition.kind.noun())
            }
            kind => format!("{} {name};", kind.noun()),
        };
        self.line(&line);
        if !self.selection.is_defined(id) {
            self.id(definition);
        }
    }

    pub(super) fn define(&mut self, id: DefId) {
        if !self.written.insert(id) {
            return;
        }
        let definition = &self.model[id];
        self.comment(definition);
        match &definition.kind {
            DefinitionKind::Interface(interface) => self.interface(id, interface),
            DefinitionKind::ValueType(value) => self.value(definition, value),
            DefinitionKind::Alias(alias) => {
                let line = format!("typedef {};", self.declared(&alias.ty, &definition.name));
                self.line(&line);
            }
            DefinitionKind::ValueBox(boxed) => {
                let (name, ty) = (escaped(&definition.name), self.type_name(&boxed.ty));
                self.line(&format!("valuetype {name} {ty};"));
            }
            DefinitionKind::Native => {
                let line = format!("native {};", escaped(&definition.name));
                self.line(&line);
            }
            _ => {
                let text = self.constructed(definition);
                self.line(&format!("{text};"));
            }
        }
        self.id(definition);
    }

    /// A struct, union, enum or exception, without the semicolon.
    fn constructed(&mut self, definition: &'m Definition) -> String {
        let word = definition.kind.noun();
        let name = escaped(&definition.name);
        match &definition.kind {
            DefinitionKind::Struct(it) => {
                format!(
                    "{word} {name} {{{} }}",
                    self.members(definition.id, &it.members)
                )
            }
            DefinitionKind::Exception(it) => {
                format!(
                    "{word} {name} {{{} }}",
                    self.members(definition.id, &it.members)
                )
            }
            DefinitionKind::Union(it) => self.union(definition, it),
            DefinitionKind::Enum(it) => {
                let names: Vec<_> = it.enumerators.iter().map(|it| escaped(&it.name)).collect();
                format!("{word} {name} {{ {} }}", names.join(", "))
            }
            _ => format!("// {word} {name}"),
        }
    }

    fn members(&mut self, owner: DefId, members: &'m [Member]) -> String {
        let members = members
            .iter()
            .map(|it| format!(" {};", self.member(owner, it)));
        members.collect()
    }

    /// A member; a type defined within its owner is declared in the first member of that type.
    fn member(&mut self, owner: DefId, member: &'m Member) -> String {
        if let Type::Named(id) = element(&member.ty)
            && self.model[*id].parent == Some(owner)
            && self.written.insert(*id)
        {
            let text = self.constructed(&self.model[*id]);
            return format!("{text} {}", declarator(&member.ty, &member.name));
        }
        self.declared(&member.ty, &member.name)
    }

    fn union(&mut self, definition: &'m Definition, union: &'m Union) -> String {
        let mut text = format!("union {} switch (", escaped(&definition.name));
        match &union.discriminator {
            Type::Named(id) if self.model[*id].parent == Some(definition.id) => {
                self.written.insert(*id);
                text.push_str(&self.constructed(&self.model[*id]));
            }
            other => text.push_str(&self.type_name(other)),
        }
        text.push_str(") {");
        for case in &union.cases {
            for label in &case.labels {
                text.push_str(&format!(" case {}:", self.label(label)));
            }
            if case.is_default {
                text.push_str(" default:");
            }
            let member = self.member(definition.id, &case.member);
            text.push_str(&format!(" {member};"));
        }
        text.push_str(" }");
        text
    }

    fn label(&self, label: &ConstValue) -> String {
        match label {
            ConstValue::Integer(value) => value.to_string(),
            ConstValue::Boolean(true) => "TRUE".to_owned(),
            ConstValue::Boolean(false) => "FALSE".to_owned(),
            ConstValue::Char(value) => format!("'\\x{value:02x}'"),
            ConstValue::WChar(value) => format!("L'\\u{value:04x}'"),
            ConstValue::Enumerator { of, index } => match &self.model[*of].kind {
                DefinitionKind::Enum(it) => {
                    let name = it.enumerators.get(*index as usize);
                    let name = name.map_or_else(String::new, |it| escaped(&it.name));
                    let scope = &self.model[*of].path;
                    let scope = scope[..scope.len() - 1].iter();
                    let scope: String = scope.map(|it| format!("::{}", escaped(it))).collect();
                    format!("{scope}::{name}")
                }
                _ => index.to_string(),
            },
            // No other value can be a label.
            other => format!("{other:?}"),
        }
    }

    fn interface(&mut self, id: DefId, interface: &'m Interface) {
        let name = escaped(&self.model[id].name);
        let head = format!(
            "{} {name}{}",
            interface_words(interface.kind),
            self.list(" : ", &interface.bases)
        );
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.forward_inside(&interface.contents);
        for inner in &interface.contents {
            let definition = &self.model[*inner];
            match &definition.kind {
                DefinitionKind::Operation(operation) => {
                    self.comment(definition);
                    let line = self.operation(&definition.name, operation);
                    self.line(&line);
                }
                DefinitionKind::Attribute(attribute) => {
                    self.comment(definition);
                    let line = self.attribute(&definition.name, attribute);
                    self.line(&line);
                }
                _ if self.selection.is_defined(*inner) => self.define(*inner),
                _ => {}
            }
        }
        self.close();
    }

    /// Declares the structs and unions among the contents that contain themselves.
    fn forward_inside(&mut self, contents: &[DefId]) {
        for inner in contents {
            let is_recursive = matches!(
                self.model[*inner].kind,
                DefinitionKind::Struct(_) | DefinitionKind::Union(_)
            );
            if is_recursive && self.selection.has_forward(self.model, *inner) {
                self.forward(*inner);
            }
        }
    }

    fn operation(&self, name: &str, operation: &Operation) -> String {
        let parameters = operation.parameters.iter().map(|parameter| {
            let way = match parameter.direction {
                Direction::In => "in",
                Direction::Out => "out",
                Direction::InOut => "inout",
            };
            let (ty, name) = (self.type_name(&parameter.ty), escaped(&parameter.name));
            format!("{way} {ty} {name}")
        });
        let parameters: Vec<_> = parameters.collect();
        let oneway = if operation.oneway { "oneway " } else { "" };
        let contexts: Vec<_> = operation
            .contexts
            .iter()
            .map(|it| format!("\"{it}\""))
            .collect();
        let contexts = if contexts.is_empty() {
            String::new()
        } else {
            format!(" context ({})", contexts.join(", "))
        };
        format!(
            "{oneway}{} {}({}){}{contexts};",
            self.type_name(&operation.result),
            escaped(name),
            parameters.join(", "),
            self.raises("raises", &operation.raises),
        )
    }

    fn attribute(&self, name: &str, attribute: &Attribute) -> String {
        let (ty, name) = (self.type_name(&attribute.ty), escaped(name));
        let get = self.raises("getraises", &attribute.get_raises);
        let set = self.raises("setraises", &attribute.set_raises);
        if attribute.readonly {
            let raises = self.raises("raises", &attribute.get_raises);
            format!("readonly attribute {ty} {name}{raises};")
        } else {
            format!("attribute {ty} {name}{get}{set};")
        }
    }

    fn raises(&self, word: &str, raised: &[DefId]) -> String {
        match raised {
            [] => String::new(),
            raised => format!(" {word} ({})", self.list("", raised)),
        }
    }

    /// Scoped names with a prefix, if there are any.
    fn list(&self, before: &str, ids: &[DefId]) -> String {
        let names: Vec<_> = ids.iter().map(|id| self.scoped(*id)).collect();
        if names.is_empty() {
            String::new()
        } else {
            format!("{before}{}", names.join(", "))
        }
    }

    /// State and inheritance: operations of values are called where the value is.
    fn value(&mut self, definition: &'m Definition, value: &'m ValueType) {
        let kind = match value.kind {
            ValueKind::Plain => "",
            ValueKind::Abstract => "abstract ",
            ValueKind::Custom => "custom ",
        };
        let before = if value.truncatable {
            " : truncatable "
        } else {
            " : "
        };
        let head = format!(
            "{kind}{} {}{}{}",
            definition.kind.noun(),
            escaped(&definition.name),
            self.list(before, &value.bases),
            self.list(" supports ", &value.supports)
        );
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.forward_inside(&value.contents);
        for inner in &value.contents {
            if self.selection.is_defined(*inner) {
                self.define(*inner);
            }
        }
        for state in &value.members {
            let access = if state.public { "public" } else { "private" };
            let line = format!("{access} {};", self.member(definition.id, &state.member));
            self.line(&line);
        }
        self.close();
    }

    /// A type and a name, followed by the dimensions of an array.
    fn declared(&self, ty: &Type, name: &str) -> String {
        format!("{} {}", self.type_name(element(ty)), declarator(ty, name))
    }

    fn type_name(&self, ty: &Type) -> String {
        match ty {
            Type::Named(id) => self.scoped(*id),
            Type::Sequence { element, bound } => {
                let element = self.type_name(element);
                match bound {
                    None => format!("sequence<{element}>"),
                    Some(bound) => format!("sequence<{element}, {bound}>"),
                }
            }
            other => self.model.type_name(other),
        }
    }

    fn scoped(&self, id: DefId) -> String {
        let path = self.model[id].path.iter();
        path.map(|it| format!("::{}", escaped(it))).collect()
    }
}

/// The type itself, or that of the elements of an array.
fn element(ty: &Type) -> &Type {
    match ty {
        Type::Array { element, .. } => element,
        other => other,
    }
}

/// A name, followed by the dimensions if the type is an array.
fn declarator(ty: &Type, name: &str) -> String {
    let mut text = escaped(name);
    if let Type::Array { dimensions, .. } = ty {
        text.extend(dimensions.iter().map(|it| format!("[{it}]")));
    }
    text
}

fn interface_words(kind: InterfaceKind) -> &'static str {
    match kind {
        InterfaceKind::Plain => "interface",
        InterfaceKind::Abstract => "abstract interface",
        InterfaceKind::Local => "local interface",
    }
}
