// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading tokens one by one. Malformed text results in `None`: the declaration is then copied
//! unchanged.

use crate::expansion::Token;

/// A position in tokens.
#[derive(Clone)]
pub(crate) struct Cursor<'t, 'a> {
    tokens: &'t [Token<'a>],
    next: usize,
}

impl<'t, 'a> Cursor<'t, 'a> {
    pub(crate) fn new(tokens: &'t [Token<'a>]) -> Self {
        Self { tokens, next: 0 }
    }

    /// The number of tokens read.
    pub(crate) fn read(&self) -> usize {
        self.next
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.next >= self.tokens.len()
    }

    pub(crate) fn peek(&self) -> &'t str {
        self.peek_at(0)
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> &'t str {
        self.tokens.get(self.next + ahead).map_or("", |it| &it.text)
    }

    pub(crate) fn bump(&mut self) -> Option<&'t Token<'a>> {
        let token = self.tokens.get(self.next)?;
        self.next += 1;
        Some(token)
    }

    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let found = self.peek() == text;
        self.next += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, text: &str) -> Option<()> {
        self.eat(text).then_some(())
    }

    /// An identifier.
    pub(crate) fn name(&mut self) -> Option<&'t Token<'a>> {
        let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
        self.peek().starts_with(starts).then(|| self.bump())?
    }

    /// A scoped name: its tokens.
    pub(crate) fn scoped(&mut self) -> Option<&'t [Token<'a>]> {
        let start = self.next;
        self.eat("::");
        self.name()?;
        while self.eat("::") {
            self.name()?;
        }
        Some(&self.tokens[start..self.next])
    }

    /// Scoped names between commas.
    pub(crate) fn scoped_names(&mut self) -> Option<Vec<String>> {
        let mut names = vec![spelled(self.scoped()?)];
        while self.eat(",") {
            names.push(spelled(self.scoped()?));
        }
        Some(names)
    }

    /// Scoped names behind a word, if the word is there.
    pub(crate) fn scoped_names_behind(&mut self, word: &str) -> Option<Vec<String>> {
        if self.eat(word) {
            self.scoped_names()
        } else {
            Some(Vec::new())
        }
    }

    /// A scoped name behind a word, if the word is there.
    pub(crate) fn scoped_behind(&mut self, word: &str) -> Option<Option<String>> {
        if self.eat(word) {
            Some(Some(spelled(self.scoped()?)))
        } else {
            Some(None)
        }
    }

    /// The tokens up to the `;` of a declaration, inclusive.
    pub(crate) fn declaration(&mut self) -> Option<&'t [Token<'a>]> {
        let (start, mut open) = (self.next, 0usize);
        loop {
            match &*self.bump()?.text {
                "{" | "(" => open += 1,
                "}" | ")" => open = open.checked_sub(1)?,
                ";" if open == 0 => return Some(&self.tokens[start..self.next]),
                _ => {}
            }
        }
    }

    /// The tokens between braces, the first of which was read.
    pub(crate) fn body(&mut self) -> Option<&'t [Token<'a>]> {
        let (start, mut open) = (self.next, 1usize);
        loop {
            match &*self.bump()?.text {
                "{" => open += 1,
                "}" if open == 1 => return Some(&self.tokens[start..self.next - 1]),
                "}" => open -= 1,
                _ => {}
            }
        }
    }

    /// The tokens between braces before a `;`.
    pub(crate) fn braced(&mut self) -> Option<&'t [Token<'a>]> {
        self.expect("{")?;
        let body = self.body()?;
        self.expect(";")?;
        Some(body)
    }

    /// Arguments between `<`, which was read, and its `>`. A `>>` closes two.
    pub(crate) fn arguments(&mut self) -> Option<Vec<Vec<Token<'a>>>> {
        let (mut open, mut all, mut argument) = (1usize, Vec::new(), Vec::new());
        loop {
            for token in halves(self.bump()?) {
                match &*token.text {
                    "<" => open += 1,
                    ">" => open -= 1,
                    ";" | "{" | "}" => return None,
                    _ => {}
                }
                if open == 0 {
                    all.push(argument);
                    return Some(all);
                }
                if open == 1 && token.text == "," {
                    all.push(std::mem::take(&mut argument));
                } else {
                    argument.push(token);
                }
            }
        }
    }
}

/// A `>>` as two tokens, any other unchanged.
fn halves<'a>(token: &Token<'a>) -> Vec<Token<'a>> {
    match &*token.text {
        ">>" => {
            let half = Token {
                text: ">".into(),
                at: token.at,
            };
            vec![half.clone(), half]
        }
        _ => vec![token.clone()],
    }
}

/// Tokens as text that can be split at white space again.
pub(crate) fn spelled(tokens: &[Token<'_>]) -> String {
    let words: Vec<_> = tokens.iter().map(|it| &*it.text).collect();
    words.join(" ")
}

/// Appends the words of a text, generated for the token at an index.
pub(crate) fn write(out: &mut Vec<Token<'_>>, at: usize, text: &str) {
    for word in text.split_whitespace() {
        let text = word.to_owned().into();
        out.push(Token { text, at });
    }
}
