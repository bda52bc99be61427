// SPDX-License-Identifier: MIT OR Apache-2.0
//! Constant expressions, by precedence climbing.

use super::{Broken, Parse, Parser};
use crate::source::Span;
use crate::syntax::ast::{Expr, Step};
use crate::syntax::literal;
use crate::syntax::token::TokenKind;

/// Binary operators by rising precedence.
const LEVELS: [&[&str]; 6] = [
    &["|"],
    &["^"],
    &["&"],
    &[">>", "<<"],
    &["+", "-"],
    &["*", "/", "%"],
];

type Steps = Vec<(Step, Span)>;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        let start = self.peek().span;
        let mut steps = Vec::new();
        self.binary(0, &mut steps)?;
        Ok(Expr {
            steps,
            span: start.to(self.last_span()),
        })
    }

    fn binary(&mut self, lowest: usize, steps: &mut Steps) -> Parse<()> {
        self.unary(steps)?;
        while let Some((level, operator)) = self.binary_operator(lowest) {
            let span = self.bump().span;
            if level + 1 < LEVELS.len() {
                self.binary(level + 1, steps)?;
            } else {
                self.unary(steps)?;
            }
            steps.push((Step::Binary(operator), span));
        }
        Ok(())
    }

    /// Whether the `>>` here closes two brackets: it is followed by further closing brackets, or a
    /// declarator.
    fn shift_closes(&self) -> bool {
        let behind = self.peek_at(1);
        let is_closing = behind.is(">") || behind.is(">>");
        let ends = [";", ",", "[", "{", "("];
        let is_declarator = behind.is_identifier() && ends.iter().any(|it| self.peek_at(2).is(it));
        self.options.idl4 || is_closing || is_declarator
    }

    fn binary_operator(&self, lowest: usize) -> Option<(usize, &'static str)> {
        let token = self.peek();
        if self.closing_shift && token.is(">>") && self.shift_closes() {
            return None;
        }
        for (level, operators) in LEVELS.iter().enumerate() {
            for operator in *operators {
                if level >= lowest && token.is(operator) {
                    return Some((level, operator));
                }
            }
        }
        None
    }

    fn unary(&mut self, steps: &mut Steps) -> Parse<()> {
        let mut signs = Vec::new();
        while let Some(sign) = self.sign() {
            signs.push((Step::Unary(sign), self.bump().span));
        }
        self.primary(steps)?;
        signs.reverse();
        steps.append(&mut signs);
        Ok(())
    }

    fn sign(&self) -> Option<char> {
        match &*self.peek().text {
            "-" => Some('-'),
            "+" => Some('+'),
            "~" => Some('~'),
            _ => None,
        }
    }

    fn primary(&mut self, steps: &mut Steps) -> Parse<()> {
        let token = self.peek().clone();
        if token.is("(") {
            self.bump();
            let before = std::mem::replace(&mut self.closing_shift, false);
            let inner = self.nested(|p| p.binary(0, steps));
            self.closing_shift = before;
            inner?;
            self.expect(")")?;
            return Ok(());
        }
        let literal = match token.kind {
            _ if token.is_unterminated() => Ok(Step::Poison),
            TokenKind::Number => literal::number(&token.text).map(Step::Number),
            TokenKind::Char => literal::character(&token.text, false).map(Step::Char),
            TokenKind::WideChar => literal::character(&token.text, true).map(Step::WideChar),
            TokenKind::Text | TokenKind::WideText => {
                let (step, span) = self.string_literal();
                steps.push((step, span));
                return Ok(());
            }
            TokenKind::Identifier if matches!(&*token.text, "TRUE" | "FALSE") => {
                Ok(Step::Boolean(&*token.text == "TRUE"))
            }
            _ if self.at_name() || token.is("::") => {
                let name = self.scoped_name()?;
                let span = name.span;
                steps.push((Step::Name(name), span));
                return Ok(());
            }
            _ => {
                self.unexpected("a constant expression");
                return Err(Broken);
            }
        };
        self.bump();
        let step = self.checked(literal, token.span);
        steps.push((step, token.span));
        Ok(())
    }

    fn checked(&mut self, literal: Result<Step, literal::Malformed>, span: Span) -> Step {
        literal.unwrap_or_else(|problem| {
            self.report.error(problem.code, span, problem.message);
            Step::Poison
        })
    }

    /// Adjacent string literals, joined.
    fn string_literal(&mut self) -> (Step, Span) {
        let wide = self.peek().kind == TokenKind::WideText;
        let start = self.peek().span;
        let mut units = Some(Vec::new());
        while matches!(self.peek().kind, TokenKind::Text | TokenKind::WideText) {
            let token = self.bump();
            self.warn_unknown_escapes(&token.text, token.span);
            let part_wide = token.kind == TokenKind::WideText;
            if part_wide != wide {
                let message = "narrow and wide string literals cannot be joined";
                self.report
                    .error("mixed-strings", token.span, message)
                    .help("put `L` before all of them or none");
                units = None;
            }
            match literal::string(&token.text, part_wide) {
                Ok(mut part) => {
                    if let Some(units) = &mut units {
                        units.append(&mut part);
                    }
                }
                Err(problem) => {
                    self.report.error(problem.code, token.span, problem.message);
                    units = None;
                }
            }
        }
        let span = start.to(self.last_span());
        match units {
            Some(units) if wide => (Step::WideText(units), span),
            Some(units) => (Step::Text(units), span),
            None => (Step::Poison, span),
        }
    }

    fn warn_unknown_escapes(&mut self, text: &str, span: Span) {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                continue;
            }
            if let Some(escaped) = chars.next()
                && !matches!(
                    escaped,
                    'n' | 't'
                        | 'v'
                        | 'b'
                        | 'r'
                        | 'f'
                        | 'a'
                        | '\\'
                        | '?'
                        | '\''
                        | '"'
                        | 'x'
                        | 'u'
                        | '0'..='7'
                )
            {
                let message =
                    format!("the escape sequence `\\{escaped}` is undefined; `{escaped}` is taken");
                self.report.warning("unknown-escape", span, message);
            }
        }
    }

    /// A plain string literal as the grammar requires, such as in `typeid`.
    pub(super) fn plain_string(&mut self, what: &str) -> Parse<(Vec<u16>, Span)> {
        if self.peek().kind != TokenKind::Text {
            self.unexpected(what);
            return Err(Broken);
        }
        let (step, span) = self.string_literal();
        match step {
            Step::Text(units) => Ok((units, span)),
            _ => Ok((Vec::new(), span)),
        }
    }
}
