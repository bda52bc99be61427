// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where everything goes and what it is called, decided before a line is
//! written.

use std::cell::RefCell;

use orbium_idl::model::{
    DefId, DefMap, DefSet, Definition, DefinitionKind, Direction, InterfaceKind, Model, NameMap,
    NameSet, Type,
};

use crate::data::variants;
use crate::mapped::{LeftOut, left_out};
use crate::text::Shadowed;
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
        if let Some(inner) = &self.inner {
            path.push(inner.clone());
        }
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

/// What a module holds beside its definitions.
#[derive(Debug, Clone, Default)]
struct Names {
    taken: NameSet,
    /// One for each set of exceptions.
    errors: Vec<ErrorEnum>,
}

/// All decisions.
pub(crate) struct Plan<'m> {
    pub(crate) model: &'m Model,
    pub(crate) options: &'m Options,
    pub(crate) left_out: LeftOut,
    places: DefMap<Place>,
    methods: DefMap<Methods>,
    /// The structs of what asynchronous calls give, where it is more than what
    /// the synchronous ones return.
    pub(crate) asynchronous_results: DefMap<String>,
    interfaces: DefMap<InterfaceNames>,
    type_codes: DefMap<String>,
    /// By path.
    modules: NameMap<Names>,
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
            asynchronous_results: DefMap::default(),
            interfaces: DefMap::default(),
            type_codes: DefMap::default(),
            modules: NameMap::default(),
            facts: RefCell::default(),
            variants: RefCell::default(),
        };
        plan.place(model.top_level(), &[], None);
        let mut named = DefSet::default();
        for definition in model.definitions() {
            plan.name_with_bases(definition.id, &mut named);
        }
        for definition in model.definitions() {
            plan.name_asynchronous(definition);
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
    pub(crate) fn contents(&self, ids: &[DefId]) -> Vec<&'m Definition> {
        let mut mapped = Vec::new();
        for id in ids {
            if self.is_mapped(*id) {
                mapped.push(&self.model[*id]);
            }
        }
        mapped
    }

    /// What a module holds beside its definitions.
    fn names_of(&mut self, module: &[String]) -> &mut Names {
        let names = self.modules.slot(&module.join("::"));
        names.get_or_insert_default()
    }

    pub(crate) fn fresh(&mut self, module: &[String], name: &str) -> String {
        let runtime = self.options.runtime_path();
        let taken = &mut self.names_of(module).taken;
        if !taken.contains(RESERVED[0]) {
            let root = runtime.split_once("::").map_or(runtime, |(root, _)| root);
            taken.insert(root);
            for name in RESERVED {
                taken.insert(name);
            }
        }
        names::fresh(name, taken)
    }

    /// Names what a scope holds, then what that brings with it, then goes in.
    ///
    /// What comes from elsewhere is placed outside: where the module was said to
    /// be that holds it, or its file.
    fn place(&mut self, ids: &'m [DefId], module: &[String], outside: Option<&[String]>) {
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
        // A module is here as far as something in it is.
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

    /// Where a definition's contents are if they come from elsewhere: as the
    /// options say of this module, or within what they say of one around it.
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

    /// Names the methods of an interface after those that it inherits.
    fn name_features(&mut self, id: DefId) {
        let mut taken = NameSet::default();
        for &base in &self.model.all_bases(id) {
            for feature in self.model.contents(base) {
                if let Some(methods) = self.methods.get(*feature) {
                    taken.insert(&methods.call);
                    if let Some(set) = &methods.set {
                        taken.insert(set);
                    }
                }
            }
        }
        let module = self.places[id].module.clone();
        // What else is inside has names of its own.
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
                        self.plan_error(&module, &attribute.set_raises, id, feature);
                    }
                    self.plan_error(&module, &attribute.get_raises, id, feature);
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
            exceptions
                .iter()
                .map(|id| names::camel(&self.model[*id].name))
                .collect::<Vec<_>>()
                .join("Or")
        } else {
            format!(
                "{}{}",
                names::camel(&self.model[interface].name),
                names::camel(&feature.name)
            )
        };
        let name = self.fresh(module, &format!("{name}Error"));
        let names = self.names_of(module);
        names.errors.push(ErrorEnum { name, exceptions });
    }

    /// The error enum for a set of exceptions.
    pub(crate) fn error_enum(&self, module: &[String], raises: &[DefId]) -> Option<&ErrorEnum> {
        let exceptions = canonical(raises);
        let enums = self.error_enums(module);
        enums.iter().find(|found| found.exceptions == exceptions)
    }

    /// The error enums of a module.
    pub(crate) fn error_enums(&self, module: &[String]) -> &[ErrorEnum] {
        match self.modules.get(&module.join("::")) {
            Some(names) => &names.errors,
            None => &[],
        }
    }

    /// The names taken in a module.
    pub(crate) fn taken_in(&self, module: &[String]) -> NameSet {
        match self.modules.get(&module.join("::")) {
            Some(names) => names.taken.clone(),
            None => NameSet::default(),
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
            known.insert(of, variants(enumeration));
        }
        let name = known.get(of).and_then(|names| names.get(index as usize));
        name.cloned().unwrap_or_default()
    }

    /// Name of the static that describes a type.
    pub(crate) fn type_code(&self, id: DefId) -> &str {
        &self.type_codes[id]
    }

    /// A type parameter that no name defined in a module is hidden by.
    pub(crate) fn type_parameter(&self, module: &[String], wanted: &str) -> String {
        let mut name = wanted.to_owned();
        if let Some(names) = self.modules.get(&module.join("::")) {
            while names.taken.contains(&name) {
                name.push('_');
            }
        }
        name
    }

    /// What the names defined in a module shadow.
    pub(crate) fn shadowed_in(&self, module: &[String]) -> Shadowed {
        match self.modules.get(&module.join("::")) {
            Some(names) => Shadowed::by(&names.taken),
            None => Shadowed::default(),
        }
    }

    /// Whether a definition comes from elsewhere, so that nothing is generated.
    pub(crate) fn is_external(&self, id: DefId) -> bool {
        let place = self.places.get(id);
        place.is_some_and(|place| is_outside(&place.module))
    }

    /// Whether what is left out, or has no effect, is for those to know who
    /// generate a definition elsewhere.
    pub(crate) fn is_of_others(&self, definition: &Definition) -> bool {
        let file = &definition.location.file;
        if self.options.external_file_of(file).is_some() {
            return true;
        }
        let mut next = definition.parent.filter(|_| !definition.in_main_file);
        while let Some(id) = next {
            let scope = &self.model[id];
            if self.options.external(&scope.scoped_name()).is_some() {
                return true;
            }
            next = scope.parent;
        }
        false
    }

    /// The path from a module to a name in another one.
    pub(crate) fn path(&self, from: &[String], module: &[String], name: &str) -> String {
        if is_outside(module) {
            return along(module[0].clone(), &module[1..], name);
        }
        let mut common = 0;
        while common < from.len() && from.get(common) == module.get(common) {
            common += 1;
        }
        let mut ups = String::new();
        for _ in common..from.len() {
            ups.push_str("super::");
        }
        along(ups, &module[common..], name)
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
        self.contents(&self.model.all_features(id))
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

/// Whether a module is elsewhere: its path then begins with the Rust path given
/// for it, up to the last `::`.
fn is_outside(module: &[String]) -> bool {
    module.first().is_some_and(|first| first.ends_with("::"))
}

/// A set of exceptions in the one order in which sets are compared.
fn canonical(raises: &[DefId]) -> Vec<DefId> {
    let mut ordered: Vec<DefId> = Vec::new();
    for id in raises {
        let place = ordered.partition_point(|known| known < id);
        ordered.insert(place, *id);
    }
    ordered
}

/// The path from a start, such as `super::`, through modules to a name.
fn along(mut path: String, modules: &[String], name: &str) -> String {
    for part in modules {
        path.push_str(part);
        path.push_str("::");
    }
    path.push_str(name);
    path
}

pub(crate) fn is_feature(definition: &Definition) -> bool {
    let kind = &definition.kind;
    matches!(
        kind,
        DefinitionKind::Operation(_) | DefinitionKind::Attribute(_)
    )
}
