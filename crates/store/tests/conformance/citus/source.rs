//! Every statement of the postgres engine, read from its source: string literals that begin as SQL does, with what `concat!`
//! puts together.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

const VERBS: [&str; 7] = ["select", "insert", "update", "delete", "with", "copy", "merge"];

#[derive(Clone, Debug)]
pub struct Statement {
    /// Below the engine's folder.
    pub file: String,
    pub sql: String,
}

pub fn statements() -> Vec<Statement> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/src/postgres");
    let sources: Vec<(String, Vec<Token>)> = files(&folder)
        .iter()
        .map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            let product = text.split("#[cfg(test)]").next().unwrap();
            let name = file.strip_prefix(&folder).unwrap().display().to_string();
            (name, tokens(product))
        })
        .collect();
    let mut everywhere = Macros::new();
    sources.iter().for_each(|(_, tokens)| everywhere.extend(macros(tokens)));
    let mut found = Vec::new();
    for (file, tokens) in &sources {
        let mut known = everywhere.clone();
        known.extend(macros(tokens));
        let all = without_macros(tokens);
        let mut at = 0;
        while at < all.len() {
            match value(&all, &mut at, &known) {
                Some(sql) if is_statement(&sql) => {
                    found.push(Statement { file: file.clone(), sql })
                }
                Some(_) => {}
                None => at += 1,
            }
        }
    }
    found
}

fn is_statement(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    VERBS.contains(&first) && text.trim().contains(' ')
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Literal(String),
    Word(String),
    Mark(char),
}

/// Of Rust, as far as is needed to tell literals from the rest.
fn tokens(text: &str) -> Vec<Token> {
    let (mut out, mut rest) = (Vec::new(), text.chars().peekable());
    while let Some(c) = rest.next() {
        match c {
            '/' if rest.peek() == Some(&'/') => while rest.next().is_some_and(|c| c != '\n') {},
            '"' => out.push(Token::Literal(literal(&mut rest))),
            // A character, or a lifetime.
            '\'' => {
                let mut next = rest.clone();
                if next.next() == Some('\\') || next.next() == Some('\'') {
                    while rest.next().is_some_and(|c| c != '\'') {}
                }
            }
            c if c.is_alphanumeric() || c == '_' || c == '$' => {
                let mut word = c.to_string();
                while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    word.push(c);
                }
                out.push(Token::Word(word));
            }
            c if !c.is_whitespace() => out.push(Token::Mark(c)),
            _ => {}
        }
    }
    out
}

fn literal(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => match rest.next() {
                Some('\n') => while rest.next_if(|c| c.is_whitespace()).is_some() {},
                Some('n') => text.push('\n'),
                Some(other) => text.push(other),
                None => break,
            },
            c => text.push(c),
        }
    }
    text
}

/// Bodies by name; those with a parameter have its name in them.
type Macros = HashMap<String, Vec<Token>>;

fn word(token: Option<&Token>) -> Option<&str> {
    match token {
        Some(Token::Word(word)) => Some(word),
        _ => None,
    }
}

/// Where what opens here is closed.
fn closing(all: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in all.iter().enumerate().skip(open) {
        match token {
            Token::Mark('(' | '{' | '[') => depth += 1,
            Token::Mark(')' | '}' | ']') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    panic!("it is never closed")
}

/// `macro_rules! name { (…) => { body } }`
fn definitions(all: &[Token]) -> Vec<(usize, usize)> {
    let begins = |at: &usize| word(all.get(*at)) == Some("macro_rules");
    (0..all.len()).filter(begins).map(|at| (at, closing(all, at + 3))).collect()
}

fn macros(all: &[Token]) -> Macros {
    let mut found = Macros::new();
    for (from, to) in definitions(all) {
        let name = word(all.get(from + 2)).unwrap().to_owned();
        let parameters_end = closing(all, from + 4);
        // `=>` and the brace.
        let body = parameters_end + 3;
        assert!(body < to);
        found.insert(name, all[body + 1..closing(all, body)].to_vec());
    }
    found
}

fn without_macros(all: &[Token]) -> Vec<Token> {
    let definitions = definitions(all);
    let is_outside = |at: usize| definitions.iter().all(|(from, to)| at < *from || at > *to);
    let kept = all.iter().enumerate().filter(|(at, _)| is_outside(*at));
    kept.map(|(_, token)| token.clone()).collect()
}

/// The text that begins here, if one does: a literal, `concat!(…)`, or a macro that stands for one of them.
fn value(all: &[Token], at: &mut usize, known: &Macros) -> Option<String> {
    match all.get(*at)? {
        Token::Literal(text) => {
            *at += 1;
            Some(text.clone())
        }
        Token::Word(name)
            if all.get(*at + 1) == Some(&Token::Mark('!'))
                && matches!(all.get(*at + 2), Some(Token::Mark('(' | '[' | '{'))) =>
        {
            let open = *at + 2;
            let end = closing(all, open);
            let inner = &all[open + 1..end];
            if name == "concat" {
                *at = end + 1;
                return Some(joined(inner, known));
            }
            let body = known.get(name)?;
            *at = end + 1;
            let given = |token: &Token| match (token, inner.first()) {
                (Token::Word(word), Some(inner)) if word.starts_with('$') => inner.clone(),
                _ => token.clone(),
            };
            let body: Vec<Token> = body.iter().map(given).collect();
            value(&body, &mut 0, known)
        }
        _ => None,
    }
}

fn joined(parts: &[Token], known: &Macros) -> String {
    let (mut text, mut at) = (String::new(), 0);
    while at < parts.len() {
        match value(parts, &mut at, known) {
            Some(part) => text += &part,
            None => at += 1,
        }
    }
    text
}
