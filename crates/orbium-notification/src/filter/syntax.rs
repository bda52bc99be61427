// SPDX-License-Identifier: MIT OR Apache-2.0
//! Syntax tree of a constraint.

/// The index of a node in [`Tree::nodes`].
pub(super) type NodeId = usize;

/// A parsed constraint. Nodes are in one list, and a chain of operators is one node: neither
/// evaluating nor dropping recurses deeper than the parentheses of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
    /// The number of nodes, and of steps of components.
    pub(super) count: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Bool(bool),
    Int(i128),
    Double(f64),
    Text(Box<str>),
    /// A bare identifier: a property, or the enumerator that it is compared with.
    Name(Box<str>),
    Component(Component),
    Exist(Component),
    /// Whether the default branch of a union is active.
    Default(Component),
    Not(NodeId),
    Negate(NodeId),
    /// A sign that only requires a number.
    Plus(NodeId),
    And(Vec<NodeId>),
    Or(Vec<NodeId>),
    /// An operand, with operations applied from left to right.
    Arithmetic(NodeId, Vec<(Operator, NodeId)>),
    Compare(Comparison, NodeId, NodeId),
    /// Whether the left text is part of the right one.
    Substring(NodeId, NodeId),
    In(NodeId, Component),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A part of the event: `$`, a name that is looked up, or neither; then steps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Component {
    /// `$name`: a run-time variable, or a field in any part.
    pub(super) variable: Option<Box<str>>,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Member(Box<str>),
    Position(u32),
    Index(u32),
    /// The value of the first entry with that name in a list of names and values.
    Entry(Box<str>),
    /// The branch of a union with that label.
    Branch(Label),
    Length,
    Discriminator,
    TypeId,
    RepositoryId,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Label {
    Default,
    Number(i64),
    Text(Box<str>),
}
