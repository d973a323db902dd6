//! `GET /settings`: the region, and the secret that signs webhooks. This is how receivers get it.

use axum::response::Response;
use serde_json::json;
use streams::SettingsView;

use super::answer;
use super::caller::Caller;
use super::refused::Refused;

pub async fn get_settings(caller: Caller) -> Result<Response, Refused> {
    let SettingsView { region, secret_key } = caller.streams.settings(caller.tenant()).await?;
    answer::json(&json!({ "region": region, "secretKey": secret_key }))
}
