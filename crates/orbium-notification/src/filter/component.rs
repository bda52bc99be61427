// SPDX-License-Identifier: MIT OR Apache-2.0
//! The grammar of components: `$`, a name, and steps.

use super::error::ConstraintError;
use super::parse::Parser;
use super::syntax::{Component, Label, Step};
use super::token::Token;

impl Parser<'_> {
    pub(super) fn component(&mut self) -> Result<Component, ConstraintError> {
        self.expect("$")?;
        let variable = match &self.token {
            Token::Name(name) => {
                let name = name.clone();
                self.advance()?;
                Some(name)
            }
            _ => None,
        };
        let mut steps = Vec::new();
        loop {
            let step = match self.token {
                Token::Symbol(".") => {
                    self.advance()?;
                    self.dotted()?
                }
                Token::Symbol("[") => {
                    self.advance()?;
                    let index = self.small_number()?;
                    self.expect("]")?;
                    Step::Index(index)
                }
                Token::Symbol("(") => {
                    self.advance()?;
                    self.entry()?
                }
                _ => return Ok(Component { variable, steps }),
            };
            self.count()?;
            steps.push(step);
        }
    }

    /// The step behind a point.
    fn dotted(&mut self) -> Result<Step, ConstraintError> {
        match &self.token {
            Token::Symbol("(") => {
                self.advance()?;
                let label = self.label()?;
                self.expect(")")?;
                Ok(Step::Branch(label))
            }
            Token::Name(name) => {
                let step = match &**name {
                    "_length" => Step::Length,
                    "_d" => Step::Discriminator,
                    "_type_id" => Step::TypeId,
                    "_repos_id" => Step::RepositoryId,
                    _ => Step::Member(name.clone()),
                };
                self.advance()?;
                Ok(step)
            }
            _ => Ok(Step::Position(self.small_number()?)),
        }
    }

    /// The name in a list of names and values, after its parenthesis.
    fn entry(&mut self) -> Result<Step, ConstraintError> {
        let name = match self.advance()? {
            Token::Name(name) | Token::Text(name) => name,
            _ => return Err(self.unexpected()),
        };
        self.expect(")")?;
        Ok(Step::Entry(name))
    }

    fn label(&mut self) -> Result<Label, ConstraintError> {
        if self.is_symbol(")") {
            return Ok(Label::Default);
        }
        let is_negative = self.accept("-")?;
        if !is_negative {
            self.accept("+")?;
        }
        let label = match self.token.clone() {
            Token::Int(number) => {
                let number = if is_negative { -number } else { number };
                // Labels of unsigned 64 bits are stored as their bits.
                let bits =
                    i64::try_from(number).or_else(|_| u64::try_from(number).map(u64::cast_signed));
                Label::Number(bits.map_err(|_| self.unexpected())?)
            }
            Token::Bool(value) if !is_negative => Label::Number(value.into()),
            Token::Text(text) | Token::Name(text) if !is_negative => Label::Text(text),
            _ => return Err(self.unexpected()),
        };
        self.advance()?;
        Ok(label)
    }

    fn small_number(&mut self) -> Result<u32, ConstraintError> {
        let error = self.unexpected();
        match self.advance()? {
            Token::Int(number) => u32::try_from(number).map_err(|_| error),
            _ => Err(error),
        }
    }
}
