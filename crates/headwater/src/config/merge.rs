//! Laying one table of settings over another.

use anyhow::{Context, Result};
use toml::{Table, Value};

pub const PREFIX: &str = "HEADWATER__";

/// Tables are merged, everything else is replaced.
pub fn over(base: &mut Table, top: Table) {
    for (key, value) in top {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => over(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// `HEADWATER__API__LIMIT_MAX=100` sets `api.limit_max`.
pub fn variable(table: &mut Table, name: &str, value: &str) -> Result<()> {
    let path = name.trim_start_matches(PREFIX).to_lowercase();
    let mut parts: Vec<&str> = path.split("__").collect();
    let last = parts.pop().filter(|p| !p.is_empty()).with_context(|| format!("variable {name}"))?;
    let mut place = table;
    for part in parts {
        let next = place.entry(part).or_insert_with(|| Value::Table(Table::new()));
        place = next
            .as_table_mut()
            .with_context(|| format!("variable {name}: {part} is no section"))?;
    }
    // What is a string by default stays one, however much it looks like a number: keys often do.
    let value = match place.get(last) {
        Some(Value::String(_)) => Value::String(value.to_owned()),
        _ => literal(value),
    };
    place.insert(last.to_owned(), value);
    Ok(())
}

/// A TOML value, or else the text itself.
fn literal(text: &str) -> Value {
    let parsed = format!("v = {text}").parse::<Table>();
    let value = parsed.ok().and_then(|mut t| t.remove("v"));
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}
