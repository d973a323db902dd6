//! `/` and `/console/{file}`: the page and what it is made of, from the binary.

use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, REFERRER_POLICY, VARY, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

use super::assets::{self, Asset};
use crate::compression;
use crate::error::ApiError;
use crate::params::Path;

/// Scripts and styles from here alone and none inside the page, nothing from or to anywhere else, no frames around
/// it, and no text that could become markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");

pub async fn page(headers: HeaderMap) -> Result<Response, ApiError> {
    give("index.html", &headers)
}

pub async fn file(Path(file): Path<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    give(&file, &headers)
}

fn give(name: &str, headers: &HeaderMap) -> Result<Response, ApiError> {
    let none = || ApiError::NotFound("the console has no such file".into());
    let asset = assets::find(name).ok_or_else(none)?;
    let mut response = if is_known(headers, &asset.tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        whole(asset, headers)
    };
    let out = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (OPENER_POLICY, "same-origin"),
        (RESOURCE_POLICY, "same-origin"),
        (PERMISSIONS, "camera=(), geolocation=(), microphone=(), payment=()"),
        // Kept, and asked for again with every visit: another build has other files under the same names.
        (CACHE_CONTROL, "no-cache"),
        (VARY, ACCEPT_ENCODING.as_str()),
    ] {
        out.insert(name, HeaderValue::from_static(value));
    }
    out.insert(ETAG, asset.tag.clone());
    Ok(response)
}

fn whole(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let kind = (CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    if compression::is_accepted(headers) {
        let packed = (CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        return ([kind, packed], asset.packed.clone()).into_response();
    }
    ([kind], Bytes::from_static(asset.plain)).into_response()
}

fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    headers.get(IF_NONE_MATCH).is_some_and(|known| known == tag)
}
