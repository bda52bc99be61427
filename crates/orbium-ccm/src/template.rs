// SPDX-License-Identifier: MIT OR Apache-2.0
//! Template modules (IDL 4, 7.4.12): their contents with arguments in place of parameters.

use std::collections::HashMap;

use crate::cursor::{Cursor, spelled, write};
use crate::expander::Expander;
use crate::expansion::Token;
use crate::kept::Template;

/// The head of an instance, behind `module` or `alias`, with arguments.
struct Instance<'t, 'a> {
    template: String,
    arguments: Vec<Vec<Token<'a>>>,
    name: &'t Token<'a>,
}

impl<'a> Expander<'a> {
    /// `module NAME<parameters> { … };`: stored until it is instantiated.
    pub(crate) fn template_module(
        &mut self,
        cursor: &mut Cursor<'_, 'a>,
    ) -> Option<Vec<Token<'a>>> {
        cursor.expect("module")?;
        let name = cursor.name()?;
        cursor.expect("<")?;
        let mut parameters = Vec::new();
        for parameter in cursor.arguments()? {
            let [_, .., formal] = parameter.as_slice() else {
                return None;
            };
            parameters.push(formal.text.to_string());
        }
        let body = cursor.braced()?.to_vec();
        let full = self.scopes.full(&name.text);
        let template = Template { parameters, body };
        self.templates.insert(full, template.into());
        Some(Vec::new())
    }

    /// `module NAME<arguments> NAME;`, or `alias` of the same: a module of the contents.
    pub(crate) fn instance(&mut self, cursor: &mut Cursor<'_, 'a>) -> Option<Vec<Token<'a>>> {
        let instance = read_instance(cursor)?;
        let name = instance.name;
        self.charge(instance.template.len() + name.text.len());
        let full = self.scopes.find(&instance.template, None, |it| {
            self.templates.contains_key(it)
        });
        let Some(template) = full.and_then(|it| self.templates.get(&it)).cloned() else {
            let message = format!(
                "the module `{}` is left out: there is no template module `{}`",
                name.text,
                instance.template.replace(' ', "")
            );
            self.note(name, &message);
            return Some(Vec::new());
        };
        if template.parameters.len() != instance.arguments.len() {
            let message = format!(
                "the module `{}` is left out: `{}` has {} parameters",
                name.text,
                instance.template.replace(' ', ""),
                template.parameters.len()
            );
            self.note(name, &message);
            return Some(Vec::new());
        }
        self.substituted(&template, instance)
    }

    /// The module of an instance.
    fn substituted(
        &self,
        template: &Template<'a>,
        instance: Instance<'_, 'a>,
    ) -> Option<Vec<Token<'a>>> {
        let name = instance.name;
        let parameters = template.parameters.iter().map(String::as_str);
        let arguments: HashMap<_, _> = parameters.zip(instance.arguments).collect();
        let mut out = Vec::new();
        write(&mut out, name.at, "module");
        out.push(name.clone());
        write(&mut out, name.at, "{");
        let mut before = "";
        for token in &template.body {
            match arguments.get(&*token.text) {
                Some(argument) if before != "::" => out.extend_from_slice(argument),
                _ => out.push(token.clone()),
            }
            before = &token.text;
            if self.is_full(out.len()) {
                return None;
            }
        }
        write(&mut out, name.at, "} ;");
        Some(out)
    }
}

fn read_instance<'t, 'a>(cursor: &mut Cursor<'t, 'a>) -> Option<Instance<'t, 'a>> {
    let _ = cursor.eat("alias") || cursor.eat("module");
    let template = spelled(cursor.scoped()?);
    cursor.expect("<")?;
    let arguments = cursor.arguments()?;
    let name = cursor.name()?;
    cursor.expect(";")?;
    Some(Instance {
        template,
        arguments,
        name,
    })
}
