// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of definitions.

use std::collections::HashSet;

use orbium::cdr::TCKind;
use orbium_dynamic::idl_identifier;

use super::definitions::{Definition, Definitions, is_value};
use super::error::{ExportError, Fault};
use super::idl_text::{declarator, identifier, quoted};
use super::order::Order;
use crate::corba::{
    AttributeMode, ConstantDescription, DefinitionKind, ExceptionDescription, ExtInitializer,
    InterfaceDescription, OperationDescription, OperationMode, ParameterMode, ValueDescription,
    ValueMember,
};

type Written<T> = Result<T, ExportError>;

pub(super) struct Writer<'f> {
    found: &'f Definitions,
    out: String,
    /// Open modules.
    open: Vec<String>,
    prefix: String,
    depth: usize,
    /// Types that are written within the declaration of a member.
    inside: HashSet<usize>,
    /// Modules with written ids.
    opened: HashSet<usize>,
    /// The definition being written.
    at: usize,
}

impl<'f> Writer<'f> {
    pub(super) fn new(found: &'f Definitions) -> Self {
        Self {
            found,
            out: String::new(),
            open: Vec::new(),
            prefix: String::new(),
            depth: 0,
            inside: HashSet::new(),
            opened: HashSet::new(),
            at: 0,
        }
    }

    /// Writes all definitions.
    pub(super) fn write(mut self, order: &Order) -> Result<String, Fault> {
        match self.write_all(order) {
            Ok(()) => Ok(self.out),
            Err(error) => Err(Fault {
                place: self.at,
                error,
            }),
        }
    }

    fn write_all(&mut self, order: &Order) -> Written<()> {
        for place in &order.places {
            let definition = &self.found.definitions[*place];
            if definition.has_forward() {
                self.at = *place;
                self.enter(*place);
                self.line(&format!("{};", forward(definition)?));
                self.id(definition);
            }
        }
        for place in &order.places {
            self.enter(*place);
            self.define(*place)?;
        }
        self.leave(0);
        Ok(())
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(&"  ".repeat(self.depth));
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn leave(&mut self, depth: usize) {
        while self.open.len() > depth {
            self.open.pop();
            self.depth -= 1;
            self.line("};");
        }
    }

    /// Opens the modules around a definition, and closes others.
    fn enter(&mut self, place: usize) {
        let definition = &self.found.definitions[place];
        let scope = &definition.path[..definition.path.len() - 1];
        let common = self.open.iter().zip(scope).take_while(|(a, b)| a == b);
        let common = common.count();
        self.leave(common);
        if common == 0 {
            let prefix = self.prefix_of(place);
            if prefix != self.prefix {
                self.line(&format!("#pragma prefix \"{prefix}\""));
                self.prefix = prefix;
            }
        }
        for name in &scope[common..] {
            self.line(&format!("module {} {{", idl_identifier(name)));
            self.depth += 1;
            self.open.push(name.clone());
        }
        self.identify_modules(definition.container);
    }

    /// Writes the ids of modules that differ from the default.
    fn identify_modules(&mut self, module: Option<usize>) {
        let mut module = module;
        while let Some(place) = module {
            let definition = &self.found.definitions[place];
            if self.opened.insert(place) && definition.id != self.default_id(&definition.path) {
                let name = format!("::{}", definition.path.join("::"));
                self.line(&format!("#pragma ID {name} \"{}\"", definition.id));
            }
            module = definition.container;
        }
    }

    /// The prefix of a definition: that of the outermost module around it.
    fn prefix_of(&self, place: usize) -> String {
        let mut outermost = place;
        while let Some(container) = self.found.definitions[outermost].container {
            outermost = container;
        }
        let definition = &self.found.definitions[outermost];
        let id = definition.id.strip_prefix("IDL:");
        let path = id.and_then(|id| id.rsplit_once(':')).map(|(path, _)| path);
        let before = path.and_then(|path| path.strip_suffix(definition.name()));
        before.unwrap_or("").trim_end_matches('/').to_owned()
    }

    fn default_id(&self, path: &[String]) -> String {
        match &*self.prefix {
            "" => format!("IDL:{}:1.0", path.join("/")),
            prefix => format!("IDL:{prefix}/{}:1.0", path.join("/")),
        }
    }

    /// The repository id, if it differs from the default.
    fn id(&mut self, definition: &Definition) {
        if definition.id != self.default_id(&definition.path) {
            let name = idl_identifier(definition.name());
            self.line(&format!("#pragma ID {name} \"{}\"", definition.id));
        }
    }

    fn define(&mut self, place: usize) -> Written<()> {
        if self.inside.contains(&place) || !self.found.is_defined(place) {
            return Ok(());
        }
        let outer = core::mem::replace(&mut self.at, place);
        let it = &self.found.definitions[place];
        match it.kind {
            DefinitionKind::DkValue | DefinitionKind::DkEvent => self.value(it)?,
            _ if it.is_interface() => self.interface(it)?,
            _ => {
                let text = self.text(place)?;
                self.line(&format!("{text};"));
            }
        }
        if !it.has_forward() {
            self.id(it);
        }
        self.at = outer;
        Ok(())
    }

    /// A definition on one line.
    fn text(&mut self, place: usize) -> Written<String> {
        let it = &self.found.definitions[place];
        let name = idl_identifier(it.name());
        let found = self.found;
        Ok(match it.kind {
            DefinitionKind::DkStruct => format!("struct {name} {{{} }}", self.members(it)?),
            DefinitionKind::DkException => format!("exception {name} {{{} }}", self.members(it)?),
            DefinitionKind::DkUnion => self.union(it)?,
            DefinitionKind::DkEnum => {
                let names = it.code.members().map(|it| identifier(it.name()));
                let names: Vec<_> = names.collect::<Written<_>>()?;
                format!("enum {name} {{ {} }}", names.join(", "))
            }
            DefinitionKind::DkAlias => {
                let original = it.code.content_type().ok_or_else(|| it.invalid())?;
                format!("typedef {}", found.declared(original.as_ref(), it.name())?)
            }
            DefinitionKind::DkValueBox => {
                let content = it.code.content_type().ok_or_else(|| it.invalid())?;
                format!("valuetype {name} {}", found.type_text(content.as_ref())?)
            }
            DefinitionKind::DkNative => format!("native {name}"),
            DefinitionKind::DkConstant => {
                let constant: ConstantDescription = it.described()?;
                let ty = match constant.r#type.kind() {
                    TCKind::Fixed => "fixed".to_owned(),
                    _ => found.type_text(constant.r#type.as_ref())?,
                };
                format!(
                    "const {ty} {name} = {}",
                    found.literal(&constant.value, &it.id)?
                )
            }
            DefinitionKind::DkAttribute => self.attribute(it)?,
            DefinitionKind::DkOperation => self.operation(it)?,
            DefinitionKind::DkValueMember => {
                let member: ValueMember = it.described()?;
                let access = if member.access == 0 {
                    "private"
                } else {
                    "public"
                };
                format!(
                    "{access} {}",
                    found.declared(member.r#type.as_ref(), it.name())?
                )
            }
            _ => return Err(it.invalid()),
        })
    }

    fn members(&mut self, it: &Definition) -> Written<String> {
        let mut text = String::new();
        for member in it.code.members() {
            let code = member.type_code().ok_or_else(|| it.invalid())?;
            text.push_str(&format!(" {};", self.member(it, code, member.name())?));
        }
        Ok(text)
    }

    /// A member; a type that is defined within its owner is written in the first one of that type.
    fn member(
        &mut self,
        owner: &Definition,
        code: orbium::cdr::TypeRef<'_>,
        name: &str,
    ) -> Written<String> {
        let (element, declarator) = declarator(code, name)?;
        let ty = match self.inner(owner, element)? {
            Some(text) => text,
            None => self.found.type_text(element)?,
        };
        Ok(format!("{ty} {declarator}"))
    }

    /// A type that is defined within its owner and is not written yet.
    fn inner(
        &mut self,
        owner: &Definition,
        code: orbium::cdr::TypeRef<'_>,
    ) -> Written<Option<String>> {
        if !code.kind().has_id() {
            return Ok(None);
        }
        let inner = self.found.by_id.get(code.id()).copied().filter(|inner| {
            let container = self.found.definitions[*inner].container;
            container.is_some_and(|it| self.found.definitions[it].id == owner.id)
        });
        match inner {
            Some(inner) if self.inside.insert(inner) => self.text(inner).map(Some),
            _ => Ok(None),
        }
    }

    fn union(&mut self, it: &Definition) -> Written<String> {
        let discriminator = it.code.discriminator_type().ok_or_else(|| it.invalid())?;
        let switch = match self.inner(it, discriminator.as_ref())? {
            Some(text) => text,
            None => self.found.type_text(discriminator.as_ref())?,
        };
        let mut text = format!("union {} switch ({switch}) {{", idl_identifier(it.name()));
        let members: Vec<_> = it.code.members().collect();
        for (index, member) in members.iter().enumerate() {
            match member.label() {
                None => text.push_str(" default:"),
                Some(label) => {
                    let label = self.label(discriminator.unaliased().as_ref(), label)?;
                    text.push_str(&format!(" case {label}:"));
                }
            }
            let next = members.get(index + 1).map(|it| it.name());
            if next != Some(member.name()) {
                let code = member.type_code().ok_or_else(|| it.invalid())?;
                text.push_str(&format!(" {};", self.member(it, code, member.name())?));
            }
        }
        text.push_str(" }");
        Ok(text)
    }

    fn label(&self, discriminator: orbium::cdr::TypeRef<'_>, label: i64) -> Written<String> {
        Ok(match discriminator.kind() {
            TCKind::Boolean if label == 0 => "FALSE".to_owned(),
            TCKind::Boolean => "TRUE".to_owned(),
            TCKind::Char => format!("'\\x{label:02x}'"),
            TCKind::WChar => format!("L'\\u{label:04x}'"),
            TCKind::Enum => self.found.enumerator(discriminator, label)?,
            TCKind::ULongLong => (label as u64).to_string(),
            _ => label.to_string(),
        })
    }

    fn interface(&mut self, it: &Definition) -> Written<()> {
        let description: InterfaceDescription = it.described()?;
        let bases = self.found.names(" : ", &description.base_interfaces)?;
        self.line(&format!("{}{bases} {{", forward(it)?));
        self.depth += 1;
        self.contents(it)?;
        self.depth -= 1;
        self.line("};");
        Ok(())
    }

    fn contents(&mut self, it: &Definition) -> Written<()> {
        for place in &it.contents {
            let inner = &self.found.definitions[*place];
            if inner.is_recursive() && self.found.is_sound(*place) {
                self.line(&format!("{};", forward(inner)?));
                self.id(inner);
            }
        }
        let mut places = it.contents.clone();
        if is_value(it.kind) {
            // The state, which is first in a repository, may be of types that the value defines.
            places.sort_by_key(|place| match self.found.definitions[*place].kind {
                DefinitionKind::DkValueMember => 1,
                DefinitionKind::DkOperation | DefinitionKind::DkAttribute => 2,
                _ => 0,
            });
        }
        for place in places {
            self.define(place)?;
        }
        Ok(())
    }

    fn attribute(&self, it: &Definition) -> Written<String> {
        let description: crate::corba::AttributeDescription = it.described()?;
        let (get, set) = match &it.attribute {
            Some(ext) => (&ext.get_exceptions[..], &ext.put_exceptions[..]),
            None => (&[][..], &[][..]),
        };
        let declared = self
            .found
            .declared(description.r#type.as_ref(), it.name())?;
        Ok(match description.mode {
            AttributeMode::AttrReadonly => {
                format!(
                    "readonly attribute {declared}{}",
                    self.raises("raises", get)?
                )
            }
            AttributeMode::AttrNormal => format!(
                "attribute {declared}{}{}",
                self.raises("getraises", get)?,
                self.raises("setraises", set)?
            ),
        })
    }

    fn raises(&self, word: &str, exceptions: &[ExceptionDescription]) -> Written<String> {
        let names = self.found.names("", exceptions.iter().map(|it| &it.id))?;
        Ok(if names.is_empty() {
            names
        } else {
            format!(" {word} ({names})")
        })
    }

    fn operation(&self, it: &Definition) -> Written<String> {
        let operation: OperationDescription = it.described()?;
        let mut parameters = Vec::new();
        for parameter in &operation.parameters {
            let way = match parameter.mode {
                ParameterMode::ParamIn => "in",
                ParameterMode::ParamOut => "out",
                ParameterMode::ParamInout => "inout",
            };
            let declared = self
                .found
                .declared(parameter.r#type.as_ref(), &parameter.name)?;
            parameters.push(format!("{way} {declared}"));
        }
        let oneway = match operation.mode {
            OperationMode::OpOneway => "oneway ",
            OperationMode::OpNormal => "",
        };
        let contexts = operation.contexts.iter().map(|it| quoted(it));
        let contexts: Vec<_> = contexts.collect();
        let contexts = if contexts.is_empty() {
            String::new()
        } else {
            format!(" context ({})", contexts.join(", "))
        };
        Ok(format!(
            "{oneway}{} {}({}){}{contexts}",
            self.found.type_text(operation.result.as_ref())?,
            idl_identifier(it.name()),
            parameters.join(", "),
            self.raises("raises", &operation.exceptions)?,
        ))
    }

    fn value(&mut self, it: &Definition) -> Written<()> {
        let value: ValueDescription = it.described()?;
        let custom = if value.is_custom { "custom " } else { "" };
        let mut bases = value.abstract_base_values.clone();
        if !value.base_value.is_empty() {
            bases.insert(0, value.base_value.clone());
        }
        let before = if value.is_truncatable {
            " : truncatable "
        } else {
            " : "
        };
        let bases = self.found.names(before, &bases)?;
        let supports = self
            .found
            .names(" supports ", &value.supported_interfaces)?;
        self.line(&format!("{custom}{}{bases}{supports} {{", forward(it)?));
        self.depth += 1;
        self.contents(it)?;
        for initializer in &it.initializers {
            let text = self.initializer(initializer)?;
            self.line(&text);
        }
        self.depth -= 1;
        self.line("};");
        Ok(())
    }

    fn initializer(&self, it: &ExtInitializer) -> Written<String> {
        let mut parameters = Vec::new();
        for member in &it.members {
            let declared = self.found.declared(member.r#type.as_ref(), &member.name)?;
            parameters.push(format!("in {declared}"));
        }
        Ok(format!(
            "factory {}({}){};",
            identifier(&it.name)?,
            parameters.join(", "),
            self.raises("raises", &it.exceptions)?
        ))
    }
}

/// The keywords and name of a forward declaration.
fn forward(it: &Definition) -> Written<String> {
    let words = match it.kind {
        DefinitionKind::DkInterface => "interface",
        DefinitionKind::DkAbstractInterface => "abstract interface",
        DefinitionKind::DkLocalInterface => "local interface",
        DefinitionKind::DkStruct => "struct",
        DefinitionKind::DkUnion => "union",
        kind => match (it.described::<ValueDescription>()?.is_abstract, kind) {
            (true, DefinitionKind::DkEvent) => "abstract eventtype",
            (false, DefinitionKind::DkEvent) => "eventtype",
            (true, _) => "abstract valuetype",
            (false, _) => "valuetype",
        },
    };
    Ok(format!("{words} {}", idl_identifier(it.name())))
}
