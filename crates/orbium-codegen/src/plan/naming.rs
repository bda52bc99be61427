// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of all generated items, unique in their scopes.

use orbium_idl_model::{DefId, DefSet, Definition, DefinitionKind, Direction, Type};

use super::{ErrorEnum, InterfaceNames, Methods, Place, Plan, canonical, is_feature, is_outside};
use crate::names::{self, NameSet};

impl<'m> Plan<'m> {
    /// Names bases before their derived definitions, independent of forward declarations.
    pub(super) fn name_with_bases(&mut self, id: DefId, named: &mut DefSet) {
        let mut pending = vec![(id, false)];
        while let Some((id, has_named_bases)) = pending.pop() {
            if has_named_bases {
                self.name_features(id);
            } else if self.interfaces.contains(id) && named.insert(id) {
                pending.push((id, true));
                let bases = self.model.bases(id).iter().chain(self.supported(id));
                pending.extend(bases.rev().map(|base| (*base, false)));
            }
        }
    }

    /// Names the contents of a scope, then the items derived from them, then the nested scopes.
    ///
    /// External definitions are placed outside: at the declared path of their module, or of their
    /// file.
    pub(super) fn place(
        &mut self,
        ids: &'m [DefId],
        module: &[String],
        outside: Option<&[String]>,
    ) {
        let mut contents = Vec::new();
        for &definition in &self.contents(ids) {
            if !is_feature(definition) {
                contents.push((definition, self.home(definition, module, outside)));
            }
        }
        for (definition, home) in &contents {
            let name = match definition.kind {
                DefinitionKind::Module(_) => names::value(&definition.name),
                DefinitionKind::Constant(_) => names::screaming(&definition.name),
                _ => names::ty(&definition.name),
            };
            let name = self.fresh(home, &name);
            let inner = matches!(definition.kind, DefinitionKind::Module(_)).then(|| name.clone());
            let place = Place {
                module: home.clone(),
                name,
                inner,
            };
            self.places.insert(definition.id, place);
        }
        for (definition, home) in &contents {
            self.name_companions(definition, home);
        }
        for (definition, home) in &contents {
            let path = self.places[definition.id].inner_path();
            if path.len() > home.len() {
                let outside = self.outside(definition, outside);
                let contents = self.model.contents(definition.id);
                self.place(contents, &path, outside.as_deref());
            }
        }
    }

    /// The module that a definition is placed in.
    fn home(
        &self,
        definition: &Definition,
        module: &[String],
        outside: Option<&[String]>,
    ) -> Vec<String> {
        // A module is local if a part of it is.
        if matches!(definition.kind, DefinitionKind::Module(_)) || is_outside(module) {
            return module.to_vec();
        }
        if let Some(path) = self.options.external_file_of(&definition.location.file) {
            let mut home = vec![format!("{path}::")];
            home.extend_from_slice(module);
            return home;
        }
        match outside {
            Some(outside) if !definition.in_main_file => outside.to_vec(),
            _ => module.to_vec(),
        }
    }

    /// The path of a definition's contents if they are external: as declared in the options for
    /// this module, or derived from that of an enclosing one.
    fn outside(&self, definition: &Definition, around: Option<&[String]>) -> Option<Vec<String>> {
        if let Some(path) = self.options.external(&definition.scoped_name()) {
            return Some(vec![format!("{path}::")]);
        }
        let mut outside = around?.to_vec();
        outside.push(names::value(&definition.name));
        Some(outside)
    }

    fn name_companions(&mut self, definition: &'m Definition, module: &[String]) {
        let name = names::camel(&definition.name);
        let has_type = matches!(
            definition.kind,
            DefinitionKind::Struct(_)
                | DefinitionKind::Union(_)
                | DefinitionKind::Enum(_)
                | DefinitionKind::Alias(_)
                | DefinitionKind::Exception(_)
                | DefinitionKind::ValueType(_)
                | DefinitionKind::ValueBox(_)
        );
        if has_type {
            let wanted = format!("{}_TYPE", names::screaming(&definition.name));
            let found = self.fresh(module, &wanted);
            self.type_codes.insert(definition.id, found);
        }
        if self.is_value(definition.id) {
            let found = self.fresh(module, &format!("{name}State"));
            self.value_states.insert(definition.id, found);
        }
        if matches!(definition.kind, DefinitionKind::ValueType(_))
            && !self.value_features(definition.id).is_empty()
        {
            let servant = self.fresh(module, &format!("{name}Operations"));
            self.interfaces.insert(
                definition.id,
                InterfaceNames {
                    servant,
                    async_servant: None,
                    poller: None,
                },
            );
        }
        if !self.factories(definition.id).is_empty() {
            let found = self.fresh(module, &format!("{name}Factory"));
            self.factory_traits.insert(definition.id, found);
            for factory in self.factories(definition.id) {
                self.plan_error(module, &factory.raises, definition.id, &factory.name);
            }
        }
        if matches!(definition.kind, DefinitionKind::Interface(_)) {
            let servant = self.fresh(module, &format!("{name}Servant"));
            let is_async = self.has_async_servant(definition.id);
            let is_polled = self.has_poller(definition.id);
            let found = InterfaceNames {
                servant,
                async_servant: is_async.then(|| self.fresh(module, &format!("{name}AsyncServant"))),
                poller: is_polled.then(|| self.fresh(module, &format!("{name}Poller"))),
            };
            self.interfaces.insert(definition.id, found);
        }
        let is_module = matches!(definition.kind, DefinitionKind::Module(_));
        let inside = self.model.contents(definition.id);
        if !is_module
            && self
                .contents(inside)
                .iter()
                .any(|inside| !is_feature(inside))
        {
            let inner = self.fresh(module, &names::value(&definition.name));
            if let Some(place) = self.places.get_mut(definition.id) {
                place.inner = Some(inner);
            }
        }
    }

    /// Names the methods of an interface after the inherited ones.
    fn name_features(&mut self, id: DefId) {
        let mut taken = NameSet::new();
        let mut inherited = self.features(id);
        inherited.append(&mut self.value_features(id));
        for feature in inherited {
            if let Some(methods) = self.methods.get(feature.id) {
                taken.insert(methods.call.clone());
                if let Some(set) = &methods.set {
                    taken.insert(set.clone());
                }
            }
        }
        let module = self.places[id].module.clone();
        // Other contents have separate names.
        let mut features = Vec::new();
        for &feature in &self.contents(self.model.contents(id)) {
            if is_feature(feature) {
                features.push(feature);
            }
        }
        for feature in &features {
            let call = names::fresh(&names::value(&feature.name), &mut taken);
            self.methods.insert(
                feature.id,
                Methods {
                    call,
                    ..Methods::default()
                },
            );
        }
        for feature in &features {
            match &feature.kind {
                DefinitionKind::Attribute(attribute) => {
                    if !attribute.readonly {
                        let wanted = format!("set_{}", names::snake(&feature.name));
                        let set = names::fresh(&wanted, &mut taken);
                        if let Some(methods) = self.methods.get_mut(feature.id) {
                            methods.set = Some(set);
                        }
                        self.plan_error(&module, &attribute.set_raises, id, &feature.name);
                    }
                    self.plan_error(&module, &attribute.get_raises, id, &feature.name);
                }
                DefinitionKind::Operation(operation) => {
                    let mut values = usize::from(operation.result != Type::Void);
                    for parameter in &operation.parameters {
                        values += usize::from(parameter.direction == Direction::Out);
                    }
                    if values > 1 {
                        let interface = names::camel(&self.model[id].name);
                        let wanted = format!("{interface}{}Results", names::camel(&feature.name));
                        let results = self.fresh(&module, &wanted);
                        if let Some(methods) = self.methods.get_mut(feature.id) {
                            methods.results = Some(results);
                        }
                    }
                    self.plan_error(&module, &operation.raises, id, &feature.name);
                }
                _ => {}
            }
        }
    }

    /// One error enum per distinct set of exceptions in a module.
    fn plan_error(&mut self, module: &[String], raises: &[DefId], interface: DefId, feature: &str) {
        if raises.is_empty() || self.error_enum(module, raises).is_some() {
            return;
        }
        let exceptions = canonical(raises);
        let name = if exceptions.len() <= 2 {
            exceptions
                .iter()
                .map(|id| names::camel(&self.model[*id].name))
                .collect::<Vec<_>>()
                .join("Or")
        } else {
            format!(
                "{}{}",
                names::camel(&self.model[interface].name),
                names::camel(feature)
            )
        };
        let name = self.fresh(module, &format!("{name}Error"));
        let names = self.names_of(module);
        names.errors.push(ErrorEnum {
            name,
            exceptions,
            operations: Vec::new(),
        });
    }
}
