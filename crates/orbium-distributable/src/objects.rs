// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects with scheduling parameters.

use std::collections::HashMap;

use orbium::lock::RwLock;
use orbium::poa::Poa;

use crate::scheduling::parameter::SchedulingParameter;

/// The path of an adapter, as `RootPOA/child`, and the id of an object in it.
pub(crate) type ObjectId = (String, Vec<u8>);

/// The segment in which upcalls of an object run.
#[derive(Clone, Debug)]
pub(crate) struct ObjectSegment {
    pub(crate) name: String,
    pub(crate) parameter: SchedulingParameter,
}

/// The id of an object, as in the interceptor.
pub(crate) fn object_id(poa: &Poa, object: &[u8]) -> ObjectId {
    let above = std::iter::successors(Some(poa.clone()), Poa::parent);
    let mut names: Vec<_> = above.map(|it| it.name().to_owned()).collect();
    names.reverse();
    (names.join("/"), object.to_vec())
}

/// The segments of objects.
#[derive(Debug, Default)]
pub(crate) struct Objects(RwLock<HashMap<ObjectId, ObjectSegment>>);

impl Objects {
    /// Sets the segment of an object, or removes it.
    pub(crate) fn set(&self, id: ObjectId, segment: Option<ObjectSegment>) {
        let mut objects = self.0.write();
        match segment {
            Some(segment) => objects.insert(id, segment),
            None => objects.remove(&id),
        };
    }

    /// The segment of an object. The id is only built if any object has one.
    pub(crate) fn find(&self, id: impl FnOnce() -> ObjectId) -> Option<ObjectSegment> {
        let objects = self.0.read();
        if objects.is_empty() {
            None
        } else {
            objects.get(&id()).cloned()
        }
    }
}
