//! `POST /console/api/rpc/{chain}`: the node RPC of a session, which has no key for the path.

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;

use super::SessionOwner;
use crate::app::App;
use crate::hosts::{Refusal, node_rpc as host};
use crate::params::Path;

pub async fn node_rpc(
    State(app): State<App>,
    Extension(SessionOwner(owner)): Extension<SessionOwner>,
    Path(chain): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    host::answer(&app, owner, &chain, request).await
}
