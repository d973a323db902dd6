//! The query string as names and values.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::error::ApiError;

/// An empty value counts as not given; of a name given twice the first counts.
pub struct Query(Vec<(String, String)>);

impl Query {
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Every value of a list, in any of the ways clients write one: `name=a&name=b`, `name[]=a&name[]=b`,
    /// `name[0]=a&name[1]=b`, `name=a,b`.
    pub fn list(&self, name: &str) -> Vec<&str> {
        let of_list = self.0.iter().filter(|(key, _)| is_of_list(key, name));
        let values = of_list.flat_map(|(_, value)| value.split(',')).map(str::trim);
        values.filter(|value| !value.is_empty()).collect()
    }
}

fn is_of_list(key: &str, name: &str) -> bool {
    let Some(rest) = key.strip_prefix(name) else { return false };
    let index = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    rest.is_empty() || index.is_some_and(|index| index.bytes().all(|digit| digit.is_ascii_digit()))
}

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let pairs = axum::extract::Query::<Vec<(String, String)>>::from_request_parts(parts, state);
        match pairs.await {
            Ok(axum::extract::Query(pairs)) => Ok(Query(pairs)),
            Err(_) => {
                Err(ApiError::BadRequest("the query string cannot be read as UTF-8 text".into()))
            }
        }
    }
}

#[cfg(test)]
impl Query {
    pub fn of(pairs: &[(&str, &str)]) -> Self {
        Query(pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_however_it_is_written() {
        for (pairs, values) in [
            (vec![("a", "x"), ("a", "y")], vec!["x", "y"]),
            (vec![("a[]", "x"), ("b[]", "z"), ("a[]", "y")], vec!["x", "y"]),
            (vec![("a[0]", "x"), ("a[1]", "y")], vec!["x", "y"]),
            (vec![("a", "x, y")], vec!["x", "y"]),
            (vec![("a[]", "x,y"), ("a", "z")], vec!["x", "y", "z"]),
            (vec![("a", ""), ("a[]", ","), ("ab", "x"), ("a[b]", "y"), ("a[", "z")], vec![]),
        ] {
            assert_eq!(Query::of(&pairs).list("a"), values, "{pairs:?}");
        }
    }
}
