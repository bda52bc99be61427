// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions of `#if` and `#elif`.

use crate::syntax::literal;
use crate::syntax::token::{Token, TokenKind};

/// Whether the expression, macros expanded, is not zero.
pub(super) fn evaluate(tokens: &[Token], nesting: usize) -> Result<bool, String> {
    let mut reader = Reader {
        tokens,
        next: 0,
        depth: 0,
        nesting,
        skipped: 0,
    };
    let value = reader.ternary()?;
    match reader.peek() {
        None => Ok(value != 0),
        Some(extra) => Err(format!(
            "{} is not expected in this condition",
            extra.describe()
        )),
    }
}

struct Reader<'a> {
    tokens: &'a [Token],
    next: usize,
    depth: usize,
    nesting: usize,
    /// The number of enclosing operators that do not evaluate the operand, as in `0 &&`.
    skipped: usize,
}

/// Binary operators by rising precedence.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.next)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.peek().is_some_and(|t| t.is(text));
        self.next += usize::from(found);
        found
    }

    fn ternary(&mut self) -> Result<i64, String> {
        self.depth += 1;
        if self.depth > self.nesting {
            return Err("this condition is nested too deeply".to_owned());
        }
        let condition = self.binary(0)?;
        let value = if self.eat("?") {
            let yes = self.unless(condition == 0, Self::ternary)?;
            if !self.eat(":") {
                return Err("`:` is expected in this condition".to_owned());
            }
            let no = self.unless(condition != 0, Self::ternary)?;
            if condition != 0 { yes } else { no }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Operators of the given level and tighter ones.
    fn binary(&mut self, lowest: usize) -> Result<i64, String> {
        let mut left = self.unary()?;
        while let Some((level, operator)) = self.operator(lowest) {
            self.next += 1;
            let is_decided = match operator {
                "&&" => left == 0,
                "||" => left != 0,
                _ => false,
            };
            let right = self.unless(is_decided, |it| {
                if level + 1 < LEVELS.len() {
                    it.binary(level + 1)
                } else {
                    it.unary()
                }
            })?;
            left = match apply(operator, left, right) {
                Err(_) if self.skipped > 0 => 0,
                applied => applied?,
            };
        }
        Ok(left)
    }

    /// Evaluates a part, unless it is skipped.
    fn unless(
        &mut self,
        is_skipped: bool,
        read: impl FnOnce(&mut Self) -> Result<i64, String>,
    ) -> Result<i64, String> {
        self.skipped += usize::from(is_skipped);
        let value = read(self)?;
        self.skipped -= usize::from(is_skipped);
        Ok(value)
    }

    fn operator(&self, lowest: usize) -> Option<(usize, &'static str)> {
        let token = self.peek()?;
        for (level, operators) in LEVELS.iter().enumerate() {
            for operator in *operators {
                if level >= lowest && token.is(operator) {
                    return Some((level, operator));
                }
            }
        }
        None
    }

    fn sign(&mut self) -> Option<&'static str> {
        let sign = match &*self.peek()?.text {
            "!" => "!",
            "~" => "~",
            "-" => "-",
            "+" => "+",
            _ => return None,
        };
        self.next += 1;
        Some(sign)
    }

    fn unary(&mut self) -> Result<i64, String> {
        let mut signs = Vec::new();
        while let Some(sign) = self.sign() {
            signs.push(sign);
        }
        let mut value = self.primary()?;
        while let Some(sign) = signs.pop() {
            value = match sign {
                "!" => i64::from(value == 0),
                "~" => !value,
                "-" => value.wrapping_neg(),
                _ => value,
            };
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<i64, String> {
        let Some(token) = self.peek() else {
            return Err("a condition ends too early: a value is expected".to_owned());
        };
        if self.eat("(") {
            let value = self.ternary()?;
            return if self.eat(")") {
                Ok(value)
            } else {
                Err("`)` is expected in this condition".to_owned())
            };
        }
        self.next += 1;
        match token.kind {
            // Identifiers that are not macros have the value 0.
            TokenKind::Identifier => Ok(0),
            _ => {
                condition_value(token).ok_or_else(|| format!("{} is no integer", token.describe()))
            }
        }
    }
}

fn apply(operator: &str, a: i64, b: i64) -> Result<i64, String> {
    let zero = || "division by zero in this condition".to_owned();
    Ok(match operator {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<" => i64::from(a < b),
        ">" => i64::from(a > b),
        "<=" => i64::from(a <= b),
        ">=" => i64::from(a >= b),
        "<<" => a.wrapping_shl(b as u32),
        ">>" => a.wrapping_shr(b as u32),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if b == 0 => return Err(zero()),
        "/" => a.wrapping_div(b),
        _ if b == 0 => return Err(zero()),
        _ => a.wrapping_rem(b),
    })
}

/// The value of an integer or character token of a condition.
fn condition_value(token: &Token) -> Option<i64> {
    match token.kind {
        TokenKind::Number => {
            // C allows suffixes here.
            let digits = token.text.trim_end_matches(['u', 'U', 'l', 'L']);
            let value = literal::integer(digits)?;
            Some(value as i64)
        }
        TokenKind::Char => literal::character(&token.text, false).ok().map(i64::from),
        _ => None,
    }
}
