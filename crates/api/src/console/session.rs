//! `/console/session`: log in with a key, log out, and who is logged in.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use store::Role;

use super::cookie;
use crate::app::App;
use crate::clock::now_s;
use crate::error::ApiError;
use crate::keys::{Owner, hash};
use crate::params::{check_json_type, whole_body};

/// A key is short.
const BODY_BYTES_MAX: usize = 4 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Login {
    key: String,
}

/// Null where nobody is: a page that asks has done nothing wrong.
pub async fn show(State(app): State<App>, headers: HeaderMap) -> Json<Value> {
    let session = cookie::read(&headers).and_then(|id| app.sessions.find(id, now_s()));
    let owner = session.and_then(|session| app.parts.keys.owner_of(&session.key_hash));
    Json(json!({ "session": owner.map(|owner| described(&app, &owner)) }))
}

pub async fn log_in(State(app): State<App>, request: Request) -> Result<Response, ApiError> {
    let headers = request.headers().clone();
    check_json_type(&headers)?;
    let body = whole_body(request, BODY_BYTES_MAX, app.parts.listen.body_timeout()).await?;
    // Nothing of the body is told back: it holds a key.
    let wrong = |_| ApiError::BadRequest("the body has to be {\"key\": \"…\"}".into());
    let login: Login = serde_json::from_slice(&body).map_err(wrong)?;
    let key = login.key.trim();
    let owner = app.parts.keys.check(Some(key.as_bytes()).filter(|key| !key.is_empty()))?;
    // Whoever logs in again does not leave the old session behind.
    if let Some(old) = cookie::read(&headers) {
        app.sessions.end(old);
    }
    let id = app.sessions.begin(hash(key), now_s());
    let set = cookie::write(&id, &headers);
    let body = Json(json!({ "session": described(&app, &owner) }));
    Ok(with_cookie(body.into_response(), &set))
}

pub async fn log_out(State(app): State<App>, headers: HeaderMap) -> Response {
    if let Some(id) = cookie::read(&headers) {
        app.sessions.end(id);
    }
    with_cookie(StatusCode::NO_CONTENT.into_response(), &cookie::write("", &headers))
}

fn with_cookie(mut response: Response, set: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(set) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

/// Who it is, and what the pages need before they ask anything else.
fn described(app: &App, owner: &Arc<Owner>) -> Value {
    let chains: Vec<Value> = app
        .parts
        .chains
        .iter()
        .map(|served| {
            let chain = &served.chain;
            json!({
                "id": chain.id.0, "hex_id": chain.id.hex(), "slug": chain.slug, "name": chain.name,
                "symbol": chain.native.symbol, "decimals": chain.native.decimals,
                "block_time_ms": chain.block_time_ms, "verification": chain.verification,
                "wrapped": chain.wrapped.as_ref().map(|wrapped| format!("{:#x}", wrapped.address)),
                "operations": chain.offered().iter().map(ToString::to_string).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "key_id": owner.id,
        "name": owner.name,
        "tenant": owner.tenant,
        "role": match owner.role { Role::Admin => "admin", Role::Tenant => "tenant" },
        "usage": owner.throttle.usage(),
        "chains": chains,
        "streams": app.parts.streams.is_some(),
        "version": app.parts.version,
        "session_s": app.sessions.lasts_s(),
    })
}
