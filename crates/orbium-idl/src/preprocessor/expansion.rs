// SPDX-License-Identifier: MIT OR Apache-2.0
//! Macros: definition and expansion.

use std::rc::Rc;

use super::Preprocessor;
use super::definition::{Macro, Parameters};
use crate::source::Span;
use crate::syntax::scanner::Scanner;
use crate::syntax::token::{Token, TokenKind};

/// An argument: as written, and fully expanded on first use.
#[derive(Default)]
struct Argument {
    raw: Vec<Token>,
    expanded: Option<Vec<Token>>,
}

/// Maximum nesting of macro calls in arguments of macro calls.
const ARGUMENT_DEPTH: usize = 64;

impl Preprocessor<'_> {
    /// Defines a macro given as text, like `-D`.
    pub(super) fn define_text(&mut self, name: &str, replacement: &str) {
        let span = Span {
            file: 0,
            start: 0,
            end: 0,
        };
        let head = Scanner::retokenize(name, span, &mut self.names);
        let body = Scanner::retokenize(replacement, span, &mut self.names);
        let (Some(first), rest) = (head.first(), head.get(1..).unwrap_or(&[])) else {
            return;
        };
        if !first.is_identifier() {
            return;
        }
        let mut tokens = rest.to_vec();
        let parameters = if tokens.is_empty() {
            None
        } else {
            match parse_parameters(&mut tokens) {
                Ok(parameters) => Some(parameters),
                Err(_) => return,
            }
        };
        self.insert(&first.text, parameters, body);
    }

    fn insert(
        &mut self,
        name: &str,
        parameters: Option<(Parameters, bool)>,
        body: Vec<Token>,
    ) -> Option<Rc<Macro>> {
        let (parameters, variadic) = match parameters {
            Some((names, variadic)) => (Some(names), variadic),
            None => (None, false),
        };
        let definition = Rc::new(Macro {
            parameters,
            variadic,
            body,
        });
        self.macros.insert(name.into(), definition)
    }

    /// `#define`.
    pub(super) fn define(&mut self) {
        let span = self
            .current_file()
            .map(|f| f.scanner.here(0))
            .unwrap_or(self.last_span);
        let mut tokens = self.directive_tokens();
        let Some(name) = tokens.first().filter(|t| t.is_identifier()).cloned() else {
            self.report.error(
                "malformed-directive",
                span,
                "`#define` needs the name of a macro",
            );
            return;
        };
        tokens.remove(0);
        let function_like = tokens.first().is_some_and(|t| t.is("(") && !t.spaced);
        let parameters = if function_like {
            match parse_parameters(&mut tokens) {
                Ok(parameters) => Some(parameters),
                Err(problem) => {
                    self.report.error("malformed-directive", name.span, problem);
                    return;
                }
            }
        } else {
            None
        };
        let before = self.insert(&name.text, parameters, tokens);
        let now = self.macros.get(&name.text);
        if let (Some(before), Some(now)) = (before, now)
            && !now.is_same(&before)
        {
            let message = format!("the macro `{}` is defined again, differently", name.text);
            self.report
                .warning("macro-redefined", name.span, message)
                .help("use `#undef` first");
        }
    }

    /// The next token with macros expanded.
    pub(super) fn next_expanded(&mut self) -> Option<Token> {
        loop {
            let mut token = self.next_raw()?;
            if !token.is_identifier() || token.painted {
                return Some(token);
            }
            let Some(definition) = self.macros.get(&token.text).cloned() else {
                return Some(self.predefined(token));
            };
            if self.active.get(&token.text).is_some_and(|count| *count > 0) {
                token.painted = true;
                return Some(token);
            }
            let tokens = match &definition.parameters {
                None => self.replace(&definition, &mut [], token.span),
                Some(parameters) => {
                    match self.arguments(&token, parameters.len(), definition.variadic) {
                        Ok(Some(mut arguments)) => {
                            self.replace(&definition, &mut arguments, token.span)
                        }
                        Ok(None) => return Some(token),
                        Err(()) => continue,
                    }
                }
            };
            self.expanded += tokens.len() + 1;
            if self.expanded > self.options.limits.expansion {
                self.abort(
                    "expansion-too-large",
                    token.span,
                    "the expansion of this macro is too large",
                );
                return None;
            }
            self.push_tokens(Some(token.text), tokens);
        }
    }

    /// `__LINE__` and `__FILE__`.
    fn predefined(&mut self, token: Token) -> Token {
        let (kind, text) = match &*token.text {
            "__LINE__" => (
                TokenKind::Number,
                self.sources.location(token.span).line.to_string(),
            ),
            "__FILE__" => {
                let file = self.sources.location(token.span).file;
                let mut text = String::from("\"");
                for letter in file.chars() {
                    match letter {
                        '\\' => text.push('/'),
                        '"' => {}
                        letter => text.push(letter),
                    }
                }
                text.push('"');
                (TokenKind::Text, text)
            }
            _ => return token,
        };
        Token {
            kind,
            text: self.names.intern(&text),
            ..token
        }
    }

    /// Expands a list in isolation, without the following tokens.
    pub(super) fn expand_list(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let outer = std::mem::take(&mut self.frames);
        self.push_tokens(None, tokens);
        let mut result = Vec::new();
        while let Some(token) = self.next_expanded() {
            result.push(token);
        }
        // The frames are not restored once the limits have been exceeded.
        if self.expanded <= self.options.limits.expansion {
            self.frames = outer;
        }
        result
    }

    /// Collects the arguments behind the name of a function-like macro. None if no parenthesis
    /// follows, which makes the name an ordinary one.
    fn arguments(
        &mut self,
        name: &Token,
        count: usize,
        variadic: bool,
    ) -> Result<Option<Vec<Argument>>, ()> {
        match self.next_raw() {
            Some(token) if token.is("(") => {}
            Some(token) => {
                self.push_tokens(None, vec![token]);
                return Ok(None);
            }
            None => return Ok(None),
        }
        let mut arguments = vec![Argument::default()];
        let mut depth = 0usize;
        loop {
            let Some(token) = self.next_raw() else {
                let message = format!("the call of the macro `{}` is not closed", name.text);
                self.report
                    .error("macro-call", name.span, message)
                    .help("close it with `)`");
                return Err(());
            };
            let splits = depth == 0 && token.is(",") && !(variadic && arguments.len() >= count);
            if depth == 0 && token.is(")") {
                break;
            }
            if splits {
                arguments.push(Argument::default());
                continue;
            }
            depth += usize::from(token.is("("));
            depth -= usize::from(token.is(")"));
            if let Some(last) = arguments.last_mut() {
                last.raw.push(token);
            }
        }
        if count == 0 && arguments.len() == 1 && arguments[0].raw.is_empty() {
            arguments.clear();
        }
        if variadic && arguments.len() + 1 == count {
            arguments.push(Argument::default());
        }
        if arguments.len() != count {
            let message = format!(
                "the macro `{}` takes {count} argument(s), not {}",
                name.text,
                arguments.len()
            );
            self.report.error("macro-call", name.span, message);
            return Err(());
        }
        Ok(Some(arguments))
    }

    /// The body of a macro with its parameters replaced, and `#` and `##` applied.
    fn replace(
        &mut self,
        definition: &Macro,
        arguments: &mut [Argument],
        span: Span,
    ) -> Vec<Token> {
        let body = &definition.body;
        let parameter = |token: &Token| {
            let places = definition.parameters.as_ref()?;
            places
                .get(&token.text)
                .filter(|_| token.is_identifier())
                .copied()
        };
        let mut result: Vec<Token> = Vec::new();
        let mut paste = false;
        let mut index = 0;
        while let Some(token) = body.get(index) {
            index += 1;
            if token.is("##") && !result.is_empty() && index < body.len() {
                paste = true;
                continue;
            }
            let next = body.get(index);
            let mut piece = match parameter(token) {
                _ if token.is("#")
                    && definition.parameters.is_some()
                    && next.and_then(parameter).is_some() =>
                {
                    let argument = next.and_then(parameter).and_then(|p| arguments.get(p));
                    index += 1;
                    let text = stringify(argument.map_or(&[], |a| &a.raw));
                    vec![Token {
                        kind: TokenKind::Text,
                        text: self.names.intern(&text),
                        ..token.clone()
                    }]
                }
                Some(p) if paste || next.is_some_and(|n| n.is("##")) => {
                    operand(&arguments[p], token)
                }
                Some(p) => self.expanded_argument(&mut arguments[p]),
                None => vec![token.clone()],
            };
            for token in &mut piece {
                token.span = span;
                token.starts_line = false;
            }
            if paste {
                self.paste(&mut result, &mut piece, span);
                paste = false;
            }
            result.append(&mut piece);
            if self.expanded + result.len() > self.options.limits.expansion {
                break;
            }
        }
        result.retain(|token| !is_placemarker(token));
        result
    }

    fn expanded_argument(&mut self, argument: &mut Argument) -> Vec<Token> {
        if argument.expanded.is_none() {
            self.argument_depth += 1;
            let expanded = if self.argument_depth > ARGUMENT_DEPTH {
                argument.raw.clone()
            } else {
                self.expand_list(argument.raw.clone())
            };
            self.argument_depth -= 1;
            argument.expanded = Some(expanded);
        }
        argument.expanded.clone().unwrap_or_default()
    }

    /// Joins the last token of the result with the first of the piece.
    fn paste(&mut self, result: &mut Vec<Token>, piece: &mut Vec<Token>, span: Span) {
        let (Some(left), right) = (result.pop(), piece.remove(0)) else {
            return;
        };
        if is_placemarker(&left) || is_placemarker(&right) {
            result.push(if is_placemarker(&left) { right } else { left });
            return;
        }
        let text = format!("{}{}", left.text, right.text);
        let mut joined = Scanner::retokenize(&text, span, &mut self.names);
        if joined.len() != 1 {
            let message = format!(
                "joining `{}` and `{}` gives no valid token",
                left.text, right.text
            );
            self.report.error("macro-paste", span, message);
        }
        result.append(&mut joined);
    }
}

/// An argument next to `##`: as written, or a placemarker if it is empty (ISO C++, 16.3.3).
fn operand(argument: &Argument, parameter: &Token) -> Vec<Token> {
    if !argument.raw.is_empty() {
        return argument.raw.clone();
    }
    vec![Token {
        kind: TokenKind::Other,
        text: "".into(),
        ..parameter.clone()
    }]
}

/// Whether a token stands for an empty argument next to `##`.
fn is_placemarker(token: &Token) -> bool {
    token.text.is_empty()
}

/// Parses `(a, b, ...)` at the front.
fn parse_parameters(tokens: &mut Vec<Token>) -> Result<(Parameters, bool), String> {
    let close = tokens.iter().position(|t| t.is(")"));
    let Some(close) = close else {
        return Err("the parameters of this macro are not closed with `)`".to_owned());
    };
    let mut inside = tokens.split_off(close + 1);
    std::mem::swap(&mut inside, tokens);
    let inside = inside.get(1..close).unwrap_or(&[]);
    let mut places = Parameters::new();
    let mut variadic = false;
    let dots = inside.len() >= 3 && inside[inside.len() - 3..].iter().all(|t| t.is("."));
    let named = if dots {
        &inside[..inside.len() - 3]
    } else {
        inside
    };
    for (position, token) in named.iter().enumerate() {
        match position % 2 {
            0 if token.is_identifier() => {
                if places.insert(token.text.clone(), position / 2).is_some() {
                    return Err(format!(
                        "the macro parameter `{}` is named twice",
                        token.text
                    ));
                }
            }
            1 if token.is(",") => {}
            _ => return Err(format!("{} is no macro parameter", token.describe())),
        }
    }
    if dots {
        places.insert("__VA_ARGS__".into(), places.len());
        variadic = true;
    }
    Ok((places, variadic))
}

fn stringify(tokens: &[Token]) -> String {
    let mut text = String::from("\"");
    for (index, token) in tokens.iter().enumerate() {
        if index > 0 && token.spaced {
            text.push(' ');
        }
        let literal = matches!(
            token.kind,
            TokenKind::Text | TokenKind::Char | TokenKind::WideText | TokenKind::WideChar
        );
        for c in token.text.chars() {
            if literal && matches!(c, '"' | '\\') {
                text.push('\\');
            }
            text.push(c);
        }
    }
    text.push('"');
    text
}
