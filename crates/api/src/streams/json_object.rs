//! A small body: an object with known fields, each given once. Whoever sends another field means something that
//! would not happen, so it is refused.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::error::{ApiError, InvalidField};

pub struct JsonObject(Vec<(String, Value)>);

impl JsonObject {
    /// No body is an empty object.
    pub fn read(body: &[u8], known: &[&str]) -> Result<Self, ApiError> {
        let body = if body.trim_ascii().is_empty() { b"{}".as_slice() } else { body };
        if body.trim_ascii().first() != Some(&b'{') {
            let value = serde_json::from_slice::<Value>(body).map_err(not_json)?;
            return Err(invalid("requestBody", "invalid object", Some(value)));
        }
        let Fields(fields) = serde_json::from_slice(body).map_err(not_json)?;
        for (at, (name, value)) in fields.iter().enumerate() {
            let place = format!("requestBody.{name}");
            if !known.contains(&name.as_str()) {
                let why = format!("\"{name}\" is an excess property and therefore is not allowed");
                return Err(invalid(&place, &why, Some(value.clone())));
            }
            if fields.iter().skip(at + 1).any(|(other, _)| other == name) {
                return Err(invalid(&place, "is given twice", Some(value.clone())));
            }
        }
        Ok(JsonObject(fields))
    }

    /// A field, which leaves the object.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.swap_remove(at).1)
    }
}

pub fn invalid(name: &str, message: &str, value: Option<Value>) -> ApiError {
    ApiError::Invalid(vec![InvalidField { name: name.into(), message: message.into(), value }])
}

pub fn missing(name: &str) -> ApiError {
    invalid(&format!("requestBody.{name}"), &format!("'{name}' is required"), None)
}

fn not_json(error: serde_json::Error) -> ApiError {
    ApiError::BadRequest(format!("the body is not JSON: {error}"))
}

/// In their order, those given twice included.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> (u16, Value) {
        let error = JsonObject::read(body.as_bytes(), &["status", "fromBlock"]).err().unwrap();
        (error.status().as_u16(), serde_json::from_str(&error.body()).unwrap())
    }

    #[test]
    fn fields_are_taken_once() {
        let mut object = JsonObject::read(br#" {"status":"active"} "#, &["status"]).unwrap();
        assert_eq!(object.take("status"), Some("active".into()));
        assert_eq!(object.take("status"), None);
        for empty in ["", " ", "{}"] {
            assert!(JsonObject::read(empty.as_bytes(), &[]).unwrap().take("x").is_none());
        }
    }

    #[test]
    fn unknown_and_doubled_fields_and_other_bodies_are_refused() {
        let (status, body) = refusal(r#"{"state":"active"}"#);
        assert_eq!(status, 422);
        assert_eq!(
            body["details"]["requestBody.state"]["message"],
            "\"state\" is an excess property and therefore is not allowed"
        );
        let (status, body) = refusal(r#"{"status":1,"status":2}"#);
        assert_eq!(status, 422);
        assert_eq!(body["details"]["requestBody.status"]["message"], "is given twice");
        for other in ["[]", "7", "null", r#""status""#] {
            let (status, body) = refusal(other);
            assert_eq!(status, 422, "{other}");
            assert_eq!(body["details"]["requestBody"]["message"], "invalid object", "{other}");
        }
        for broken in ["{", "{]", "[", "{\"a\"}", "{} {}", "\u{feff}{}"] {
            let (status, body) = refusal(broken);
            assert_eq!(status, 400, "{broken}");
            assert!(body["message"].as_str().unwrap().contains("is not JSON"), "{broken}");
        }
    }
}
