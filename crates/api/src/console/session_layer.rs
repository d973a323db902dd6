//! Turns the session of a request into its caller: from here on the operations see whose key it is, as if the key
//! had been sent.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::sessions::Session;
use super::{cookie, same_origin};
use crate::app::App;
use crate::clock::now_s;
use crate::error::ApiError;
use crate::keys::Owner;

/// Put into every request that a session was found for. Nothing from outside can put it there.
#[derive(Clone)]
pub struct SessionOwner(pub Arc<Owner>);

pub async fn layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let (session, owner) = match found(&app, &request) {
        Ok(found) => found,
        Err(refusal) => return same_origin::kept_to_us(refusal.into_response()),
    };
    request.extensions_mut().insert(SessionOwner(owner));
    request.extensions_mut().insert(session);
    same_origin::kept_to_us(next.run(request).await)
}

fn found(app: &App, request: &Request) -> Result<(Session, Arc<Owner>), ApiError> {
    same_origin::check(request.headers(), request.uri().host())?;
    let id = cookie::read(request.headers()).ok_or(ApiError::LoggedOut)?;
    let session = app.sessions.find(id, now_s()).ok_or(ApiError::LoggedOut)?;
    let owner = app.parts.keys.owner_of(&session.key_hash).ok_or(ApiError::LoggedOut)?;
    Ok((session, owner))
}
