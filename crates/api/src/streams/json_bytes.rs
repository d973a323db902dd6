//! The body of a request as it was sent: its type is checked, its text is not. To be taken after `Caller`, so a
//! refusal was charged already.

use axum::extract::{FromRequest, Request};
use bytes::Bytes;

use super::refused::Refused;
use crate::app::App;
use crate::params::{check_json_type, whole_body};

pub struct JsonBytes(pub Bytes);

impl FromRequest<App> for JsonBytes {
    type Rejection = Refused;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refused> {
        check_json_type(request.headers())?;
        let (bytes_max, limit) = (app.parts.config.body_bytes_max, app.parts.listen.body_timeout());
        Ok(JsonBytes(whole_body(request, bytes_max, limit).await?))
    }
}
