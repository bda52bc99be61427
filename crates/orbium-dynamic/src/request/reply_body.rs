// SPDX-License-Identifier: MIT OR Apache-2.0
//! The types of a reply: those of its results, and those of the exceptions that it may have.

use orbium_cdr::{Any, CdrError, CdrReader, TypeCode};
use orbium_interceptor::{Parameter, ReplyTypes, Returned};

use crate::body::Body;
use crate::body_struct::BodyValues;
use crate::invocation_facts::returned;

/// The types of a reply.
#[derive(Clone, Debug)]
pub(crate) struct ReplyBody {
    /// The result, if there is one, and the returned arguments, by name.
    pub(crate) results: Vec<(String, TypeCode)>,
    /// The user exceptions that are listed.
    pub(crate) exceptions: Vec<TypeCode>,
}

impl ReplyBody {
    /// Reads the results.
    pub(crate) fn read(&self, reader: &mut CdrReader<'_>) -> Result<BodyValues, CdrError> {
        let members = self.results.iter();
        let members = members.map(|(name, code)| (&**name, code.clone()));
        BodyValues::read(members.collect(), reader)
    }
}

/// The type of the exception of that id among those that are listed.
pub(crate) fn listed<'l>(exceptions: &'l [TypeCode], id: &str) -> Option<&'l TypeCode> {
    exceptions.iter().find(|code| code.unaliased().id() == id)
}

impl ReplyTypes for ReplyBody {
    fn read_results(
        &self,
        sent: &[Parameter],
        reader: &mut CdrReader<'_>,
    ) -> Result<Returned, CdrError> {
        let values = self.read(reader)?;
        Ok(returned(sent.to_vec(), values.each))
    }

    fn read_exception(
        &self,
        id: &str,
        reader: &mut CdrReader<'_>,
    ) -> Result<Option<Any>, CdrError> {
        let Some(code) = listed(&self.exceptions, id) else {
            return Ok(None);
        };
        Body::take(reader)?.exception(&code.unaliased()).map(Some)
    }
}
