//! `/admin/v1/keys`: make, list, revoke.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Json, response::IntoResponse, response::Response};
use serde::{Deserialize, Serialize};
use store::{ApiKey, MethodRules, Role};

use super::Admin;
use super::json_body::JsonBody;
use crate::app::App;
use crate::error::ApiError;
use crate::keys::NewKey;
use crate::params::Path;
use crate::usage::UsageCounts;

/// Names are for people: what is longer than this is a mistake.
const NAME_CHARS_MAX: usize = 200;
const METHOD_RULES_MAX: usize = 200;
const METHOD_CHARS_MAX: usize = 128;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RoleName {
    Admin,
    #[default]
    Tenant,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyRequest {
    #[serde(default = "default_tenant")]
    pub tenant: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub role: RoleName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units_per_second: Option<u32>,
    /// Methods of the node RPC, e.g. `eth_call` or `trace_*`: only these, and not those.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_methods: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny_methods: Vec<String>,
}

fn default_tenant() -> String {
    "default".to_owned()
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeyInfo {
    pub id: String,
    pub tenant: String,
    pub name: String,
    pub role: RoleName,
    pub created_at: String,
    pub units_per_second: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_methods: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny_methods: Vec<String>,
    /// Since the server started; absent where no server was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageCounts>,
}

/// The one time the key itself is shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeyCreated {
    pub key: String,
    #[serde(flatten)]
    pub info: KeyInfo,
}

impl From<&ApiKey> for KeyInfo {
    fn from(key: &ApiKey) -> Self {
        KeyInfo {
            id: key.id.clone(),
            tenant: key.tenant.clone(),
            name: key.name.clone(),
            role: match key.role {
                Role::Admin => RoleName::Admin,
                Role::Tenant => RoleName::Tenant,
            },
            created_at: crate::date::iso_millis_utc(key.created_at),
            units_per_second: key.units_per_second,
            allow_methods: key.methods.allow.clone(),
            deny_methods: key.methods.deny.clone(),
            usage: None,
        }
    }
}

impl KeyRequest {
    pub fn check(self) -> Result<NewKey, ApiError> {
        for (field, value) in [("tenant", &self.tenant), ("name", &self.name)] {
            if value.chars().count() > NAME_CHARS_MAX {
                let why = format!("is longer than {NAME_CHARS_MAX} characters");
                return Err(ApiError::bad_value(field, value, &why));
            }
        }
        if self.tenant.is_empty() {
            return Err(ApiError::bad_value("tenant", "", "is empty"));
        }
        check_methods("allow_methods", &self.allow_methods)?;
        check_methods("deny_methods", &self.deny_methods)?;
        let role = match self.role {
            RoleName::Admin => Role::Admin,
            RoleName::Tenant => Role::Tenant,
        };
        let KeyRequest { tenant, name, units_per_second, allow_methods, deny_methods, .. } = self;
        let methods = MethodRules { allow: allow_methods, deny: deny_methods };
        Ok(NewKey { tenant, name, role, units_per_second, methods })
    }
}

/// A rule that cannot mean a method is a mistake, and would forbid or allow nothing.
fn check_methods(field: &'static str, rules: &[String]) -> Result<(), ApiError> {
    if rules.len() > METHOD_RULES_MAX {
        let why = format!("has more than {METHOD_RULES_MAX} entries");
        return Err(ApiError::bad_value(field, &rules.len().to_string(), &why));
    }
    for rule in rules {
        let name = rule.strip_suffix('*').unwrap_or(rule);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || name.len() > METHOD_CHARS_MAX || !name.chars().all(is_name) {
            let why = "is no method: give a name such as eth_call, or a namespace such as trace_*";
            return Err(ApiError::bad_value(field, rule, why));
        }
    }
    Ok(())
}

pub async fn list(State(app): State<App>, _: Admin) -> Result<Json<Vec<KeyInfo>>, ApiError> {
    let keys = app.parts.keys.list().await?;
    let with_usage =
        |key: &ApiKey| KeyInfo { usage: app.parts.keys.usage_of(&key.hash), ..KeyInfo::from(key) };
    Ok(Json(keys.iter().map(with_usage).collect()))
}

pub async fn create(
    State(app): State<App>,
    _: Admin,
    JsonBody(request): JsonBody<KeyRequest>,
) -> Result<Response, ApiError> {
    let (key, row) = app.parts.keys.create(request.check()?).await?;
    let created = KeyCreated { key, info: KeyInfo::from(&row) };
    Ok((StatusCode::CREATED, Json(created)).into_response())
}

pub async fn revoke(
    State(app): State<App>,
    _: Admin,
    Path(id): Path<String>,
) -> Result<Json<KeyInfo>, ApiError> {
    let gone = app.parts.keys.revoke(&id).await?;
    let gone = gone.ok_or_else(|| ApiError::NotFound(format!("no key with id {id}")))?;
    Ok(Json(KeyInfo::from(&gone)))
}
