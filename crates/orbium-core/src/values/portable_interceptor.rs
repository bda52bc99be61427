// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object reference templates and factories as values (CORBA 3.3 Part 1, clause 16.6.5), with the
//! feature `values`.
//!
//! IDL leaves the state of templates to each ORB: both value types of the specification are
//! abstract. A template of this ORB is an [`AdapterTemplate`]. Other orbium processes read it, and
//! make references of its adapter by it; ORBs of other vendors refuse it with MARSHAL 1, as they
//! refuse those of each other.
//!
//! Generated code refers to the types of this module for IDL's `PortableInterceptor` with
//! `Config::new().external_module("PortableInterceptor", "orbium::value::portable_interceptor")`.

use std::sync::Arc;

use orbium_adapter::object_key::{NO_HINT, ObjectKey};
use orbium_giop::{Completion, ExceptionKind, Ior, SystemException};
use orbium_interceptor::{self as interceptor, ObjectReferenceFactory as _};
use orbium_value::{Facet, Factories, ValueBase, ValueType, idl_abstract_value, idl_value};

use crate::values::operations;
use crate::{ObjectRef, Orb, Poa};

idl_abstract_value! {
    /// Makes references to objects (`PortableInterceptor::ObjectReferenceFactory`).
    pub struct ObjectReferenceFactory: OBJECT_REFERENCE_FACTORY_TYPE =
        "IDL:omg.org/PortableInterceptor/ObjectReferenceFactory:1.0",
    [] [ObjectReferenceTemplate, AdapterTemplate];
}

/// The operations of [`ObjectReferenceFactory`], for a program to implement.
pub trait ObjectReferenceFactoryOperations: Send + Sync + 'static {
    /// The reference to the object with that id, which need not be active.
    ///
    /// # Errors
    /// There is no such reference.
    fn make_object(
        &self,
        this: &ObjectReferenceFactory,
        repository_id: &str,
        object_id: &[u8],
    ) -> Result<Option<ObjectRef>, SystemException>;
}

impl ObjectReferenceFactory {
    /// The reference to the object with that id, which need not be active.
    ///
    /// # Errors
    /// NO_IMPLEMENT if no factory has set operations of the value; otherwise their exceptions.
    pub fn make_object(
        &self,
        repository_id: &str,
        object_id: &[u8],
    ) -> Result<Option<ObjectRef>, SystemException> {
        let operations = operations::<dyn ObjectReferenceFactoryOperations>(self)?;
        operations.make_object(self, repository_id, object_id)
    }
}

/// Values as factories of the references of an adapter.
impl interceptor::ObjectReferenceFactory for ObjectReferenceFactory {
    fn make_object(&self, repository_id: &str, object_id: &[u8]) -> Result<Ior, SystemException> {
        let made = Self::make_object(self, repository_id, object_id)?;
        Ok(made.map_or(Ior::NIL, |it| it.ior().clone()))
    }
}

idl_abstract_value! {
    /// The references of one adapter (`PortableInterceptor::ObjectReferenceTemplate`).
    pub struct ObjectReferenceTemplate: OBJECT_REFERENCE_TEMPLATE_TYPE =
        "IDL:omg.org/PortableInterceptor/ObjectReferenceTemplate:1.0",
    [ObjectReferenceFactory] [AdapterTemplate];
}

/// The operations of [`ObjectReferenceTemplate`], for a program to implement.
pub trait ObjectReferenceTemplateOperations: ObjectReferenceFactoryOperations {
    /// The name of the server.
    ///
    /// # Errors
    /// The implementation cannot provide it.
    fn server_id(&self, this: &ObjectReferenceTemplate) -> Result<String, SystemException>;

    /// The name of the ORB.
    ///
    /// # Errors
    /// The implementation cannot provide it.
    fn orb_id(&self, this: &ObjectReferenceTemplate) -> Result<String, SystemException>;

    /// The names of the adapter and its ancestors, `RootPOA` first.
    ///
    /// # Errors
    /// The implementation cannot provide it.
    fn adapter_name(&self, this: &ObjectReferenceTemplate) -> Result<Vec<String>, SystemException>;
}

impl ObjectReferenceTemplate {
    /// The name of the server.
    ///
    /// # Errors
    /// NO_IMPLEMENT if no factory has set operations of the value; otherwise their exceptions.
    pub fn server_id(&self) -> Result<String, SystemException> {
        operations::<dyn ObjectReferenceTemplateOperations>(self)?.server_id(self)
    }

    /// The name of the ORB.
    ///
    /// # Errors
    /// As [`server_id`](Self::server_id).
    pub fn orb_id(&self) -> Result<String, SystemException> {
        operations::<dyn ObjectReferenceTemplateOperations>(self)?.orb_id(self)
    }

    /// The names of the adapter and its ancestors, `RootPOA` first.
    ///
    /// # Errors
    /// As [`server_id`](Self::server_id).
    pub fn adapter_name(&self) -> Result<Vec<String>, SystemException> {
        operations::<dyn ObjectReferenceTemplateOperations>(self)?.adapter_name(self)
    }

    /// The reference to the object with that id, which need not be active.
    ///
    /// # Errors
    /// As [`ObjectReferenceFactory::make_object`].
    pub fn make_object(
        &self,
        repository_id: &str,
        object_id: &[u8],
    ) -> Result<Option<ObjectRef>, SystemException> {
        ObjectReferenceFactory::from(self.clone()).make_object(repository_id, object_id)
    }
}

/// The version of the state of templates.
const VERSION: u8 = 1;

idl_value! {
    /// The template of an adapter of an orbium ORB.
    pub struct AdapterTemplate(AdapterTemplateState): ADAPTER_TEMPLATE_TYPE =
        "IDL:orbium/PortableInterceptor/AdapterTemplate:1.0",
        Plain + [ObjectReferenceTemplate, ObjectReferenceFactory],
    [] {
        /// The version: 1.
        private version: u8,
        /// The name of the server.
        public server_id: String,
        /// The name of the ORB.
        public orb_id: String,
        /// The names of the adapter and its ancestors, `RootPOA` first.
        public adapter_name: Vec<String>,
        /// Whether its objects outlive the process.
        private persistent: bool,
        /// Distinguishes keys of the adapter from those of an earlier one at its path.
        private stamp: u64,
        /// The object with an empty id.
        private reference: Option<ObjectRef>,
    }
}

impl AdapterTemplate {
    /// The value of a template passed to an interceptor.
    ///
    /// # Errors
    /// BAD_PARAM: it belongs to another ORB. OBJECT_NOT_EXIST: its adapter was destroyed; the
    /// exceptions of listening.
    pub fn of(
        orb: &Orb,
        template: &interceptor::ObjectReferenceTemplate,
    ) -> Result<Self, SystemException> {
        Self::of_reference(
            template,
            orb.plain_reference(template.make_object("", b"")?),
        )
    }

    /// As `of`, with the reference that the template makes for an empty id.
    pub(crate) fn of_reference(
        template: &interceptor::ObjectReferenceTemplate,
        reference: ObjectRef,
    ) -> Result<Self, SystemException> {
        let key = reference.own_key().ok_or(ExceptionKind::BadParam)?;
        let key = ObjectKey::parse(&key).ok_or(ExceptionKind::BadParam)?;
        let path = key.path.ok_or(ExceptionKind::BadParam)?;
        Ok(Self::with_operations(AdapterTemplateState {
            version: VERSION,
            server_id: template.server_id().to_owned(),
            orb_id: template.orb_id().to_owned(),
            adapter_name: template.adapter_name().to_vec(),
            persistent: path.persistent,
            stamp: key.incarnation,
            reference: Some(reference),
        }))
    }

    fn with_operations(state: AdapterTemplateState) -> Self {
        let class = <Self as ValueType>::class();
        let facets = vec![
            Facet::of::<dyn ObjectReferenceFactoryOperations>(Arc::new(Made)),
            Facet::of::<dyn ObjectReferenceTemplateOperations>(Arc::new(Made)),
        ];
        Self::wrap(ValueBase::with_facets(class, state, facets))
    }

    /// The reference to the object with that id, which need not be active.
    ///
    /// # Errors
    /// NO_IMPLEMENT 2: the state has another version. OBJECT_NOT_EXIST: the adapter belonged to
    /// this ORB, and was destroyed. MARSHAL: its references cannot be made here.
    pub fn make_object(
        &self,
        repository_id: &str,
        object_id: &[u8],
    ) -> Result<ObjectRef, SystemException> {
        let state = self.read();
        if state.version != VERSION {
            let omg = SystemException::omg;
            return Err(omg(ExceptionKind::NoImplement, 2, Completion::No));
        }
        let (Some((_, path)), Some(reference)) =
            (state.adapter_name.split_first(), &state.reference)
        else {
            return Err(ExceptionKind::Marshal.into());
        };
        if reference.own_key().is_some() {
            let orb = reference.orb();
            match orb.root_poa().below(path, state.persistent, state.stamp) {
                Some(poa) => {
                    let made = poa.template().make_object(repository_id, object_id)?;
                    return Ok(orb.plain_reference(made));
                }
                None if !state.persistent => return Err(ExceptionKind::ObjectNotExist.into()),
                // It may be created again.
                None => {}
            }
        }
        let key = ObjectKey::long(state.stamp, NO_HINT, state.persistent, path, object_id);
        let made = reference.with_object_key(&key, repository_id);
        made.ok_or_else(|| ExceptionKind::Marshal.into())
    }
}

/// The operations of a template with the state of this ORB.
struct Made;

fn template(value: &ValueBase) -> Result<AdapterTemplate, SystemException> {
    value
        .downcast()
        .ok_or_else(|| ExceptionKind::BadParam.into())
}

impl ObjectReferenceFactoryOperations for Made {
    fn make_object(
        &self,
        this: &ObjectReferenceFactory,
        repository_id: &str,
        object_id: &[u8],
    ) -> Result<Option<ObjectRef>, SystemException> {
        template(this)?
            .make_object(repository_id, object_id)
            .map(Some)
    }
}

impl ObjectReferenceTemplateOperations for Made {
    fn server_id(&self, this: &ObjectReferenceTemplate) -> Result<String, SystemException> {
        Ok(template(this)?.read().server_id.clone())
    }

    fn orb_id(&self, this: &ObjectReferenceTemplate) -> Result<String, SystemException> {
        Ok(template(this)?.read().orb_id.clone())
    }

    fn adapter_name(&self, this: &ObjectReferenceTemplate) -> Result<Vec<String>, SystemException> {
        Ok(template(this)?.read().adapter_name.clone())
    }
}

/// Registers the factory that enables received templates to make references.
pub(crate) fn register(factories: &Factories) {
    factories.register(|| AdapterTemplate::with_operations(AdapterTemplateState::default()));
}

impl Poa {
    /// Its template as a value (`PortableInterceptor::ObjectReferenceTemplate`), for an argument, a
    /// result or an any.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST if the adapter was destroyed; the exceptions of listening.
    pub fn reference_template(&self) -> Result<AdapterTemplate, SystemException> {
        let template = self.template();
        let made = template.make_object("", b"")?;
        let reference = self.0.adapters()?.factory()?.received_reference(made)?;
        AdapterTemplate::of_reference(&template, reference)
    }

    /// The descendant with that path, if it serves keys of that lifespan and stamp.
    pub(crate) fn below(&self, path: &[String], persistent: bool, stamp: u64) -> Option<Self> {
        let mut names = path.iter();
        let found = names.try_fold(self.clone(), |poa, name| poa.find_poa(name));
        found.ok().filter(|poa| poa.0.serves(persistent, stamp))
    }
}
