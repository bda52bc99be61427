// SPDX-License-Identifier: MIT OR Apache-2.0
//! References to definitions: an adapter for each kind, with a default servant, independent of the
//! number of definitions.

use std::sync::Arc;

use orbium::lock::RwLock;
use orbium::{
    Call, Interface, Orb, Servant, SystemException,
    poa::{
        IdAssignment, IdUniqueness, Lifespan, PoaError, Policies, RequestProcessing,
        ServantRetention, servant_of,
    },
};

use crate::corba::{self, DefinitionKind, component_ir};
use crate::edit::Edit;
use crate::entry::Key;
use crate::fault::{self, Result};
use crate::references::{Adapter, References};
use crate::repositories::LoadingRepository;
use crate::store::Store;
use crate::view::View;

/// The servant of all objects of a repository.
#[derive(Clone)]
pub(crate) struct Objects(Arc<Inner>);

struct Inner {
    store: RwLock<Store>,
    references: References,
}

/// The adapter of a kind of object: the repository id of references, and the servant.
type Served = (DefinitionKind, &'static str, &'static str, Arc<dyn Servant>);

impl Objects {
    pub(crate) fn new(store: Store) -> Self {
        Self(Arc::new(Inner {
            store: RwLock::new(store),
            references: References::default(),
        }))
    }

    /// Creates the adapters.
    pub(crate) fn serve(&self, orb: &Orb) -> std::result::Result<(), PoaError> {
        let policies = Policies {
            lifespan: Lifespan::Persistent,
            id_assignment: IdAssignment::User,
            id_uniqueness: IdUniqueness::Multiple,
            servant_retention: ServantRetention::NonRetain,
            request_processing: RequestProcessing::DefaultServant,
            ..Policies::default()
        };
        let root = orb.root_poa();
        let parent = root.create_poa("InterfaceRepository", None, policies.clone())?;
        let mut adapters = Vec::new();
        for (kind, name, repository_id, servant) in self.served() {
            let poa = parent.create_poa(name, Some(parent.manager()), policies.clone())?;
            poa.set_servant(servant)?;
            adapters.push((kind, Adapter { poa, repository_id }));
        }
        self.0.references.set(adapters);
        root.manager().activate()?;
        parent.manager().activate()?;
        Ok(())
    }

    fn served(&self) -> Vec<Served> {
        use DefinitionKind as Kind;
        macro_rules! served {
            ($($kind:ident $name:literal $shown:ty, $interface:ty;)*) => {
                vec![$((
                    Kind::$kind,
                    $name,
                    <$shown>::REPOSITORY_ID,
                    servant_of::<$interface, _>(self.clone()),
                )),*]
            };
        }
        served! {
            DkRepository "Repository" corba::Repository, LoadingRepository;
            DkModule "Module" corba::ModuleDef, component_ir::ModuleDef;
            DkConstant "Constant" corba::ConstantDef, corba::ConstantDef;
            DkStruct "Struct" corba::StructDef, corba::StructDef;
            DkUnion "Union" corba::UnionDef, corba::UnionDef;
            DkEnum "Enum" corba::EnumDef, corba::EnumDef;
            DkAlias "Alias" corba::AliasDef, corba::AliasDef;
            DkNative "Native" corba::NativeDef, corba::NativeDef;
            DkException "Exception" corba::ExceptionDef, corba::ExceptionDef;
            DkInterface "Interface" corba::InterfaceDef, corba::ExtInterfaceDef;
            DkAbstractInterface "AbstractInterface" corba::AbstractInterfaceDef, corba::ExtAbstractInterfaceDef;
            DkLocalInterface "LocalInterface" corba::LocalInterfaceDef, corba::ExtLocalInterfaceDef;
            DkAttribute "Attribute" corba::AttributeDef, corba::ExtAttributeDef;
            DkOperation "Operation" corba::OperationDef, corba::OperationDef;
            DkValue "Value" corba::ValueDef, corba::ExtValueDef;
            DkEvent "Event" component_ir::EventDef, component_ir::EventDef;
            DkValueMember "ValueMember" corba::ValueMemberDef, corba::ValueMemberDef;
            DkValueBox "ValueBox" corba::ValueBoxDef, corba::ValueBoxDef;
            DkPrimitive "Primitive" corba::PrimitiveDef, corba::PrimitiveDef;
            DkString "String" corba::StringDef, corba::StringDef;
            DkWstring "Wstring" corba::WstringDef, corba::WstringDef;
            DkFixed "Fixed" corba::FixedDef, corba::FixedDef;
            DkSequence "Sequence" corba::SequenceDef, corba::SequenceDef;
            DkArray "Array" corba::ArrayDef, corba::ArrayDef;
        }
    }

    /// The reference to the repository itself.
    pub(crate) fn root(&self) -> Result<corba::Repository> {
        self.view(|view| view.repository()?.ok_or(fault::GONE))
    }

    /// Reads for a request.
    pub(crate) fn read<T>(
        &self,
        call: &Call<'_>,
        work: impl FnOnce(&View<'_>, Key) -> Result<T>,
    ) -> Result<T> {
        self.view(|view| work(view, view.references.called(view.store, call)?))
    }

    /// As [`Objects::read`], without a request.
    pub(crate) fn view<T>(&self, work: impl FnOnce(&View<'_>) -> Result<T>) -> Result<T> {
        let store = self.0.store.read();
        let (references, store) = (&self.0.references, &*store);
        work(&View { references, store })
    }

    /// Changes the repository for a request, completely or not at all.
    pub(crate) fn write<T>(
        &self,
        call: &Call<'_>,
        work: impl FnOnce(&mut Edit<'_>, Key) -> Result<T>,
    ) -> Result<T> {
        self.edit(|edit| {
            let key = edit.references.called(edit.store, call)?;
            work(edit, key)
        })
    }

    /// As [`Objects::write`], without a request.
    pub(crate) fn edit<T, E: From<SystemException>>(
        &self,
        work: impl FnOnce(&mut Edit<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let mut store = self.0.store.write();
        let references = &self.0.references;
        store.change(|store| work(&mut Edit { references, store }))
    }
}
