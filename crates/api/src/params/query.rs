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
