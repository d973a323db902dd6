//! Which tables a statement touches, and whether it says of each which shard is meant.

/// A table in a statement.
#[derive(Debug, PartialEq)]
pub struct Touch {
    pub table: String,
    /// Whether its distribution column is given: in an insert, by an equality, or by a join.
    pub is_routed: bool,
}

/// What takes the name of a table after it.
const BEFORE_TABLES: [&str; 6] = ["from", "join", "update", "into", "using", "copy"];
/// What cannot be an alias.
const KEYWORDS: [&str; 18] = [
    "where",
    "on",
    "set",
    "values",
    "select",
    "join",
    "cross",
    "left",
    "order",
    "group",
    "limit",
    "union",
    "using",
    "returning",
    "for",
    "as",
    "from",
    "inner",
];
const QUERIES: [&str; 5] = ["select", "with", "delete", "update", "insert"];

struct Token {
    text: String,
    /// The query, or the arm of a union, that it stands in.
    query: usize,
}

pub fn touches(sql: &str, column_of: impl Fn(&str) -> Option<&'static str>) -> Vec<Touch> {
    let all = tokens(sql);
    let mut found = Vec::new();
    for at in 0..all.len() {
        let name = all[at].text.as_str();
        let Some(column) = column_of(name) else { continue };
        let before = at.checked_sub(1).map(|at| all[at].text.as_str()).unwrap_or_default();
        if BEFORE_TABLES.contains(&before) {
            let is_routed = is_routed(&all, at, column);
            found.push(Touch { table: name.to_owned(), is_routed });
        } else {
            // A column of the same name; anything else would slip through.
            let after = all.get(at + 1).map(|it| it.text.as_str()).unwrap_or_default();
            let is_column = [before, after].iter().any(|it| [",", "=", "("].contains(it));
            assert!(is_column, "{name} after '{before}' in: {sql}");
        }
    }
    found
}

fn is_routed(all: &[Token], at: usize, column: &str) -> bool {
    let text = |at: usize| all.get(at).map(|it| it.text.as_str()).unwrap_or_default();
    if ["into", "copy"].contains(&text(at - 1)) {
        let open = (at..all.len()).find(|at| text(*at) == "(").unwrap();
        let close = (open..all.len()).find(|at| text(*at) == ")").unwrap();
        return (open..close).any(|at| text(at) == column);
    }
    let next = if text(at + 1) == "as" { at + 2 } else { at + 1 };
    let is_alias = text(next).chars().all(|c| c.is_alphanumeric() || c == '_')
        && !text(next).is_empty()
        && !KEYWORDS.contains(&text(next));
    let named = if is_alias {
        vec![format!("{}.{column}", text(next))]
    } else {
        vec![column.to_owned(), format!("{}.{column}", text(at))]
    };
    let is_it = |at: usize| named.iter().any(|name| name == text(at));
    (0..all.len()).filter(|it| all[*it].query == all[at].query).any(|it| {
        let is_equal = is_it(it) && (text(it + 1) == "=" || text(it + 1) == "in");
        is_equal || (text(it) == "=" && is_it(it + 1))
    })
}

/// Casts and what is in quotes are left out.
fn tokens(sql: &str) -> Vec<Token> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = sql.chars().peekable();
    while let Some(c) = rest.next() {
        let is_word = |c: &char| c.is_alphanumeric() || "_.$".contains(*c);
        match c {
            '\'' => while rest.next().is_some_and(|c| c != '\'') {},
            ':' if rest.peek() == Some(&':') => {
                rest.next();
                while rest.next_if(|c| is_word(c) || "[]".contains(*c)).is_some() {}
            }
            c if is_word(&c) => {
                let mut word = c.to_string();
                while let Some(c) = rest.next_if(is_word) {
                    word.push(c);
                }
                words.push(word);
            }
            // So that `<=` is no `=`.
            '<' | '>' | '!' => {
                let mut mark = c.to_string();
                while let Some(c) = rest.next_if(|c| "=<>".contains(*c)) {
                    mark.push(c);
                }
                words.push(mark);
            }
            c if !c.is_whitespace() => words.push(c.to_string()),
            _ => {}
        }
    }
    in_queries(words)
}

/// A parenthesis that begins a query is one of its own; so is each arm of a union.
fn in_queries(words: Vec<String>) -> Vec<Token> {
    let (mut open, mut count, mut out) = (vec![0], 0, Vec::with_capacity(words.len()));
    for (at, text) in words.iter().enumerate() {
        let now = *open.last().unwrap();
        match text.as_str() {
            "(" => {
                let is_query = words.get(at + 1).is_some_and(|it| QUERIES.contains(&it.as_str()));
                count += usize::from(is_query);
                open.push(if is_query { count } else { now });
            }
            ")" => drop(open.pop()),
            "union" | "except" | "intersect" => {
                count += 1;
                *open.last_mut().unwrap() = count;
            }
            _ => {}
        }
        out.push(Token { text: text.clone(), query: now });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(table: &str) -> Option<&'static str> {
        match table {
            "blocks" => Some("number"),
            "wallets" => Some("address"),
            _ => None,
        }
    }

    fn routed(sql: &str) -> Vec<bool> {
        touches(sql, column).iter().map(|touch| touch.is_routed).collect()
    }

    #[test]
    fn a_statement_is_routed_by_its_column_and_by_nothing_else() {
        for (sql, expected) in [
            ("select a from blocks where chain = $1 and number = $2", vec![true]),
            ("select a from blocks where chain = $1 and number = any($2)", vec![true]),
            ("select a from blocks where chain = $1 and number >= $2", vec![false]),
            ("select a from blocks where hash = $1", vec![false]),
            ("select a from others where number = $1", vec![]),
            ("select b.x from unnest($1) as p (n) join blocks b on b.number = p.n", vec![true]),
            ("select b.x from unnest($1) as p (n) join blocks b on p.number = b.x", vec![false]),
            ("insert into blocks (chain, number) values ($1, $2)", vec![true]),
            ("copy blocks (chain, hash) from stdin", vec![false]),
            ("delete from blocks b using gone g where g.number = b.number", vec![true]),
            (
                "select a from blocks where number = $1 union select a from blocks",
                vec![true, false],
            ),
            (
                "select (select 1 from wallets where address = $1) from blocks where x = 'number = 1'",
                vec![true, false],
            ),
            (
                "select a from wallets where address in (select address from wallets where x = 1)",
                vec![true, false],
            ),
        ] {
            assert_eq!(routed(sql), expected, "{sql}");
        }
    }

    #[test]
    #[should_panic(expected = "blocks after 'only'")]
    fn a_table_in_an_unknown_place_is_not_passed_over() {
        touches("select a from only blocks where number = 1", column);
    }
}
