//! What is wrong with a request's head, whatever it asks for.

use axum::http::header::HOST;
use axum::http::{HeaderName, HeaderValue, Request, Version};

use crate::error::ApiError;

/// What a header takes beside its name and its value.
const SEPARATORS: usize = 4;

/// `bytes_max` is for HTTP/2: over HTTP/1 a larger head never gets here.
pub fn check<B>(request: &Request<B>, bytes_max: usize) -> Result<(), ApiError> {
    // Two of them, and a proxy may have looked at the other one.
    if request.headers().get_all(HOST).iter().count() > 1 {
        return Err(ApiError::BadRequest("the Host header is given twice".into()));
    }
    if request.version() != Version::HTTP_2 {
        return Ok(());
    }
    let target = request.uri().path_and_query().map_or(0, |it| it.as_str().len());
    if target > bytes_max {
        return Err(ApiError::UriTooLong(bytes_max));
    }
    let of_header =
        |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + SEPARATORS;
    if target + request.headers().iter().map(of_header).sum::<usize>() > bytes_max {
        return Err(ApiError::HeadTooLarge(bytes_max));
    }
    Ok(())
}
