//! What is wrong with a configuration, told by place and key. Never by value: that may be a secret.

use std::path::Path;

use anyhow::anyhow;
use toml::de::Error;

/// A file that is no TOML.
pub fn unreadable(path: &Path, text: &str, error: &Error) -> anyhow::Error {
    let at = error.span().map_or(0, |span| span.start);
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let key = text.lines().nth(line - 1).and_then(key_of);
    let key = key.map(|key| format!(", key {key}")).unwrap_or_default();
    let file = path.display();
    anyhow!(
        "the configuration file {file}, line {line}, column {column}{key}: {}",
        without_value(error.message())
    )
}

/// Settings that do not fit. The place in the file is told where the file has the key.
pub fn misfit(error: &Error, file: Option<(&Path, &str)>) -> anyhow::Error {
    let message = without_value(error.message());
    let shown = error.to_string();
    let Some(key) = shown.lines().find_map(|line| line.strip_prefix("in `")?.strip_suffix('`'))
    else {
        return anyhow!("the configuration does not fit: {message}");
    };
    // What is not known is named in the message, below the key.
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
    let whole = unknown.map(|field| format!("{key}.{field}"));
    let key = whole.as_deref().unwrap_or(key);
    let place = file.and_then(|(path, text)| Some((path, line_of(text, key)?)));
    match place {
        Some((path, line)) => {
            anyhow!("the configuration file {}, line {line}, key {key}: {message}", path.display())
        }
        None => anyhow!("the configuration does not fit: key {key}: {message}"),
    }
}

/// serde puts what it found into its message: `invalid type: string "…", expected u32`.
fn without_value(message: &str) -> String {
    let message = message.trim();
    for start in ["invalid type: ", "invalid value: ", "unknown variant "] {
        let Some(rest) = message.strip_prefix(start) else { continue };
        let found = rest.split(['"', '`', '\'']).next().unwrap_or_default().trim_end();
        let found = found.split(", expected").next().unwrap_or_default();
        let expected = rest.rsplit_once(", expected ").map_or("something else", |(_, what)| what);
        let gap = if found.is_empty() { "" } else { ", " };
        let start = start.trim_end().trim_end_matches(':');
        let colon = if found.is_empty() { ", " } else { ": " };
        return format!("{start}{colon}{found}{gap}expected {expected}");
    }
    // Everything else names keys and forms only; a line of the file is never part of it.
    message.lines().next().unwrap_or_default().to_owned()
}

/// The key of a line `key = value`, if it is a plain one.
fn key_of(line: &str) -> Option<&str> {
    let key = line.split_once('=')?.0.trim();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!key.is_empty() && key.len() <= 64 && key.chars().all(is_plain)).then_some(key)
}

/// Where `section.key` is set, as far as a look at the lines can tell; of what stands within a list or a table on one
/// line, that line.
fn line_of(text: &str, path: &str) -> Option<usize> {
    let (mut section, mut found) = (String::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_matches(['[', ']', ' ']).to_owned();
            continue;
        }
        let Some(key) = key_of(line) else { continue };
        let whole = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
        let within = path.strip_prefix(whole.as_str()).and_then(|rest| rest.strip_prefix('.'));
        let has_it =
            within.and_then(|rest| rest.rsplit('.').next()).is_some_and(|it| line.contains(it));
        if whole == path || has_it {
            found.push(number + 1);
        }
    }
    // Of several sections of one name nobody knows which is meant.
    match found.as_slice() {
        [line] => Some(*line),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_has_the_value() {
        for (message, shown) in [
            ("invalid type: string \"geheim\", expected u32", "invalid type: string, expected u32"),
            (
                "invalid type: integer `4711`, expected a string",
                "invalid type: integer, expected a string",
            ),
            ("invalid type: map, expected a string", "invalid type: map, expected a string"),
            (
                "invalid value: string \"a, expected b\", expected c",
                "invalid value: string, expected c",
            ),
            (
                "unknown variant `geheim`, expected `spec` or `live`",
                "unknown variant, expected `spec` or `live`",
            ),
            (
                "unknown field `limits`, expected one of `a`",
                "unknown field `limits`, expected one of `a`",
            ),
        ] {
            assert_eq!(without_value(message), shown);
        }
    }

    #[test]
    fn a_key_is_found_in_its_section() {
        let text = "[api]\nlimit_max = 1\n[auth]\n# bootstrap_key = 1\nbootstrap_key = 7\n";
        assert_eq!(line_of(text, "auth.bootstrap_key"), Some(5));
        assert_eq!(line_of(text, "api.limit_max"), Some(2));
        assert_eq!(line_of(text, "api.limit_min"), None);
        let inline = "[chains.eth]
id = 1
upstreams = [{ url = 5 }]
";
        assert_eq!(line_of(inline, "chains.eth.upstreams.url"), Some(3));
        let two = "[[chains.eth.upstreams]]
url = 1
[[chains.eth.upstreams]]
url = 5
";
        assert_eq!(line_of(two, "chains.eth.upstreams.url"), None);
    }

    #[test]
    fn an_unknown_key_is_told_by_its_place() {
        #[derive(Debug, serde::Deserialize)]
        struct Outer {
            #[expect(dead_code, reason = "only read")]
            api: Inner,
        }
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Inner {}
        let text = "# first
[api]
limit_maxx = 3
";
        let error = text.parse::<toml::Table>().unwrap().try_into::<Outer>().unwrap_err();
        let told = misfit(&error, Some((Path::new("h.toml"), text))).to_string();
        assert!(told.contains("h.toml, line 3, key api.limit_maxx: unknown field"), "{told}");
    }

    #[test]
    fn a_file_that_is_no_toml_is_told_by_line_column_and_key() {
        for (text, place) in [
            ("[auth]\nbootstrap_key = \"geheim\n", "line 2, column"),
            ("[auth]\nbootstrap_key = geheim\n", "line 2, column"),
            ("[auth]\nbootstrap_key = \"a\" geheim\n", "key bootstrap_key"),
            ("[auth]\nbootstrap_key = \"geheim\"\nbootstrap_key = \"geheim\"\n", "line 3"),
        ] {
            let error = text.parse::<toml::Table>().unwrap_err();
            let told = unreadable(Path::new("h.toml"), text, &error).to_string();
            assert!(told.contains("h.toml") && told.contains(place), "{told}");
            assert!(!told.contains("geheim"), "{told}");
        }
    }
}
