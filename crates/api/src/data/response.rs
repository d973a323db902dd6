//! What a data operation answers: a body, and what its headers are made of.

use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use store::Coverage;

use super::coverage_headers::CoverageHeaders;
use crate::error::ApiError;
use crate::hosts::weighed;
use crate::params::Blocks;
use crate::served_chain::ServedChain;

/// `missing`: internal transactions of a row on this page are not known.
const TRACES: HeaderName = HeaderName::from_static("x-traces");
/// `missing`: receipts of a row on this page are not known.
const RECEIPTS: HeaderName = HeaderName::from_static("x-receipts");

/// The answer to a request that was paid for, whatever it came to.
pub fn finish(
    outcome: Result<DataResponse, ApiError>,
    served: &ServedChain,
    units: u32,
) -> Response {
    let response = match outcome {
        Ok(response) => response.send(served),
        Err(error) => error.into_response(),
    };
    weighed(response, units)
}

#[derive(Clone)]
pub struct DataResponse {
    pub status: StatusCode,
    pub body: Bytes,
    pub coverage: Arc<Coverage>,
    /// Blocks that the request could be about, stored or not.
    pub reach: Blocks,
    /// Internal transactions were asked for, and a row's block was stored without them.
    pub traces_missing: bool,
    /// A row's block was stored without receipts: what they tell is null, or zero where clients need a number.
    pub receipts_missing: bool,
}

impl DataResponse {
    pub fn ok(body: impl Into<Bytes>, coverage: Arc<Coverage>, reach: Blocks) -> Self {
        let (status, body) = (StatusCode::OK, body.into());
        DataResponse {
            status,
            body,
            coverage,
            reach,
            traces_missing: false,
            receipts_missing: false,
        }
    }

    /// A refusal that follows from stored blocks, as a response does.
    pub fn refused(error: &ApiError, coverage: Arc<Coverage>, reach: Blocks) -> Self {
        DataResponse { status: error.status(), ..Self::ok(error.body(), coverage, reach) }
    }

    /// Memory held beside the struct itself.
    pub fn bytes(&self) -> usize {
        self.body.len() + size_of_val(self.coverage.ranges())
    }

    fn send(self, served: &ServedChain) -> Response {
        let content = [(header::CONTENT_TYPE, "application/json")];
        let mut response = (self.status, content, self.body).into_response();
        let headers = response.headers_mut();
        CoverageHeaders { served, coverage: &self.coverage, reach: self.reach }.add(headers);
        if self.traces_missing {
            headers.insert(TRACES, HeaderValue::from_static("missing"));
        }
        if self.receipts_missing {
            headers.insert(RECEIPTS, HeaderValue::from_static("missing"));
        }
        response
    }
}
