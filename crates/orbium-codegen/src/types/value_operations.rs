// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations of value types: a trait for a programmer to implement, methods of the handle that
//! call it, the construction of a value with it, and the trait of factories.

use orbium_idl_model::{
    DefId, DefMap, DefSet, Definition, DefinitionKind, InterfaceKind, ValueKind, ValueType,
};

use crate::emit::Emitter;
use crate::interface::operations::{Function, distinct_names};
use crate::interface::server::Signature;
use crate::names::NameSet;
use crate::plan::Plan;

/// Methods of all handles, independent of their operations.
const OF_EVERY_HANDLE: [&str; 6] = ["clone", "from", "new", "read", "with_operations", "write"];

/// A method of a handle, which calls a function of the trait of a type.
struct Method {
    name: String,
    declarer: DefId,
    function: Function,
}

impl Method {
    /// Whether it is that for a function, of whatever trait.
    fn is_for(&self, function: &Function) -> bool {
        self.function.feature == function.feature
            && self.function.is_setter() == function.is_setter()
    }
}

impl Plan<'_> {
    /// The handle with the method for an operation: that of the farthest concrete base with the
    /// operation, to which the handles of derived types dereference.
    fn handle_with(&self, feature: DefId, of: DefId) -> DefId {
        let mut handle = of;
        while let DefinitionKind::ValueType(value) = &self.model[handle].kind
            && let Some(base) = self.concrete_base(value)
            && self.value_features(base).iter().any(|it| it.id == feature)
        {
            handle = base;
        }
        handle
    }
}

impl Emitter<'_, '_> {
    pub(crate) fn value_operations(&mut self, definition: &Definition, value: &ValueType) {
        let has_operations = !self.plan.value_features(definition.id).is_empty();
        if has_operations {
            let functions = self.declared_of_value(definition.id);
            self.results(definition);
            self.operations_trait(definition, value, &functions);
        }
        if has_operations || value.kind == ValueKind::Custom {
            self.operations_of_handle(definition, value);
        }
        if value.kind != ValueKind::Abstract {
            self.servants_of_value(definition);
        }
    }

    /// The functions that the trait of a value type itself declares: including those of interfaces
    /// that it supports, but no base. They have their names in the trait.
    fn declared_of_value(&self, id: DefId) -> Vec<Function> {
        let mut inherited = DefSet::default();
        for base in self.plan.model.all_bases(id) {
            for feature in self.plan.value_features(base) {
                inherited.insert(feature.id);
            }
        }
        let mut functions = Vec::new();
        for feature in self.plan.value_features(id) {
            if !inherited.contains(feature.id) {
                functions.append(&mut Function::of(self.plan, feature));
            }
        }
        let names = distinct_names(&functions, id, NameSet::new());
        for (function, name) in functions.iter_mut().zip(names) {
            function.name = name;
        }
        functions
    }

    /// The methods of a handle that call operations. A handle dereferences to that of the concrete
    /// base, and so to its methods. Names of methods that every handle has, or that the bases have,
    /// are in use.
    fn methods_of_handle(&self, definition: &Definition, value: &ValueType) -> Vec<Method> {
        let mut reached = DefSet::default();
        let mut in_use: NameSet = OF_EVERY_HANDLE.iter().map(ToString::to_string).collect();
        if let Some(base) = self.plan.concrete_base(value) {
            reached.insert(base);
            for id in self.plan.model.all_bases(base) {
                reached.insert(id);
            }
            for feature in self.plan.value_features(base) {
                let functions = Function::of(self.plan, feature).into_iter();
                in_use.extend(functions.map(|it| it.name));
            }
        }
        let (mut declarers, mut functions) = (Vec::new(), Vec::new());
        for id in self.lineage(definition.id) {
            if !reached.contains(id) {
                functions.append(&mut self.declared_of_value(id));
                declarers.resize(functions.len(), id);
            }
        }
        let names = distinct_names(&functions, definition.id, in_use);
        let methods = names.into_iter().zip(declarers).zip(functions);
        methods
            .map(|((name, declarer), function)| Method {
                name,
                declarer,
                function,
            })
            .collect()
    }

    /// The path to the trait of a value type.
    fn operations_of(&self, id: DefId) -> String {
        let place = self.plan.place_of(id);
        self.plan.path(
            &self.module,
            &place.module,
            &self.plan.interface(id).servant,
        )
    }

    /// The types from which operations are inherited: the type itself, then its bases.
    fn lineage(&self, id: DefId) -> Vec<DefId> {
        let mut all = vec![id];
        all.extend(self.plan.model.all_bases(id));
        all.retain(|id| !self.plan.value_features(*id).is_empty());
        all
    }

    fn operations_trait(
        &mut self,
        definition: &Definition,
        value: &ValueType,
        functions: &[Function],
    ) {
        let name = self.name(definition);
        let mut supertraits = Vec::new();
        for base in &value.bases {
            if !self.plan.value_features(*base).is_empty() {
                supertraits.push(self.operations_of(*base));
            }
        }
        let count = supertraits.len();
        let supertraits = match count {
            0 => "$Send + $Sync + 'static".to_owned(),
            _ => supertraits.join(" + "),
        };
        self.text.blank();
        self.doc(&format!(
            "The operations of [`{name}`], for a program to implement."
        ));
        let head = format!(
            "pub trait {}: {supertraits}",
            self.operations_of(definition.id)
        );
        if functions.is_empty() {
            return self.text.line(format!("{head} {{}}"));
        }
        self.trait_head(&head, count);
        for function in functions {
            self.comment(function.doc.as_deref());
            let signature = self.value_signature(function, Some(&name));
            let tail = format!(" -> {};", signature.result);
            self.text
                .signature(&signature.head, &signature.parameters, &tail);
        }
        self.text.close("}");
    }

    /// As that of a local interface, with the handle on the value behind `&self`.
    fn value_signature(&self, function: &Function, this: Option<&str>) -> Signature {
        let mut signature = self.local_signature(function);
        if let Some(this) = this {
            let name = self.this_of(function);
            signature.parameters.insert(1, format!("{name}: &{this}"));
        }
        signature
    }

    /// A name for the handle that differs from all parameters.
    fn this_of(&self, function: &Function) -> String {
        let is_taken = function.parameters.iter().any(|it| it.name == "this");
        function.local(if is_taken { "this_value" } else { "this" })
    }

    fn operations_of_handle(&mut self, definition: &Definition, value: &ValueType) {
        let name = self.name(definition);
        self.text.blank();
        self.text.open(format!("impl {name} {{"));
        let makes = value.kind != ValueKind::Abstract;
        if makes {
            self.with_operations(definition, value);
        }
        let mut is_first = !makes;
        for method in self.methods_of_handle(definition, value) {
            if !std::mem::take(&mut is_first) {
                self.text.blank();
            }
            self.method_of_handle(definition.id, &method);
        }
        self.text.close("}");
    }

    fn with_operations(&mut self, definition: &Definition, value: &ValueType) {
        let state = self.plan.value_state(definition.id).to_owned();
        let lineage = self.lineage(definition.id);
        let is_custom = value.kind == ValueKind::Custom;
        let mut bounds = Vec::new();
        if !lineage.is_empty() {
            bounds.push(self.operations_of(definition.id));
        }
        if is_custom {
            bounds.push("orb::CustomMarshal<Self>".to_owned());
        }
        self.doc("A value with this state and these operations.");
        self.text.signature(
            "pub fn with_operations",
            &[
                format!("state: {state}"),
                format!("operations: impl {}", bounds.join(" + ")),
            ],
            " -> Self {",
        );
        self.text
            .line("let operations = orb::Arc::new(operations);");
        self.text.line("let mut facets = $Vec::new();");
        let mut facets = Vec::new();
        if is_custom {
            facets.push("orb::CustomMarshal<Self>".to_owned());
        }
        facets.extend(lineage.iter().map(|id| self.operations_of(*id)));
        for operations in facets {
            self.text.statement(&format!(
                "facets.push(orb::Facet::of::<dyn {operations}>(operations.clone()));"
            ));
        }
        self.text
            .line("let class = <Self as orb::ValueType>::class();");
        self.text
            .line("let value = orb::ValueBase::with_facets(class, state, facets);");
        self.text.line("<Self as orb::ValueType>::wrap(value)");
        self.text.close("}");
    }

    /// A method of a handle that calls the operation declared by a type.
    fn method_of_handle(&mut self, handle: DefId, method: &Method) {
        let Method {
            name,
            declarer,
            function,
        } = method;
        self.comment(function.doc.as_deref());
        let operations = self.operations_of(*declarer);
        let signature = self.value_signature(function, None);
        let head = format!("pub fn {name}");
        let tail = format!(" -> {} {{", signature.result);
        self.text.signature(&head, &signature.parameters, &tail);
        // The trait is named, as an `Arc` has methods of its own.
        let found = function.local("operations");
        let mut arguments = vec![format!("&**{found}")];
        arguments.push(if handle == *declarer {
            "self".to_owned()
        } else {
            let path = self.plan.path_to(&self.module, *declarer);
            format!("&orb::upcast::<{path}>(self)")
        });
        for parameter in &function.sent() {
            arguments.push(parameter.name.clone());
        }
        self.text.statement(&format!(
            "let {found} = orb::operations::<dyn {operations}>(self)?;"
        ));
        let arguments = arguments.join(", ");
        self.text
            .statement(&format!("{operations}::{}({arguments})", function.name));
        self.text.close("}");
    }

    /// Makes values of a type that supports an interface servants of it.
    fn servants_of_value(&mut self, definition: &Definition) {
        let mut interfaces = Vec::new();
        for &interface in self.plan.supported(definition.id) {
            if self.plan.interface_kind(interface) == Some(InterfaceKind::Plain) {
                interfaces.push(interface);
                interfaces.extend(self.plan.model.all_bases(interface));
            }
        }
        let functions = |id: &DefId| self.own_functions(&self.plan.model[*id]);
        let all: Vec<_> = interfaces.iter().map(functions).collect();
        if all
            .iter()
            .flatten()
            .any(|it| it.slot || it.views || it.deferred)
        {
            return;
        }
        let name = self.name(definition);
        let mut methods: DefMap<Vec<Method>> = DefMap::default();
        for (interface, functions) in interfaces.iter().zip(all) {
            self.text.blank();
            let head = format!("impl {} for {name}", self.servant_path(*interface));
            if functions.is_empty() {
                self.text.line(format!("{head} {{}}"));
                continue;
            }
            self.text.open(format!("{head} {{"));
            for (i, function) in functions.iter().enumerate() {
                if i > 0 {
                    self.text.blank();
                }
                let mut signature = self.servant_signature(function);
                signature.parameters[1] = "_: &orb::Call<'_>".to_owned();
                let tail = format!(" -> {} {{", signature.result);
                self.text
                    .signature(&signature.head, &signature.parameters, &tail);
                let mut arguments = vec!["self".to_owned()];
                for parameter in &function.sent() {
                    arguments.push(parameter.name.clone());
                }
                let handle = self.plan.handle_with(function.feature, definition.id);
                let path = self.plan.path_to(&self.module, handle);
                if !methods.contains(handle)
                    && let DefinitionKind::ValueType(value) = &self.plan.model[handle].kind
                {
                    let of_handle = self.methods_of_handle(&self.plan.model[handle], value);
                    methods.insert(handle, of_handle);
                }
                let mut of_handle = methods.get(handle).into_iter().flatten();
                let method = of_handle.find(|it| it.is_for(function));
                let method = method.map_or(&function.name, |it| &it.name);
                self.text
                    .line(format!("{path}::{method}({})", arguments.join(", ")));
                self.text.close("}");
            }
            self.text.close("}");
        }
    }

    /// The trait of the factories declared in IDL.
    pub(crate) fn value_factories(&mut self, definition: &Definition) {
        let factories = self.plan.factories(definition.id);
        if factories.is_empty() {
            return;
        }
        let name = self.name(definition);
        let made = self.plan.factories_name(definition.id).to_owned();
        self.text.blank();
        self.doc(&format!(
            "The factories of [`{name}`], for a program to implement."
        ));
        self.text
            .open(format!("pub trait {made}: $Send + $Sync + 'static {{"));
        for factory in factories {
            let function = Function::factory(definition.id, factory);
            self.comment(function.doc.as_deref());
            let signature = self.local_signature(&function);
            let error = function.error(self.plan, &self.module);
            let tail = format!(" -> $Result<{name}, {error}>;");
            self.text
                .signature(&signature.head, &signature.parameters, &tail);
        }
        self.text.close("}");
    }
}
