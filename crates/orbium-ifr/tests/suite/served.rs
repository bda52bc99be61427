// SPDX-License-Identifier: MIT OR Apache-2.0
//! A repository that one ORB serves and another one calls.

use std::path::Path;

use orbium::{Config, Interface, ObjectRef, Orb};
use orbium_idl::model::Model;
use orbium_idl::{Options, compile_source};
use orbium_ifr::corba::{Contained, Repository};
use orbium_ifr::{InterfaceRepository, RepositoryError};

pub(crate) struct Served {
    pub(crate) orb: Orb,
    pub(crate) repository: InterfaceRepository,
    client: Orb,
}

pub(crate) fn model(idl: &str) -> Model {
    let compilation = compile_source(&Options::new(), "test.idl", idl);
    let diagnostics = compilation.to_string();
    compilation.model.expect(&diagnostics)
}

fn server() -> Orb {
    let config = Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        ..Config::default()
    };
    Orb::new(config).unwrap()
}

impl Served {
    pub(crate) fn empty() -> Self {
        let orb = server();
        let repository = InterfaceRepository::in_memory(&orb).unwrap();
        let client = Orb::builder().build().unwrap();
        Self {
            orb,
            repository,
            client,
        }
    }

    pub(crate) fn with(idl: &str) -> Self {
        let served = Self::empty();
        served.repository.load(&model(idl)).unwrap();
        served
    }

    pub(crate) fn open(file: &Path) -> Result<Self, RepositoryError> {
        let orb = server();
        let repository = InterfaceRepository::open(&orb, file)?;
        let client = Orb::builder().build().unwrap();
        Ok(Self {
            orb,
            repository,
            client,
        })
    }

    pub(crate) fn address(&self) -> String {
        let port = self.orb.addresses().unwrap()[0].port;
        format!("corbaloc::127.0.0.1:{port}/InterfaceRepository")
    }

    /// The repository as a client in another process has it.
    pub(crate) fn remote(&self) -> Repository {
        self.client.resolve(&self.address()).unwrap()
    }

    pub(crate) fn find<I: Interface>(&self, id: &str) -> I {
        narrowed(self.remote().lookup_id(id).unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.client.shutdown(true);
        let _ = self.orb.shutdown(true);
    }
}

pub(crate) fn narrowed<I: Interface>(found: Option<Contained>) -> I {
    let object: ObjectRef = found.expect("the definition is there").as_object().clone();
    object.narrow().unwrap()
}

/// The names of definitions, in order.
pub(crate) fn names(contents: &[Option<Contained>]) -> Vec<String> {
    let contents = contents.iter();
    contents
        .map(|it| it.as_ref().unwrap().name().unwrap())
        .collect()
}
