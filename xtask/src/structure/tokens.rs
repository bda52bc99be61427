// SPDX-License-Identifier: MIT OR Apache-2.0
//! Analysis of token streams: attributes, and the bodies of macros, which have no syntax tree.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{Attribute, Item};

/// The name that an item defines.
pub(super) fn defined_name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(it) => &it.ident,
        Item::Enum(it) => &it.ident,
        Item::Fn(it) => &it.sig.ident,
        Item::Static(it) => &it.ident,
        Item::Struct(it) => &it.ident,
        Item::Trait(it) => &it.ident,
        Item::Type(it) => &it.ident,
        Item::Union(it) => &it.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Names that an invocation of a macro probably defines: those behind `struct`, `enum` and the like
/// in its outermost tokens.
pub(super) fn names_defined_in(tokens: TokenStream) -> Vec<String> {
    const KEYWORDS: [&str; 8] = [
        "struct", "enum", "union", "type", "trait", "fn", "const", "static",
    ];
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let pairs = tokens.windows(2).filter_map(|pair| match pair {
        [TokenTree::Ident(keyword), TokenTree::Ident(name)]
            if KEYWORDS.iter().any(|it| keyword == it) =>
        {
            Some(name.to_string())
        }
        _ => None,
    });
    pairs.collect()
}

/// Whether a `cfg` predicate is only true in tests: `test`, or `test` within `all`.
pub(super) fn requires_test(predicate: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = predicate.into_iter().collect();
    let within_all = tokens.windows(2).any(|pair| match pair {
        [TokenTree::Ident(all), TokenTree::Group(group)] if all == "all" => {
            requires_test(group.stream())
        }
        _ => false,
    });
    within_all
        || tokens
            .iter()
            .any(|it| matches!(it, TokenTree::Ident(it) if it == "test"))
}

/// Files that `#[path = "…"]` names, also within `cfg_attr`.
pub(super) fn path_attributes(attributes: &[Attribute]) -> Vec<String> {
    let named = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
                syn::Expr::Lit(value) => match &value.lit {
                    syn::Lit::Str(text) => Some(text.value()),
                    _ => None,
                },
                _ => None,
            },
            syn::Meta::List(list) if list.path.is_ident("cfg_attr") => {
                path_within(list.tokens.clone())
            }
            _ => None,
        });
    named.collect()
}

fn path_within(tokens: TokenStream) -> Option<String> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.windows(3).find_map(|three| match three {
        [
            TokenTree::Ident(name),
            TokenTree::Punct(_),
            TokenTree::Literal(text),
        ] if name == "path" => Some(text.to_string().trim_matches('"').to_owned()),
        _ => None,
    })
}

/// Counts of conditional compilation and paths in a file's tokens.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Switches {
    /// `cfg` and `cfg_attr` attributes and `cfg!` that name a feature.
    pub(crate) features: usize,
    /// `#[path = "…"]`.
    pub(crate) paths: usize,
}

/// Counts the switches of a file, in the bodies of macros too.
pub(crate) fn switches(tokens: TokenStream) -> Switches {
    let mut found = Switches::default();
    count_switches(tokens, &mut found);
    found
}

fn count_switches(tokens: TokenStream, found: &mut Switches) {
    let mut before = [None, None];
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            let name = match &before {
                [_, Some(TokenTree::Ident(name))] => name.to_string(),
                [Some(TokenTree::Ident(name)), Some(TokenTree::Punct(bang))]
                    if bang.as_char() == '!' =>
                {
                    name.to_string()
                }
                _ => String::new(),
            };
            if matches!(name.as_str(), "cfg" | "cfg_attr") && names(group.stream(), "feature") {
                found.features += 1;
            }
            if group.delimiter() == Delimiter::Bracket && names(group.stream(), "path") {
                let after_hash =
                    matches!(&before[1], Some(TokenTree::Punct(it)) if it.as_char() == '#');
                found.paths += usize::from(after_hash);
            }
            count_switches(group.stream(), found);
        }
        before = [before[1].take(), Some(token)];
    }
}

/// Whether `name =` occurs in these tokens.
fn names(tokens: TokenStream, name: &str) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let here = tokens.windows(2).any(|pair| match pair {
        [TokenTree::Ident(it), TokenTree::Punct(equals)] => it == name && equals.as_char() == '=',
        _ => false,
    });
    here || tokens.into_iter().any(|it| match it {
        TokenTree::Group(group) => names(group.stream(), name),
        _ => false,
    })
}

/// Whether the attributes of a crate's root allow lints in the whole crate.
pub(crate) fn allows(attributes: &[Attribute]) -> usize {
    let allowing = attributes.iter().filter(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("allow") => true,
        syn::Meta::List(list) if list.path.is_ident("cfg_attr") => list
            .tokens
            .clone()
            .into_iter()
            .any(|it| matches!(it, TokenTree::Ident(it) if it == "allow")),
        _ => false,
    });
    allowing.count()
}

/// Paths in the body of a macro: `a::b`, `$crate::a`, and single capitalised names, since others
/// are mostly variables.
pub(super) fn paths_in(tokens: TokenStream) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    collect_paths(tokens, &mut found);
    found
}

fn collect_paths(tokens: TokenStream, found: &mut Vec<Vec<String>>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => collect_paths(group.stream(), found),
            TokenTree::Ident(first) => {
                let mut path = vec![first.to_string()];
                let start = at;
                while let [
                    TokenTree::Punct(a),
                    TokenTree::Punct(b),
                    TokenTree::Ident(next),
                ] = tokens.get(at + 1..at + 4).unwrap_or(&[])
                    && a.as_char() == ':'
                    && b.as_char() == ':'
                {
                    path.push(next.to_string());
                    at += 3;
                }
                let of_value = start > 0
                    && matches!(&tokens[start - 1], TokenTree::Punct(it) if it.as_char() == '.');
                let capital = path[0].starts_with(char::is_uppercase);
                if !of_value && (path.len() > 1 || capital) {
                    found.push(path);
                }
            }
            _ => {}
        }
        at += 1;
    }
}
