// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servant templates for a programmer: their bodies are `todo!()`.

use orbium_idl_model::{Definition, DefinitionKind, Interface, InterfaceKind};

use crate::emit::Emitter;
use crate::interface::server::Signature;
use crate::names::{self, NameSet};
use crate::plan::Plan;

/// The imports of the file, and the names that it cannot import.
struct Imports {
    /// The names of the generated modules at file scope, and of the servants.
    taken: NameSet,
    /// The path of the façade.
    facade: String,
    /// Names from the façade, in order.
    runtime: Vec<String>,
    /// Names from the standard library, with their modules, in order.
    standard: Vec<String>,
    /// Modules and types of the generated code, in order.
    generated: Vec<String>,
}

/// The whole file. `around` is the path of the module around the generated ones.
pub(crate) fn file(plan: &Plan<'_>, around: &str) -> String {
    let runtime = plan.options.runtime_path();
    let mut imports = Imports {
        taken: plan.taken_in(&[]),
        facade: runtime
            .strip_suffix("::codegen")
            .unwrap_or(runtime)
            .to_owned(),
        runtime: Vec::new(),
        standard: Vec::new(),
        generated: Vec::new(),
    };
    let mut stubs = Vec::new();
    for definition in plan.model.definitions() {
        if let DefinitionKind::Interface(interface) = &definition.kind
            && definition.in_main_file
            && !interface.forward_only
            && plan.is_mapped(definition.id)
            && !plan.is_external(definition.id)
        {
            let mut wanted = format!("{}Impl", names::camel(&definition.name));
            if imports.taken.contains(&wanted) {
                wanted = format!("{}Impl", names::camel(&definition.path.join("_")));
            }
            let name = names::fresh(&wanted, &mut imports.taken);
            stubs.push((definition, interface, name));
        }
    }
    // No module of IDL has an empty name: all generated paths begin with `super::`.
    let mut emitter = Emitter::new(plan, vec![String::new()]);
    emitter.text.shadow(plan.shadowed_in(&[]));
    for (definition, interface, name) in &stubs {
        emitter.empty_servant(definition, interface, name, &mut imports);
    }
    let servants = emitter.text.finish();
    let mut head = format!(
        "// Servants of the interfaces of {}, to be filled in: a method that is still\n\
         // `todo!()` panics, and its caller gets UNKNOWN.\n\n",
        plan.options.shown_sources()
    );
    let mut standard = String::new();
    for name in &imports.standard {
        standard.push_str(&format!("use std::{name};\n"));
    }
    // Modules before types, as the formatter orders them.
    let (mut modules, mut generated) = (Vec::new(), Vec::new());
    for name in imports.generated {
        if name.starts_with(|c: char| c.is_ascii_uppercase()) {
            generated.push(name);
        } else {
            modules.push(name);
        }
    }
    modules.append(&mut generated);
    let groups = [
        standard,
        import(&imports.facade, &imports.runtime),
        import(around, &modules),
    ];
    for group in &groups {
        if !group.is_empty() {
            head.push_str(group);
            head.push('\n');
        }
    }
    head.push_str(&servants);
    head
}

/// A line that imports names of a module; empty if there are none.
fn import(module: &str, names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => format!("use {module}::{only};\n"),
        _ => {
            let one = format!("use {module}::{{{}}};\n", names.join(", "));
            if one.len() <= 101 {
                return one;
            }
            let mut lines = format!("use {module}::{{");
            let mut column = 101;
            for name in names {
                if column + name.len() + 2 > 100 {
                    lines.push_str("\n   ");
                    column = 3;
                }
                lines.push_str(&format!(" {name},"));
                column += name.len() + 2;
            }
            lines.push_str("\n};\n");
            lines
        }
    }
}

impl Emitter<'_, '_> {
    /// A servant of one interface: the struct, and the traits of the interface and of its bases.
    fn empty_servant(
        &mut self,
        definition: &Definition,
        interface: &Interface,
        name: &str,
        imports: &mut Imports,
    ) {
        let local = interface.kind == InterfaceKind::Local;
        let what = if local {
            "local interface"
        } else {
            "interface"
        };
        let shown = definition.path.join("::");
        self.text.blank();
        self.text
            .raw(&format!("/// A servant of IDL {what} `{shown}`."));
        self.text.line("#[derive(Debug, Default)]");
        self.text.line(format!("pub struct {name};"));
        let mut traits = self.plan.model.all_bases(definition.id);
        traits.push(definition.id);
        for id in traits {
            let of = &self.plan.model[id];
            let base_is_local = self.plan.interface_kind(id) == Some(InterfaceKind::Local);
            if local != base_is_local {
                continue;
            }
            let (path, functions) = if local {
                (
                    self.plan.path_to(&self.module, id),
                    self.local_functions(of),
                )
            } else {
                (self.servant_path(id), self.own_functions(of))
            };
            let path = imports.shortened(&path);
            self.text.blank();
            if functions.is_empty() {
                self.text.line(format!("impl {path} for {name} {{}}"));
                continue;
            }
            // Until the bodies use their parameters.
            self.text.line("#[allow(unused_variables)]");
            self.text.open_impl(&format!("impl {path}"), name);
            for function in &functions {
                let signature = if local {
                    self.local_signature(function)
                } else {
                    self.servant_signature(function)
                };
                self.empty_method(&signature, imports);
            }
            self.text.close("}");
        }
    }

    fn empty_method(&mut self, signature: &Signature, imports: &mut Imports) {
        let mut parameters = Vec::new();
        for parameter in &signature.parameters {
            parameters.push(imports.shortened(parameter));
        }
        let tail = match signature.result.as_str() {
            "" => " {".to_owned(),
            result => format!(" -> {} {{", imports.shortened(result)),
        };
        self.text.blank();
        self.text.signature(&signature.head, &parameters, &tail);
        self.text.line("todo!()");
        self.text.close("}");
    }
}

impl Imports {
    /// Code with the names of the runtime and of the generated modules replaced by imports of this
    /// file.
    fn shortened(&mut self, code: &str) -> String {
        let mut out = String::new();
        let mut rest = code;
        while !rest.is_empty() {
            let word = word(rest);
            if word.is_empty() {
                let mut letters = rest.chars();
                out.extend(letters.next());
                rest = letters.as_str();
                continue;
            }
            let within = out.ends_with("::");
            match rest.split_once("::") {
                Some((start, behind)) if start == word && !within && word == "orb" => {
                    let name = self::word(behind);
                    out.push_str(&self.runtime_name(name));
                    rest = &behind[name.len()..];
                }
                Some((start, behind)) if start == word && !within && word == "super" => {
                    let name = self::word(behind);
                    add(&mut self.generated, name);
                    out.push_str(name);
                    rest = &behind[name.len()..];
                }
                _ => {
                    out.push_str(word);
                    rest = &rest[word.len()..];
                }
            }
        }
        out
    }

    /// A name of the runtime: imported, or with its path if the IDL has the same name.
    fn runtime_name(&mut self, name: &str) -> String {
        let module = match name {
            "Arc" => Some("sync"),
            "Cow" => Some("borrow"),
            _ => None,
        };
        match (self.taken.contains(name), module) {
            (true, Some(module)) => format!("::std::{module}::{name}"),
            (true, None) => format!("{}::{name}", self.facade),
            (false, Some(module)) => {
                add(&mut self.standard, &format!("{module}::{name}"));
                name.to_owned()
            }
            (false, None) => {
                add(&mut self.runtime, name);
                name.to_owned()
            }
        }
    }
}

/// The identifier at the start of a text, raw ones with their mark.
fn word(text: &str) -> &str {
    let mut end = if text.starts_with("r#") { 2 } else { 0 };
    for letter in text[end..].bytes() {
        if !letter.is_ascii_alphanumeric() && letter != b'_' {
            break;
        }
        end += 1;
    }
    &text[..end]
}

/// Inserts a name in order, once.
fn add(names: &mut Vec<String>, name: &str) {
    if let Err(place) = names.binary_search_by(|known| known.as_str().cmp(name)) {
        names.insert(place, name.to_owned());
    }
}
