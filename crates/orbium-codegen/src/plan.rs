// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where everything goes and what it is called, decided before a line is
//! written.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use orbium_idl::model::{
    DefId, DefMap, DefSet, Definition, DefinitionKind, Direction, InterfaceKind, Model, Type,
};

use crate::data::variants;
use crate::mapped::{LeftOut, left_out};
use crate::types::FACTS;
use crate::{Options, names};

/// Names that must keep their meaning in every generated module.
const RESERVED: [&str; 20] = [
    "orb", "bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32",
    "i64", "i128", "isize", "f32", "f64", "core", "std",
];

/// Where a definition is generated.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Names of the modules around it.
    pub(crate) module: Vec<String>,
    /// Its own name.
    pub(crate) name: String,
    /// The module that holds what is defined inside it, if anything is.
    pub(crate) inner: Option<String>,
}

impl Place {
    /// Path of the module of its contents.
    pub(crate) fn inner_path(&self) -> Vec<String> {
        let mut path = self.module.clone();
        path.extend(self.inner.clone());
        path
    }
}

/// What an operation or attribute is called.
#[derive(Debug, Clone, Default)]
pub(crate) struct Methods {
    /// The operation, or reading the attribute.
    pub(crate) call: String,
    /// Writing the attribute.
    pub(crate) set: Option<String>,
    /// The struct of several outputs.
    pub(crate) results: Option<String>,
}

/// Names that an interface brings beside its own.
#[derive(Debug, Clone)]
pub(crate) struct InterfaceNames {
    pub(crate) servant: String,
    pub(crate) skeleton: String,
    pub(crate) operations: String,
}

/// An error enum: where it is and what it may hold.
#[derive(Debug, Clone)]
pub(crate) struct ErrorEnum {
    pub(crate) name: String,
    pub(crate) exceptions: Vec<DefId>,
}

/// All decisions.
pub(crate) struct Plan<'m> {
    pub(crate) model: &'m Model,
    pub(crate) options: &'m Options,
    pub(crate) left_out: LeftOut,
    places: DefMap<Place>,
    methods: DefMap<Methods>,
    interfaces: DefMap<InterfaceNames>,
    type_codes: DefMap<String>,
    /// By module, then by the set of exceptions.
    errors: BTreeMap<Vec<String>, Vec<ErrorEnum>>,
    taken: HashMap<Vec<String>, HashSet<String>>,
    external: Vec<(Vec<String>, String)>,
    /// By fact.
    pub(crate) facts: RefCell<[DefMap<u64>; FACTS]>,
    /// Variant names of the enums asked for.
    variants: RefCell<DefMap<Vec<String>>>,
}

impl<'m> Plan<'m> {
    pub(crate) fn new(model: &'m Model, options: &'m Options) -> Self {
        let mut plan = Self {
            model,
            options,
            left_out: left_out(model, options),
            places: DefMap::default(),
            methods: DefMap::default(),
            interfaces: DefMap::default(),
            type_codes: DefMap::default(),
            errors: BTreeMap::new(),
            taken: HashMap::new(),
            external: Vec::new(),
            facts: RefCell::default(),
            variants: RefCell::default(),
        };
        plan.place(model.top_level(), &[]);
        for (scope, path) in &options.external {
            let found = model
                .lookup(scope)
                .and_then(|module| plan.places.get(module.id));
            if let Some(place) = found {
                plan.external.push((place.inner_path(), path.clone()));
            }
        }
        let mut named = DefSet::default();
        for definition in model.definitions() {
            plan.name_with_bases(definition.id, &mut named);
        }
        plan
    }

    /// Bases are named before what inherits them, wherever a forward
    /// declaration has put them.
    fn name_with_bases(&mut self, id: DefId, named: &mut DefSet) {
        let known = self.interfaces.contains(id);
        if known && named.insert(id) {
            for base in self.model.bases(id) {
                self.name_with_bases(*base, named);
            }
            self.name_features(id);
        }
    }

    pub(crate) fn is_mapped(&self, id: DefId) -> bool {
        !self.left_out.contains(id)
    }

    /// The definitions in a scope that are generated.
    pub(crate) fn contents(&self, ids: &'m [DefId]) -> impl Iterator<Item = &'m Definition> {
        let mapped = ids.iter().filter(|id| self.is_mapped(**id));
        mapped
            .map(|id| &self.model[*id])
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn fresh(&mut self, module: &[String], name: &str) -> String {
        let reserved = || {
            let root = self
                .options
                .runtime_path()
                .split("::")
                .next()
                .unwrap_or("")
                .to_owned();
            RESERVED
                .iter()
                .map(|name| (*name).to_owned())
                .chain([root])
                .collect()
        };
        let taken = self.taken.entry(module.to_vec()).or_insert_with(reserved);
        names::fresh(name, taken)
    }

    /// Names what a scope holds, then what that brings with it, then goes in.
    fn place(&mut self, ids: &'m [DefId], module: &[String]) {
        let contents: Vec<&Definition> = self.contents(ids).filter(|d| !is_feature(d)).collect();
        for definition in &contents {
            let name = match definition.kind {
                DefinitionKind::Module(_) => names::value(&definition.name),
                DefinitionKind::Constant(_) => names::screaming(&definition.name),
                _ => names::ty(&definition.name),
            };
            let name = self.fresh(module, &name);
            let inner = matches!(definition.kind, DefinitionKind::Module(_)).then(|| name.clone());
            let place = Place {
                module: module.to_vec(),
                name,
                inner,
            };
            self.places.insert(definition.id, place);
        }
        for definition in &contents {
            self.name_companions(definition, module);
        }
        for definition in &contents {
            let path = self.places[definition.id].inner_path();
            if path.len() > module.len() {
                self.place(self.model.contents(definition.id), &path);
            }
        }
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
        );
        if has_type {
            let wanted = format!("{}_TYPE", names::screaming(&definition.name));
            let found = self.fresh(module, &wanted);
            self.type_codes.insert(definition.id, found);
        }
        if matches!(definition.kind, DefinitionKind::Interface(_)) {
            let found = InterfaceNames {
                servant: self.fresh(module, &format!("{name}Servant")),
                skeleton: self.fresh(module, &format!("{name}Skeleton")),
                operations: self.fresh(
                    module,
                    &format!("{}_OPERATIONS", names::screaming(&definition.name)),
                ),
            };
            self.interfaces.insert(definition.id, found);
        }
        let is_module = matches!(definition.kind, DefinitionKind::Module(_));
        let inside = self.model.contents(definition.id);
        if !is_module && self.contents(inside).any(|inside| !is_feature(inside)) {
            let inner = self.fresh(module, &names::value(&definition.name));
            if let Some(place) = self.places.get_mut(definition.id) {
                place.inner = Some(inner);
            }
        }
    }

    /// Names the methods of an interface after those that it inherits.
    fn name_features(&mut self, id: DefId) {
        let mut taken = HashSet::new();
        for base in self.model.all_bases(id) {
            for feature in self.model.contents(base) {
                if let Some(methods) = self.methods.get(*feature) {
                    taken.insert(methods.call.clone());
                    if let Some(set) = &methods.set {
                        taken.insert(set.clone());
                    }
                }
            }
        }
        let module = self.places[id].module.clone();
        let features: Vec<&Definition> = self
            .contents(self.model.contents(id))
            .filter(|d| is_feature(d))
            .collect();
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
                        self.plan_error(&module, &attribute.set_raises, id, feature);
                    }
                    self.plan_error(&module, &attribute.get_raises, id, feature);
                }
                DefinitionKind::Operation(operation) => {
                    let outs = operation
                        .parameters
                        .iter()
                        .filter(|p| p.direction == Direction::Out);
                    let values = usize::from(operation.result != Type::Void) + outs.count();
                    if values > 1 {
                        let interface = names::camel(&self.model[id].name);
                        let wanted = format!("{interface}{}Results", names::camel(&feature.name));
                        let results = self.fresh(&module, &wanted);
                        if let Some(methods) = self.methods.get_mut(feature.id) {
                            methods.results = Some(results);
                        }
                    }
                    self.plan_error(&module, &operation.raises, id, feature);
                }
                _ => {}
            }
        }
    }

    /// One error enum per distinct set of exceptions in a module.
    fn plan_error(
        &mut self,
        module: &[String],
        raises: &[DefId],
        interface: DefId,
        feature: &Definition,
    ) {
        if raises.is_empty() || self.error_enum(module, raises).is_some() {
            return;
        }
        let exceptions = canonical(raises);
        let name = if exceptions.len() <= 2 {
            let names: Vec<String> = exceptions
                .iter()
                .map(|id| names::camel(&self.model[*id].name))
                .collect();
            names.join("Or")
        } else {
            format!(
                "{}{}",
                names::camel(&self.model[interface].name),
                names::camel(&feature.name)
            )
        };
        let name = self.fresh(module, &format!("{name}Error"));
        self.errors
            .entry(module.to_vec())
            .or_default()
            .push(ErrorEnum { name, exceptions });
    }

    /// The error enum for a set of exceptions.
    pub(crate) fn error_enum(&self, module: &[String], raises: &[DefId]) -> Option<&ErrorEnum> {
        let exceptions = canonical(raises);
        let enums = self.errors.get(module)?;
        enums.iter().find(|found| found.exceptions == exceptions)
    }

    /// The error enums of a module.
    pub(crate) fn error_enums(&self, module: &[String]) -> &[ErrorEnum] {
        self.errors.get(module).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn place_of(&self, id: DefId) -> &Place {
        &self.places[id]
    }

    pub(crate) fn methods_of(&self, id: DefId) -> &Methods {
        &self.methods[id]
    }

    pub(crate) fn interface(&self, id: DefId) -> &InterfaceNames {
        &self.interfaces[id]
    }

    /// The variant for an enumerator.
    pub(crate) fn variant(&self, of: DefId, index: u32) -> String {
        let mut known = self.variants.borrow_mut();
        if !known.contains(of)
            && let DefinitionKind::Enum(enumeration) = &self.model[of].kind
        {
            known.insert(of, variants(enumeration));
        }
        let name = known.get(of).and_then(|names| names.get(index as usize));
        name.cloned().unwrap_or_default()
    }

    /// Name of the static that describes a type.
    pub(crate) fn type_code(&self, id: DefId) -> &str {
        &self.type_codes[id]
    }

    /// Names defined in a module, to tell what they shadow.
    pub(crate) fn defined_in(&self, module: &[String]) -> HashSet<String> {
        self.taken.get(module).cloned().unwrap_or_default()
    }

    /// Whether a module comes from elsewhere, so that nothing is generated.
    pub(crate) fn is_external(&self, module: &[String]) -> bool {
        self.external
            .iter()
            .any(|(found, _)| module.starts_with(found))
    }

    /// The path from a module to a name in another one.
    pub(crate) fn path(&self, from: &[String], module: &[String], name: &str) -> String {
        for (external, path) in &self.external {
            if module.starts_with(external) && !from.starts_with(external) {
                let inside = &module[external.len()..];
                let parts = std::iter::once(path).chain(inside).map(String::as_str);
                return parts.chain([name]).collect::<Vec<_>>().join("::");
            }
        }
        let common = from.iter().zip(module).take_while(|(a, b)| a == b).count();
        let ups = std::iter::repeat_n("super", from.len() - common);
        let downs = module[common..].iter().map(String::as_str);
        ups.chain(downs)
            .chain([name])
            .collect::<Vec<_>>()
            .join("::")
    }

    /// The path from a module to a definition.
    pub(crate) fn path_to(&self, from: &[String], id: DefId) -> String {
        if let Some(path) = self.options.native(&self.model[id].scoped_name()) {
            return path.to_owned();
        }
        let place = &self.places[id];
        self.path(from, &place.module, &place.name)
    }

    /// The operations and attributes of an interface that are generated, the
    /// inherited ones first.
    pub(crate) fn features(&self, id: DefId) -> Vec<&'m Definition> {
        let features = self.model.all_features(id).into_iter();
        features
            .filter(|id| self.is_mapped(*id))
            .map(|id| &self.model[id])
            .collect()
    }

    /// The interface that a feature was declared in.
    pub(crate) fn owner(&self, feature: &Definition) -> DefId {
        feature.parent.unwrap_or(feature.id)
    }

    pub(crate) fn interface_kind(&self, id: DefId) -> Option<InterfaceKind> {
        match &self.model[id].kind {
            DefinitionKind::Interface(interface) => Some(interface.kind),
            _ => None,
        }
    }
}

/// A set of exceptions in the one order in which sets are compared.
fn canonical(raises: &[DefId]) -> Vec<DefId> {
    let mut exceptions = raises.to_vec();
    exceptions.sort_unstable();
    exceptions.dedup();
    exceptions
}

pub(crate) fn is_feature(definition: &Definition) -> bool {
    let kind = &definition.kind;
    matches!(
        kind,
        DefinitionKind::Operation(_) | DefinitionKind::Attribute(_)
    )
}
