// SPDX-License-Identifier: MIT OR Apache-2.0
//! Event types of the component model: value types with a separate kind.

use orbium::Call;

use crate::corba::component_ir::{
    ContainerServant, EventDef, EventDefServant, ModuleDefServant, RepositoryServant,
};
use crate::corba::{ExtInitializer, InterfaceDef, ValueDef};
use crate::entry::{Body, Value};
use crate::fault::Result;
use crate::objects::Objects;
use crate::servants::values::Shape;

impl EventDefServant for Objects {}
impl ModuleDefServant for Objects {}
impl RepositoryServant for Objects {}

impl ContainerServant for Objects {
    fn create_event(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        is_custom: bool,
        is_abstract: bool,
        base_value: Option<&ValueDef>,
        is_truncatable: bool,
        abstract_base_values: &[Option<ValueDef>],
        supported_interfaces: &[Option<InterfaceDef>],
        initializers: &[ExtInitializer],
    ) -> Result<Option<EventDef>> {
        self.create(call, (id, name, version), |edit| {
            let shape = Shape {
                is_custom,
                is_abstract,
                is_truncatable,
                is_event: true,
            };
            let value =
                shape.value(edit, base_value, abstract_base_values, supported_interfaces)?;
            let initializers = edit.ext_initializers(initializers)?;
            Ok(Body::Value(Value {
                initializers,
                ..value
            }))
        })
    }
}
