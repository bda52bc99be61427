// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plan of the generated code: modules and names, resolved before a line is written.

mod naming;
mod paths;

use std::cell::RefCell;
use std::collections::HashMap;

use orbium_idl_model::{
    DefId, DefMap, DefSet, Definition, DefinitionKind, Factory, InterfaceKind, Model,
};

use crate::implied::ReplyHandlers;
use crate::mapped::{LeftOut, is_mapped_factory, left_out};
use crate::names::NameSet;
use crate::prepared::Prepared;
use crate::text::Shadowed;
use crate::types::facts::Facts;
use crate::{Options, names};

/// Names that must have the same meaning in every generated module.
const RESERVED: [&str; 20] = [
    "orb", "bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32",
    "i64", "i128", "isize", "f32", "f64", "core", "std",
];

/// The place of a generated definition.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Names of the modules around it.
    pub(crate) module: Vec<String>,
    /// Its own name.
    pub(crate) name: String,
    /// The module of its nested definitions, if there are any.
    pub(crate) inner: Option<String>,
}

impl Place {
    /// Path of the module of its contents.
    pub(crate) fn inner_path(&self) -> Vec<String> {
        let mut path = self.module.clone();
        if let Some(inner) = &self.inner {
            path.push(inner.clone());
        }
        path
    }
}

/// The names of an operation's or attribute's methods.
#[derive(Debug, Clone, Default)]
pub(crate) struct Methods {
    /// The operation, or reading the attribute.
    pub(crate) call: String,
    /// Writing the attribute.
    pub(crate) set: Option<String>,
    /// The struct of several outputs.
    pub(crate) results: Option<String>,
}

/// Names that an interface adds to its own name.
#[derive(Debug, Clone)]
pub(crate) struct InterfaceNames {
    pub(crate) servant: String,
    /// The trait of its asynchronous servants, if it has one.
    pub(crate) async_servant: Option<String>,
    /// The poller of its asynchronous calls, if it has one.
    pub(crate) poller: Option<String>,
}

/// An error enum: its name and exceptions.
#[derive(Debug, Clone)]
pub(crate) struct ErrorEnum {
    pub(crate) name: String,
    pub(crate) exceptions: Vec<DefId>,
    /// The operations that raise it under different names.
    pub(crate) operations: Vec<OperationError>,
}

/// The name that an operation gives to its error.
#[derive(Debug, Clone)]
pub(crate) struct OperationError {
    pub(crate) name: String,
    /// The name of the operation in requests.
    pub(crate) operation: String,
}

/// Generated items of a module that are not definitions.
#[derive(Debug, Clone, Default)]
struct Names {
    taken: NameSet,
    /// One for each set of exceptions.
    errors: Vec<ErrorEnum>,
}

/// The whole plan.
pub(crate) struct Plan<'m> {
    pub(crate) model: &'m Model,
    pub(crate) options: &'m Options,
    pub(crate) reply_handlers: &'m ReplyHandlers,
    pub(crate) left_out: LeftOut,
    places: DefMap<Place>,
    methods: DefMap<Methods>,
    /// The structs of the results of asynchronous calls, if those are more than the results of the
    /// synchronous ones.
    pub(crate) asynchronous_results: DefMap<String>,
    /// The structs of borrows that servants send.
    pub(crate) replies: DefMap<String>,
    /// The structs of the values of reply tokens, if there are `inout` parameters.
    pub(crate) deferred_results: DefMap<String>,
    /// The views of structs.
    pub(crate) views: DefMap<String>,
    interfaces: DefMap<InterfaceNames>,
    type_codes: DefMap<String>,
    /// The structs of the state of value types.
    value_states: DefMap<String>,
    /// The traits of the factories of value types.
    factory_traits: DefMap<String>,
    /// By path.
    modules: HashMap<String, Names>,
    pub(crate) facts: Facts,
    /// Variant names of the enums that were requested.
    variants: RefCell<DefMap<Vec<String>>>,
}

impl<'m> Plan<'m> {
    pub(crate) fn new(prepared: &'m Prepared<'_>) -> Self {
        let (model, options) = (&*prepared.model, &*prepared.options);
        let mut plan = Self {
            model,
            options,
            reply_handlers: &prepared.reply_handlers,
            left_out: left_out(model, options),
            places: DefMap::default(),
            methods: DefMap::default(),
            asynchronous_results: DefMap::default(),
            replies: DefMap::default(),
            deferred_results: DefMap::default(),
            views: DefMap::default(),
            interfaces: DefMap::default(),
            type_codes: DefMap::default(),
            value_states: DefMap::default(),
            factory_traits: DefMap::default(),
            modules: HashMap::new(),
            facts: Facts::default(),
            variants: RefCell::default(),
        };
        plan.compute_facts();
        plan.place(model.top_level(), &[], None);
        let mut named = DefSet::default();
        for definition in model.definitions() {
            plan.name_with_bases(definition.id, &mut named);
        }
        for definition in model.definitions() {
            plan.name_asynchronous(definition);
            plan.name_replies(definition);
            plan.name_deferred(definition);
            plan.name_views(definition);
        }
        for definition in model.definitions() {
            plan.name_operation_errors(definition);
        }
        plan
    }

    pub(crate) fn is_mapped(&self, id: DefId) -> bool {
        !self.left_out.contains(id)
    }

    /// The definitions in a scope that are generated.
    pub(crate) fn contents(&self, ids: &[DefId]) -> Vec<&'m Definition> {
        let mut mapped = Vec::new();
        for id in ids {
            if self.is_mapped(*id) {
                mapped.push(&self.model[*id]);
            }
        }
        mapped
    }

    /// The generated items of a module that are not definitions.
    fn names_of(&mut self, module: &[String]) -> &mut Names {
        self.modules.entry(module.join("::")).or_default()
    }

    pub(crate) fn fresh(&mut self, module: &[String], name: &str) -> String {
        let runtime = self.options.runtime_path();
        let taken = &mut self.names_of(module).taken;
        if !taken.contains(RESERVED[0]) {
            let root = runtime.split_once("::").map_or(runtime, |(root, _)| root);
            taken.insert(root.to_owned());
            for name in RESERVED {
                taken.insert(name.to_owned());
            }
        }
        names::fresh(name, taken)
    }

    /// The error enum for a set of exceptions.
    pub(crate) fn error_enum(&self, module: &[String], raises: &[DefId]) -> Option<&ErrorEnum> {
        let exceptions = canonical(raises);
        let enums = self.error_enums(module);
        enums.iter().find(|found| found.exceptions == exceptions)
    }

    /// As [`Self::error_enum`].
    pub(crate) fn error_enum_mut(
        &mut self,
        module: &[String],
        raises: &[DefId],
    ) -> Option<&mut ErrorEnum> {
        let exceptions = canonical(raises);
        let mut enums = self.names_of(module).errors.iter_mut();
        enums.find(|found| found.exceptions == exceptions)
    }

    /// The error enums of a module.
    pub(crate) fn error_enums(&self, module: &[String]) -> &[ErrorEnum] {
        match self.modules.get(&module.join("::")) {
            Some(names) => &names.errors,
            None => &[],
        }
    }

    /// A name similar to `wanted` that a module does not define, for a generic type.
    pub(crate) fn unused_in(&self, module: &[String], wanted: &str) -> String {
        let names = self.modules.get(&module.join("::"));
        let mut name = wanted.to_owned();
        while names.is_some_and(|names| names.taken.contains(&name)) {
            name.push('_');
        }
        name
    }

    /// The names taken in a module.
    pub(crate) fn taken_in(&self, module: &[String]) -> NameSet {
        match self.modules.get(&module.join("::")) {
            Some(names) => names.taken.clone(),
            None => NameSet::new(),
        }
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
            known.insert(of, names::variants(enumeration));
        }
        let name = known.get(of).and_then(|names| names.get(index as usize));
        name.cloned().unwrap_or_default()
    }

    /// Name of the static that describes a type.
    pub(crate) fn type_code(&self, id: DefId) -> &str {
        &self.type_codes[id]
    }

    /// Name of the struct of a value's state.
    pub(crate) fn value_state(&self, id: DefId) -> &str {
        &self.value_states[id]
    }

    /// The prelude names shadowed by a module's definitions.
    pub(crate) fn shadowed_in(&self, module: &[String]) -> Shadowed {
        match self.modules.get(&module.join("::")) {
            Some(names) => Shadowed::by(&names.taken),
            None => Shadowed::default(),
        }
    }

    /// The operations and attributes of an interface that are generated, the
    /// inherited ones first.
    pub(crate) fn features(&self, id: DefId) -> Vec<&'m Definition> {
        self.contents(&self.model.all_features(id))
    }

    /// The operations and attributes of a value type that are generated: the inherited ones
    /// first, those of the interfaces that it and its bases support among them.
    pub(crate) fn value_features(&self, id: DefId) -> Vec<&'m Definition> {
        let (mut features, mut seen) = (Vec::new(), DefSet::default());
        let mut owners = self.model.all_bases(id);
        owners.reverse();
        owners.push(id);
        for owner in owners {
            let mut all = Vec::new();
            for interface in self.supported(owner) {
                all.append(&mut self.features(*interface));
            }
            all.extend(self.contents(self.model.contents(owner)));
            all.retain(|feature| is_feature(feature) && seen.insert(feature.id));
            features.append(&mut all);
        }
        features
    }

    /// The interfaces that a value type itself supports.
    pub(crate) fn supported(&self, id: DefId) -> &'m [DefId] {
        match &self.model[id].kind {
            DefinitionKind::ValueType(value) => &value.supports,
            _ => &[],
        }
    }

    /// The factories of a value type that are generated.
    pub(crate) fn factories(&self, id: DefId) -> Vec<&'m Factory> {
        let DefinitionKind::ValueType(value) = &self.model[id].kind else {
            return Vec::new();
        };
        let mut factories: Vec<_> = value.factories.iter().collect();
        factories.retain(|factory| is_mapped_factory(self.model, &self.left_out, factory));
        factories
    }

    /// Name of the trait of a value type's factories.
    pub(crate) fn factories_name(&self, id: DefId) -> &str {
        &self.factory_traits[id]
    }

    /// The interface that declares a feature.
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

/// A set of exceptions in canonical order, for comparison.
fn canonical(raises: &[DefId]) -> Vec<DefId> {
    let mut ordered: Vec<DefId> = Vec::new();
    for id in raises {
        let place = ordered.partition_point(|known| known < id);
        ordered.insert(place, *id);
    }
    ordered
}

/// Whether a module is elsewhere: its path then begins with the declared Rust path, up to the last
/// `::`.
fn is_outside(module: &[String]) -> bool {
    module.first().is_some_and(|first| first.ends_with("::"))
}

pub(crate) fn is_feature(definition: &Definition) -> bool {
    let kind = &definition.kind;
    matches!(
        kind,
        DefinitionKind::Operation(_) | DefinitionKind::Attribute(_)
    )
}
