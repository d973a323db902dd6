//! The grammar of `advancedOptions[].filter`, one operator per object:
//! `{"or":[F,F,…]}`, `{"and":[F,F,…]}`, `{"eq"|"ne"|"lt"|"gt"|"lte"|"gte":[name, value]}`, `{"in"|"nin":[name, [value,…]]}`.
//!
//! In: JSON. Out: a tree, and the one form in which it is stored. Must not know events: `condition` binds it to one.

use serde_json::{Value, json};

use super::{
    check::{FieldChecker, FieldPath},
    integer::WideInteger,
    json::JsonNode,
    limits::{FILTER_CONDITIONS_MAX, FILTER_DEPTH_MAX, FILTER_TEXT_CHARS_MAX, FILTER_VALUES_MAX},
};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FilterTree {
    And(Vec<FilterTree>),
    Or(Vec<FilterTree>),
    Test { name: String, operator: FilterOperator, values: Vec<FilterValue> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FilterOperator {
    Eq,
    Ne,
    Lt,
    Gt,
    Lte,
    Gte,
    In,
    Nin,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FilterValue {
    Text(String),
    Integer(WideInteger),
    Bool(bool),
}

const OPERATORS: &str = "or, and, eq, ne, lt, gt, lte, gte, in, nin";

impl FilterOperator {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "eq" => Self::Eq,
            "ne" => Self::Ne,
            "lt" => Self::Lt,
            "gt" => Self::Gt,
            "lte" => Self::Lte,
            "gte" => Self::Gte,
            "in" => Self::In,
            "nin" => Self::Nin,
            _ => return None,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Lt => "lt",
            Self::Gt => "gt",
            Self::Lte => "lte",
            Self::Gte => "gte",
            Self::In => "in",
            Self::Nin => "nin",
        }
    }

    pub(super) fn is_order(self) -> bool {
        matches!(self, Self::Lt | Self::Gt | Self::Lte | Self::Gte)
    }

    fn takes_list(self) -> bool {
        matches!(self, Self::In | Self::Nin)
    }
}

impl FilterTree {
    pub(super) fn read(
        at: &FieldPath,
        node: &JsonNode,
        checker: &mut FieldChecker,
    ) -> Option<Self> {
        FilterReader { checker, conditions: 0 }.tree(at, node, 0)
    }

    /// What `read` takes and JavaScript writes as it read it.
    pub(super) fn json(&self) -> Value {
        match self {
            Self::And(parts) => json!({ "and": parts.iter().map(Self::json).collect::<Vec<_>>() }),
            Self::Or(parts) => json!({ "or": parts.iter().map(Self::json).collect::<Vec<_>>() }),
            Self::Test { name, operator, values } => {
                let mut values: Vec<Value> = values.iter().map(FilterValue::json).collect();
                let value = if operator.takes_list() {
                    Value::Array(values)
                } else {
                    values.pop().unwrap_or(Value::Null)
                };
                json!({ operator.name(): [name, value] })
            }
        }
    }
}

impl FilterValue {
    fn json(&self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.clone()),
            Self::Integer(number) => number.json(),
            Self::Bool(value) => Value::Bool(*value),
        }
    }

    /// What equality compares where it compares text.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(number) => number.to_string(),
            Self::Bool(value) => value.to_string(),
        }
    }
}

struct FilterReader<'c> {
    checker: &'c mut FieldChecker,
    /// Comparisons so far.
    conditions: usize,
}

impl FilterReader<'_> {
    fn tree(&mut self, at: &FieldPath, node: &JsonNode, depth: usize) -> Option<FilterTree> {
        let entries = self.checker.object(at, node)?;
        let [(key, operand)] = entries else {
            let message = format!("must have exactly one operator: {OPERATORS}");
            self.checker.fail(at, message, node.value());
            return None;
        };
        let inner = at.key(key);
        match (key.as_str(), FilterOperator::from_name(key)) {
            ("and", _) => self.parts(&inner, operand, depth).map(FilterTree::And),
            ("or", _) => self.parts(&inner, operand, depth).map(FilterTree::Or),
            (_, Some(operator)) => self.test(&inner, operator, operand),
            (_, None) => {
                self.checker.fail_text(at, format!("has no known operator: {OPERATORS}"), key);
                None
            }
        }
    }

    fn parts(&mut self, at: &FieldPath, node: &JsonNode, depth: usize) -> Option<Vec<FilterTree>> {
        let list = self.checker.list(at, node, FILTER_CONDITIONS_MAX)?;
        if list.len() < 2 {
            self.checker.fail(at, "must have at least 2 conditions", node.value());
            return None;
        }
        if depth >= FILTER_DEPTH_MAX {
            let message = format!("is nested too deep: at most {FILTER_DEPTH_MAX} levels");
            self.checker.fail(at, message, Value::Null);
            return None;
        }
        let mut parts = Vec::with_capacity(list.len());
        for (index, part) in list.iter().enumerate() {
            parts.push(self.tree(&at.index(index), part, depth + 1));
        }
        parts.into_iter().collect()
    }

    fn test(
        &mut self,
        at: &FieldPath,
        operator: FilterOperator,
        node: &JsonNode,
    ) -> Option<FilterTree> {
        self.conditions += 1;
        if self.conditions > FILTER_CONDITIONS_MAX {
            let message = format!("must have at most {FILTER_CONDITIONS_MAX} conditions in all");
            self.checker.fail(at, message, Value::Null);
            return None;
        }
        let pair = self.checker.list(at, node, 2)?;
        let [name, value] = pair else {
            let form = if operator.takes_list() { "[name, [value, …]]" } else { "[name, value]" };
            self.checker.fail(at, format!("must be {form}"), node.value());
            return None;
        };
        let name = self.checker.text(&at.index(0), name, FILTER_TEXT_CHARS_MAX);
        let at = at.index(1);
        let values = if operator.takes_list() {
            self.values(&at, value)
        } else {
            self.value(&at, value).map(|value| vec![value])
        };
        Some(FilterTree::Test { name: name?, operator, values: values? })
    }

    fn values(&mut self, at: &FieldPath, node: &JsonNode) -> Option<Vec<FilterValue>> {
        let list = self.checker.list(at, node, FILTER_VALUES_MAX)?;
        if list.is_empty() {
            self.checker.fail(at, "must have at least 1 value", node.value());
            return None;
        }
        let values: Vec<_> =
            list.iter().enumerate().map(|(i, node)| self.value(&at.index(i), node)).collect();
        values.into_iter().collect()
    }

    fn value(&mut self, at: &FieldPath, node: &JsonNode) -> Option<FilterValue> {
        match node {
            JsonNode::Text(_) => {
                self.checker.text(at, node, FILTER_TEXT_CHARS_MAX).map(FilterValue::Text)
            }
            JsonNode::Number(text) => {
                let number = WideInteger::from_json_number(text);
                if number.is_none() {
                    let message = "must be an integer of at most 256 bits";
                    self.checker.fail(at, message, node.value());
                }
                number.map(FilterValue::Integer)
            }
            JsonNode::Bool(value) => Some(FilterValue::Bool(*value)),
            JsonNode::Null | JsonNode::List(_) | JsonNode::Object(_) => {
                self.checker.fail(at, "must be a string or a number", node.value());
                None
            }
        }
    }
}
