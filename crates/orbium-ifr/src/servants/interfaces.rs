// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interfaces: plain, abstract and local.

use orbium::Call;

use crate::corba::interface_attr_extension::ExtFullInterfaceDescription;
use crate::corba::interface_def::FullInterfaceDescription;
use crate::corba::{
    self, AttributeMode, ExceptionDef, IdlType, InterfaceDef, OperationMode, ParameterDescription,
};
use crate::edit::Named;
use crate::entry::Body;
use crate::fault;
use crate::fault::Result;
use crate::objects::Objects;
use crate::servants::bases::bases_of;
use crate::servants::features::{NewAttribute, NewOperation};
use crate::view::View;

impl View<'_> {
    fn bases(&self, key: crate::entry::Key) -> Result<&[crate::entry::Key]> {
        match &self.entry(key)?.body {
            Body::Interface { bases, .. } => Ok(bases),
            _ => Err(fault::GONE),
        }
    }
}

impl corba::InterfaceDefServant for Objects {
    fn base_interfaces(&self, call: &Call<'_>) -> Result<Vec<Option<InterfaceDef>>> {
        self.read(call, |view, key| view.references(view.bases(key)?))
    }

    fn set_base_interfaces(&self, call: &Call<'_>, value: &[Option<InterfaceDef>]) -> Result<()> {
        self.write(call, |edit, key| {
            let Body::Interface { kind, .. } = &edit.store.entry(key)?.body else {
                return Err(fault::GONE);
            };
            let new = bases_of(edit, *kind, value)?;
            edit.set(key, |body| {
                if let Body::Interface { bases, .. } = body {
                    *bases = new;
                }
            })
        })
    }

    fn is_a(&self, call: &Call<'_>, interface_id: &str) -> Result<bool> {
        self.read(call, |view, key| view.store.is_a(key, interface_id))
    }

    fn describe_interface(&self, call: &Call<'_>) -> Result<FullInterfaceDescription> {
        self.read(call, |view, key| {
            let entry = view.entry(key)?;
            Ok(FullInterfaceDescription {
                name: entry.name.clone(),
                id: entry.id.clone(),
                defined_in: view.store.defined_in(key)?.to_owned(),
                version: entry.version.clone(),
                operations: view.operations(key)?,
                attributes: view.attributes(key)?,
                base_interfaces: view.ids(view.bases(key)?)?,
                r#type: view.store.type_of(key)?,
            })
        })
    }

    fn create_attribute(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        r#type: Option<&IdlType>,
        mode: AttributeMode,
    ) -> Result<Option<corba::AttributeDef>> {
        let named = Named { id, name, version };
        let new = NewAttribute {
            named,
            ty: r#type,
            mode,
            get_exceptions: &[],
            set_exceptions: &[],
        };
        self.new_attribute(call, &new)
    }

    fn create_operation(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        result: Option<&IdlType>,
        mode: OperationMode,
        params: &[ParameterDescription],
        exceptions: &[Option<ExceptionDef>],
        contexts: &[String],
    ) -> Result<Option<corba::OperationDef>> {
        let named = Named { id, name, version };
        let new = NewOperation {
            named,
            result,
            mode,
            params,
            exceptions,
            contexts,
        };
        self.new_operation(call, &new)
    }
}

impl corba::InterfaceAttrExtensionServant for Objects {
    fn describe_ext_interface(&self, call: &Call<'_>) -> Result<ExtFullInterfaceDescription> {
        self.read(call, |view, key| {
            let entry = view.entry(key)?;
            Ok(ExtFullInterfaceDescription {
                name: entry.name.clone(),
                id: entry.id.clone(),
                defined_in: view.store.defined_in(key)?.to_owned(),
                version: entry.version.clone(),
                operations: view.operations(key)?,
                attributes: view.ext_attributes(key)?,
                base_interfaces: view.ids(view.bases(key)?)?,
                r#type: view.store.type_of(key)?,
            })
        })
    }

    fn create_ext_attribute(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        r#type: Option<&IdlType>,
        mode: AttributeMode,
        get_exceptions: &[Option<ExceptionDef>],
        set_exceptions: &[Option<ExceptionDef>],
    ) -> Result<Option<corba::ExtAttributeDef>> {
        let named = Named { id, name, version };
        let new = NewAttribute {
            named,
            ty: r#type,
            mode,
            get_exceptions,
            set_exceptions,
        };
        self.new_attribute(call, &new)
    }
}

impl corba::AbstractInterfaceDefServant for Objects {}
impl corba::LocalInterfaceDefServant for Objects {}
impl corba::ExtInterfaceDefServant for Objects {}
impl corba::ExtAbstractInterfaceDefServant for Objects {}
impl corba::ExtLocalInterfaceDefServant for Objects {}
