// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names and their components.

use orbium_cdr::{CdrError, CdrReader, CdrWriter, Decode, Encode};

/// One component of a name: bindings of a context differ in id, kind or both.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameComponent {
    /// The id, often the only part.
    pub id: String,
    /// The kind, often empty; like the extension of a file name.
    pub kind: String,
}

impl NameComponent {
    /// A component without a kind. The text is used literally: no character is an escape here.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self::with_kind(id, "")
    }

    /// A component with a kind.
    #[must_use]
    pub fn with_kind(id: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            kind: kind.into(),
        }
    }
}

impl Encode for NameComponent {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.id.encode(writer);
        self.kind.encode(writer);
    }
}

impl Decode for NameComponent {
    const MIN_SIZE: usize = String::MIN_SIZE + String::MIN_SIZE;

    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            id: String::decode(reader)?,
            kind: String::decode(reader)?,
        })
    }
}

/// A name: the path from a naming context to a binding, one component for each context.
///
/// As text, components are separated by `/`, and id and kind by `.`; these characters, and a
/// backslash, are escaped by a backslash in an id or a kind.
///
/// ```
/// use orbium_invocation::names::{Name, NameComponent};
///
/// let name: Name = r"plant/pumps.v2/a\.b".parse()?;
/// assert_eq!(name.components()[1], NameComponent::with_kind("pumps", "v2"));
/// assert_eq!(name.components()[2], NameComponent::new("a.b"));
/// assert_eq!(name.to_string(), r"plant/pumps.v2/a\.b");
/// assert_eq!(
///     name.to_url(":names.example/NameService")?,
///     "corbaname::names.example/NameService#plant/pumps.v2/a%5c.b",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Vec<NameComponent>);

impl Name {
    /// A name of these components. Contexts raise InvalidName for a name of none.
    #[must_use]
    pub fn new(components: Vec<NameComponent>) -> Self {
        Self(components)
    }

    /// Its components, from the outermost context inwards.
    #[must_use]
    pub fn components(&self) -> &[NameComponent] {
        &self.0
    }

    /// Its components, owned.
    #[must_use]
    pub fn into_components(self) -> Vec<NameComponent> {
        self.0
    }

    /// Whether there are no components.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name `rest` relative to the context that `self` denotes.
    #[must_use]
    pub fn join(&self, rest: &Self) -> Self {
        Self([self.components(), rest.components()].concat())
    }
}

impl From<NameComponent> for Name {
    fn from(component: NameComponent) -> Self {
        Self(vec![component])
    }
}

impl From<Vec<NameComponent>> for Name {
    fn from(components: Vec<NameComponent>) -> Self {
        Self(components)
    }
}

impl Encode for Name {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.0.encode(writer);
    }
}

impl Decode for Name {
    const MIN_SIZE: usize = <Vec<NameComponent>>::MIN_SIZE;

    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Vec::decode(reader).map(Self)
    }
}
