// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of writers used to another language: each results in one message with the IDL equivalent,
//! and parsing continues behind it.

use super::{Broken, Parse, Parser};
use crate::diagnostic::spelling::within_one_edit;
use crate::model::Type;
use crate::source::Span;
use crate::syntax::ast::{Ident, TypeKind, TypeSpec};
use crate::syntax::token::spelled;

/// The words that begin a type and cannot be declared, in their spelling.
const TYPE_WORDS: [&str; 14] = [
    "any", "boolean", "char", "double", "fixed", "float", "long", "Object", "octet", "sequence",
    "short", "string", "unsigned", "wchar",
];

/// The IDL equivalents of other languages' types, which differ by more than a typing error.
const FOREIGN_TYPES: [(&[&str], &str); 14] = [
    (&["bool", "_Bool"], "boolean"),
    (&["int", "int32_t", "i32", "integer", "sint32"], "long"),
    (
        &["uint", "uint32_t", "u32", "ulong", "dword"],
        "unsigned long",
    ),
    (&["int64_t", "i64", "longlong", "ssize_t"], "long long"),
    (
        &["uint64_t", "u64", "ulonglong", "size_t"],
        "unsigned long long",
    ),
    (&["int16_t", "i16", "sint16"], "short"),
    (&["uint16_t", "u16", "ushort", "word"], "unsigned short"),
    (&["byte", "uint8_t", "u8", "uchar", "int8_t", "i8"], "octet"),
    (&["float32", "float32_t", "f32", "real"], "float"),
    (&["float64", "float64_t", "f64"], "double"),
    (&["str", "text", "cstring", "char_ptr"], "string"),
    (&["wchar_t"], "wchar"),
    (&["widestring", "u16string"], "wstring"),
    (
        &["vector", "vec", "list", "array", "arraylist", "deque"],
        "sequence<…>",
    ),
];

/// The probably intended type for an undeclared name.
pub(crate) fn type_meant(name: &str) -> Option<&'static str> {
    for (names, meant) in FOREIGN_TYPES {
        for foreign in names {
            if foreign.eq_ignore_ascii_case(name) {
                return Some(meant);
            }
        }
    }
    let lower = name.to_ascii_lowercase();
    if lower.len() < 3 {
        return None;
    }
    let mut words = TYPE_WORDS.into_iter().filter(|word| word.len() > 3);
    words.find(|word| within_one_edit(&lower, &word.to_ascii_lowercase()))
}

/// The word for a type that differs from the name only in case.
fn type_word(name: &str) -> Option<&'static str> {
    let mut words = TYPE_WORDS.into_iter().chain(["wstring"]);
    words.find(|word| word.eq_ignore_ascii_case(name) && *word != name)
}

impl Parser<'_> {
    /// `Long`, `String` or `std::string`: replaces the token by the intended word.
    pub(super) fn repair_type_word(&mut self) {
        let first = self.peek().clone();
        let standard = first.is("std") && self.peek_at(1).is("::");
        if standard && (self.peek_at(2).is("string") || self.peek_at(2).is("wstring")) {
            let meant = self.peek_at(2).clone();
            self.no_such_type(
                &format!("std::{}", meant.text),
                first.span.to(meant.span),
                &meant.text,
            );
            self.next += 2;
        } else if !self.peek_at(1).is("::")
            && let Some(word) = type_word(&first.text)
        {
            self.no_such_type(&first.text, first.span, word);
            self.tokens[self.next].text = word.into();
        }
    }

    fn no_such_type(&mut self, name: &str, span: Span, meant: &str) {
        self.report
            .error("undeclared-name", span, format!("`{name}` is not declared"))
            .help(format!("did you mean `{meant}`?"));
    }

    /// `unsigned int` and the like.
    pub(super) fn unsigned_slip(&mut self) -> Option<Type> {
        let (ty, meant) = match &*self.peek().text.to_ascii_lowercase() {
            "int" | "long" => (Type::ULong, "unsigned long"),
            "short" => (Type::UShort, "unsigned short"),
            "char" | "octet" => (Type::Octet, "octet"),
            _ => return None,
        };
        self.unexpected("illegal type specifier: `short` or `long`")
            .help(format!("did you mean `{meant}`?"));
        self.bump();
        Some(ty)
    }

    /// `vector<…>` and the like, up to the closing bracket.
    pub(super) fn template_slip(&mut self, name: &str, start: Span) -> TypeSpec {
        let message = format!(
            "`{name}` takes no parameters: the only types that do are `sequence`, `string`, `wstring` and `fixed`"
        );
        let last = name.rsplit("::").next().unwrap_or(name);
        let help = match (type_meant(last), &*last.to_ascii_lowercase()) {
            (Some(meant), _) => format!("did you mean `{meant}`?"),
            (None, "map" | "hashmap" | "dictionary" | "pair") => {
                "use a sequence of structs of key and value".to_owned()
            }
            (None, _) => "define a type for each use".to_owned(),
        };
        self.report
            .error("no-template", start.to(self.last_span()), message)
            .help(help);
        let mut depth = 0usize;
        while !self.at_end() && !self.at(";") && !self.at("{") && !self.at("}") {
            let token = self.bump();
            depth += usize::from(token.is("<")) + 2 * usize::from(token.is("<<"));
            let closed = usize::from(token.is(">")) + 2 * usize::from(token.is(">>"));
            depth = depth.saturating_sub(closed);
            if depth == 0 {
                break;
            }
        }
        TypeSpec {
            kind: TypeKind::Wrong,
            span: start.to(self.last_span()),
        }
    }

    /// `= value` after a construct that cannot have one.
    pub(super) fn value_slip(&mut self, what: &str, help: &str) {
        if !self.at("=") {
            return;
        }
        let start = self.bump().span;
        let mut depth = 0usize;
        while !self.at_end() && !self.at(";") && !self.at("}") {
            if depth == 0 && (self.at(",") || self.at(")")) {
                break;
            }
            let token = self.bump();
            depth += usize::from(token.is("("));
            depth = depth.saturating_sub(usize::from(token.is(")")));
        }
        let span = start.to(self.last_span());
        self.report
            .error("no-value", span, format!("{what} has no value of its own"))
            .help(help);
    }

    /// `public` or `private` before a definition.
    pub(super) fn access_slip(&mut self) {
        if !self.at("public") && !self.at("private") {
            return;
        }
        let word = self.bump();
        let message = format!("`{}` belongs to the state of value types only", word.text);
        self.report
            .error("access", word.span, message)
            .help("remove it: everything that an interface or module declares is public");
    }

    /// `(void)`. True if it was found.
    pub(super) fn void_parameters_slip(&mut self) -> bool {
        if !self.at("void") || !self.peek_at(1).is(")") {
            return false;
        }
        let span = self.bump().span;
        self.bump();
        self.report
            .error(
                "void-parameters",
                span,
                "an empty list of parameters is written `()`",
            )
            .help("remove `void`");
        true
    }

    /// `.` between the parts of a name. True if it was found.
    pub(super) fn eat_dot(&mut self, found: &mut bool) -> bool {
        let is_dot = self.at(".") && self.peek_at(1).is_identifier();
        if is_dot {
            self.bump();
            *found = true;
        }
        is_dot
    }

    /// Reports a name with dots that begins at a token and has been read.
    pub(super) fn report_dots(&mut self, start: Span, first: usize) {
        let name = spelled(&self.tokens[first..self.next]);
        let message = format!("the parts of a name are joined with `::`, not with `.`: `{name}`");
        self.report
            .error("dotted-name", start.to(self.last_span()), message)
            .help(format!("write `{}`", name.replace('.', "::")));
    }

    /// `[3]` before the name.
    pub(super) fn dimension_slip(&mut self) {
        if !self.at("[") {
            return;
        }
        let start = self.peek().span;
        while !self.at_end() && !self.at(";") && !self.at("}") && !self.eat("]") {
            self.bump();
        }
        self.report
            .error(
                "dimension",
                start.to(self.last_span()),
                "the size of an array stands after the name",
            )
            .help("write `long name[3]`, or `sequence<…>` for any number of elements");
    }

    /// `&` or `*` behind the type of a parameter. One message suffices for `const string&`.
    pub(super) fn reference_slip(&mut self, reported: bool) {
        let token = self.peek().clone();
        if !token.is("&") && !token.is("*") {
            return;
        }
        self.bump();
        if !reported {
            let message = format!("IDL has no references or pointers: `{}`", token.text);
            self.report
                .error("reference", token.span, message)
                .help("remove it: `in`, `out` and `inout` say which way a value goes");
        }
    }

    /// A struct, union or enum without a name.
    pub(super) fn tag(&mut self, what: &str) -> Parse<Ident> {
        let nameless = self.at("{") || what == "union" && self.at("switch");
        if !nameless {
            return self.identifier(&format!("the name of the {what}"));
        }
        let message = format!("this {what} has no name");
        let span = self.last_span();
        self.report
            .error("missing-name", span, message)
            .help(format!("write `{what} Name`"));
        Err(Broken)
    }

    /// `extends` in place of `:`, and `throws` in place of `raises`. True if it was found.
    pub(super) fn word_slip(&mut self, words: &[&str], meant: &str) -> bool {
        if !words.iter().any(|word| self.at(word)) {
            return false;
        }
        let token = self.bump();
        let message = format!("IDL writes `{meant}` for `{}`", token.text);
        self.report
            .error("foreign-word", token.span, message)
            .help(format!("write `{meant}`"));
        true
    }
}
