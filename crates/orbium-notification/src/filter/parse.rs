// SPDX-License-Identifier: MIT OR Apache-2.0
//! The grammar of constraints, from the weakest operator to the strongest.

use super::error::{ConstraintError, ConstraintErrorKind};
use super::syntax::{Comparison, Component, Node, NodeId, Operator, Step, Tree};
use super::token::{Lexer, Token};

/// The bounds of constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstraintLimits {
    /// Maximum bytes of the text; 1 MiB by default.
    pub bytes: usize,
    /// Maximum number of operands, operators and steps of components; 10,000 by default.
    pub nodes: usize,
    /// The same of all constraints of a filter together, and of all filters of this process that a
    /// proxy or an admin has; 100,000 by default.
    pub filter_nodes: usize,
    /// Maximum nesting of parentheses and signs; 64 by default, which is also the upper limit.
    pub nesting: usize,
}

/// The upper limit of the nesting, whatever the configuration: evaluation recurses with it.
const MAX_NESTING: usize = 64;

impl Default for ConstraintLimits {
    fn default() -> Self {
        Self {
            bytes: 1 << 20,
            nodes: 10_000,
            filter_nodes: 100_000,
            nesting: MAX_NESTING,
        }
    }
}

pub(super) struct Parser<'t> {
    lexer: Lexer<'t>,
    pub(super) token: Token,
    pub(super) position: usize,
    nodes: Vec<Node>,
    limits: ConstraintLimits,
    steps: usize,
    depth: usize,
}

type Parsed<T> = Result<T, ConstraintError>;

/// Parses a constraint. An empty one is TRUE.
pub(super) fn parse(text: &str, limits: &ConstraintLimits) -> Parsed<Tree> {
    let mut parser = Parser {
        lexer: Lexer::new(text),
        token: Token::End,
        position: 0,
        nodes: Vec::new(),
        limits: *limits,
        steps: 0,
        depth: 0,
    };
    if text.len() > limits.bytes {
        return Err(parser.error(ConstraintErrorKind::TooLarge));
    }
    parser.advance()?;
    let root = match parser.token {
        Token::End => parser.add(Node::Bool(true))?,
        _ => parser.or()?,
    };
    match parser.token {
        Token::End => Ok(Tree {
            nodes: parser.nodes,
            root,
            count: parser.steps,
        }),
        _ => Err(parser.unexpected()),
    }
}

impl Parser<'_> {
    pub(super) fn error(&self, kind: ConstraintErrorKind) -> ConstraintError {
        ConstraintError {
            kind,
            position: self.position,
        }
    }

    pub(super) fn unexpected(&self) -> ConstraintError {
        self.error(ConstraintErrorKind::Unexpected)
    }

    /// Advances to the next token.
    pub(super) fn advance(&mut self) -> Parsed<Token> {
        let (token, position) = self.lexer.next()?;
        self.position = position;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn add(&mut self, node: Node) -> Parsed<NodeId> {
        self.count()?;
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    /// Counts one more node or step.
    pub(super) fn count(&mut self) -> Parsed<()> {
        self.steps += 1;
        if self.steps > self.limits.nodes {
            Err(self.error(ConstraintErrorKind::TooLarge))
        } else {
            Ok(())
        }
    }

    pub(super) fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.token, Token::Symbol(it) if it == symbol)
    }

    /// Consumes a symbol if it is next.
    pub(super) fn accept(&mut self, symbol: &str) -> Parsed<bool> {
        let is_next = self.is_symbol(symbol);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.accept(symbol)? {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn accept_keyword(&mut self, keyword: &str) -> Parsed<bool> {
        let is_next = matches!(self.token, Token::Keyword(it) if it == keyword);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn or(&mut self) -> Parsed<NodeId> {
        let mut operands = vec![self.and()?];
        while self.accept_keyword("or")? {
            operands.push(self.and()?);
        }
        self.row(operands, Node::Or)
    }

    fn and(&mut self) -> Parsed<NodeId> {
        let mut operands = vec![self.comparison()?];
        while self.accept_keyword("and")? {
            operands.push(self.comparison()?);
        }
        self.row(operands, Node::And)
    }

    fn row(&mut self, mut operands: Vec<NodeId>, node: fn(Vec<NodeId>) -> Node) -> Parsed<NodeId> {
        match (operands.len(), operands.pop()) {
            (1, Some(only)) => Ok(only),
            (_, last) => {
                operands.extend(last);
                self.add(node(operands))
            }
        }
    }

    fn comparison(&mut self) -> Parsed<NodeId> {
        let left = self.membership()?;
        let comparison = match self.token {
            Token::Symbol("==") => Comparison::Equal,
            Token::Symbol("!=") => Comparison::Unequal,
            Token::Symbol("<") => Comparison::Less,
            Token::Symbol("<=") => Comparison::LessOrEqual,
            Token::Symbol(">") => Comparison::Greater,
            Token::Symbol(">=") => Comparison::GreaterOrEqual,
            _ => return Ok(left),
        };
        self.advance()?;
        let right = self.membership()?;
        self.add(Node::Compare(comparison, left, right))
    }

    fn membership(&mut self) -> Parsed<NodeId> {
        let left = self.substring()?;
        if !self.accept_keyword("in")? {
            return Ok(left);
        }
        let component = self.named_component()?;
        self.add(Node::In(left, component))
    }

    fn substring(&mut self) -> Parsed<NodeId> {
        let left = self.sum()?;
        if !self.accept("~")? {
            return Ok(left);
        }
        let right = self.sum()?;
        self.add(Node::Substring(left, right))
    }

    fn sum(&mut self) -> Parsed<NodeId> {
        let first = self.product()?;
        let mut others = Vec::new();
        loop {
            let operator = match self.token {
                Token::Symbol("+") => Operator::Add,
                Token::Symbol("-") => Operator::Subtract,
                _ => return self.arithmetic(first, others),
            };
            self.advance()?;
            others.push((operator, self.product()?));
        }
    }

    fn product(&mut self) -> Parsed<NodeId> {
        let first = self.factor()?;
        let mut others = Vec::new();
        loop {
            let operator = match self.token {
                Token::Symbol("*") => Operator::Multiply,
                Token::Symbol("/") => Operator::Divide,
                _ => return self.arithmetic(first, others),
            };
            self.advance()?;
            others.push((operator, self.factor()?));
        }
    }

    fn arithmetic(&mut self, first: NodeId, others: Vec<(Operator, NodeId)>) -> Parsed<NodeId> {
        if others.is_empty() {
            Ok(first)
        } else {
            self.add(Node::Arithmetic(first, others))
        }
    }

    fn factor(&mut self) -> Parsed<NodeId> {
        self.depth += 1;
        if self.depth > self.limits.nesting.min(MAX_NESTING) {
            return Err(self.error(ConstraintErrorKind::TooLarge));
        }
        let node = self.operand();
        self.depth -= 1;
        node
    }

    fn operand(&mut self) -> Parsed<NodeId> {
        let node = match &self.token {
            Token::Keyword("not") => {
                self.advance()?;
                Node::Not(self.factor()?)
            }
            Token::Keyword("exist") => {
                self.advance()?;
                Node::Exist(self.named_component()?)
            }
            Token::Keyword("default") => {
                self.advance()?;
                Node::Default(self.named_component()?)
            }
            Token::Symbol("-") => {
                self.advance()?;
                Node::Negate(self.factor()?)
            }
            Token::Symbol("+") => {
                self.advance()?;
                Node::Plus(self.factor()?)
            }
            Token::Symbol("(") => {
                self.advance()?;
                let inner = self.or()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Symbol("$") => Node::Component(self.component()?),
            Token::Name(_) | Token::Bool(_) | Token::Int(_) | Token::Double(_) | Token::Text(_) => {
                match self.advance()? {
                    Token::Name(name) => Node::Name(name),
                    Token::Bool(value) => Node::Bool(value),
                    Token::Int(value) => Node::Int(value),
                    Token::Double(value) => Node::Double(value),
                    Token::Text(text) => Node::Text(text),
                    _ => return Err(self.unexpected()),
                }
            }
            _ => return Err(self.unexpected()),
        };
        self.add(node)
    }

    /// A component, or the bare name of a property.
    fn named_component(&mut self) -> Parsed<Component> {
        if let Token::Name(name) = &self.token {
            let steps = vec![
                Step::Member("filterable_data".into()),
                Step::Entry(name.clone()),
            ];
            self.advance()?;
            return Ok(Component {
                variable: None,
                steps,
            });
        }
        self.component()
    }
}
