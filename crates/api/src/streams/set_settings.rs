//! `POST /settings`: another region, another secret, or both.

use axum::response::Response;
use serde_json::{Value, json};
use streams::{REGIONS, SECRET_CHARS_MAX, SECRET_CHARS_MIN, SettingsView};

use super::answer;
use super::caller::Caller;
use super::detached::detached;
use super::json_bytes::JsonBytes;
use super::json_object::{JsonObject, invalid};
use super::list_params;
use super::refused::Refused;
use crate::error::ApiError;

#[derive(Debug, PartialEq)]
struct NewSettings {
    region: Option<String>,
    secret_key: Option<String>,
}

pub async fn set_settings(caller: Caller, JsonBytes(body): JsonBytes) -> Result<Response, Refused> {
    let NewSettings { region, secret_key } = NewSettings::read(&body)?;
    let (streams, tenant) = caller.owned();
    let change = async move { streams.set_settings(&tenant, region, secret_key).await };
    let SettingsView { region, secret_key } = detached(change).await?;
    answer::json(&json!({ "region": region, "secretKey": secret_key }))
}

impl NewSettings {
    /// The secret is never told back in a refusal.
    fn read(body: &[u8]) -> Result<Self, ApiError> {
        let mut object = JsonObject::read(body, &["region", "secretKey"])?;
        let region = match object.take("region") {
            None => None,
            Some(Value::String(text)) => {
                let words = REGIONS.map(|region| (region, ()));
                list_params::one_of("requestBody.region", &text, &words)?;
                Some(text)
            }
            Some(other) => {
                return Err(invalid("requestBody.region", "invalid string value", Some(other)));
            }
        };
        let secret_key = object.take("secretKey").map(secret_key).transpose()?;
        Ok(NewSettings { region, secret_key })
    }
}

fn secret_key(value: Value) -> Result<String, ApiError> {
    let refused = |why: &str| invalid("requestBody.secretKey", why, None);
    let Value::String(text) = value else { return Err(refused("invalid string value")) };
    let chars = text.chars().count();
    if !(SECRET_CHARS_MIN..=SECRET_CHARS_MAX).contains(&chars) {
        let why = format!("should have {SECRET_CHARS_MIN} to {SECRET_CHARS_MAX} characters");
        return Err(refused(&why));
    }
    if text.chars().any(char::is_control) {
        return Err(refused("should have no control characters"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_taken_together_or_alone() {
        let read = |body: &str| NewSettings::read(body.as_bytes()).unwrap();
        let region = Some("eu-central-1".to_owned());
        let secret_key = Some("a good secret".to_owned());
        assert_eq!(read("{}"), NewSettings { region: None, secret_key: None });
        assert_eq!(
            read(r#"{"region":"eu-central-1","secretKey":"a good secret"}"#),
            NewSettings { region, secret_key }
        );
    }

    #[test]
    fn a_wrong_setting_is_refused_and_no_secret_is_told_back() {
        for (body, says) in [
            (
                r#"{"region":"eu-central-100"}"#,
                "should be one of the following; ['us-east-1','us-west-2','eu-central-1','ap-southeast-1']",
            ),
            (r#"{"region":null}"#, "invalid string value"),
            (r#"{"secretKey":"SHORT"}"#, "should have 8 to 512 characters"),
            (r#"{"secretKey":"SHORTSHORT\u0000"}"#, "control characters"),
            (r#"{"secretKey":{"SHORT":1}}"#, "invalid string value"),
            (r#"{"secret":1}"#, "excess property"),
        ] {
            let error = NewSettings::read(body.as_bytes()).unwrap_err();
            assert_eq!(error.status(), 422, "{body}");
            assert!(error.body().contains(says), "{body}: {}", error.body());
            assert!(!error.body().contains("SHORT"), "{}", error.body());
        }
    }
}
