//! `POST /streams/evm/{id}/status`: starts and stops a stream. Made active again, it goes on with the next block,
//! or from `fromBlock` where that is given.

use axum::response::Response;
use serde_json::Value;
use store::StreamId;
use streams::Status;

use super::answer;
use super::caller::Caller;
use super::detached::detached;
use super::json_bytes::JsonBytes;
use super::json_object::{JsonObject, invalid, missing};
use super::refused::Refused;
use super::{list_params, stream_id};
use crate::error::ApiError;
use crate::params::Path;

/// `terminated` is what becomes of a stream, not what somebody chooses.
const SETTABLE: [Status; 3] = [Status::Active, Status::Paused, Status::Error];

#[derive(Debug, PartialEq)]
struct StatusChange {
    status: Status,
    from_block: Option<u64>,
}

pub async fn update_stream_status(
    caller: Caller,
    Path(id): Path<String>,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Refused> {
    let id: StreamId = stream_id::read("id", &id)?;
    let StatusChange { status, from_block } = StatusChange::read(&body)?;
    let (streams, tenant) = caller.owned();
    let changed =
        detached(async move { streams.set_status(&tenant, id, status, from_block).await }).await?;
    answer::json(&changed)
}

impl StatusChange {
    fn read(body: &[u8]) -> Result<Self, ApiError> {
        let mut object = JsonObject::read(body, &["status", "fromBlock"])?;
        let status = match object.take("status") {
            None => return Err(missing("status")),
            Some(Value::String(text)) => {
                let words = SETTABLE.map(|status| (status.name(), status));
                list_params::one_of("requestBody.status", &text, &words)?
            }
            Some(other) => {
                return Err(invalid("requestBody.status", "invalid string value", Some(other)));
            }
        };
        let place = "requestBody.fromBlock";
        let from_block = match object.take("fromBlock") {
            None | Some(Value::Null) => None,
            Some(value) => match value.as_u64() {
                Some(number) => Some(number),
                None => return Err(invalid(place, "invalid integer number", Some(value))),
            },
        };
        if from_block.is_some() && status != Status::Active {
            let why = "only a stream that is made active goes on from a block";
            return Err(invalid(place, why, from_block.map(Value::from)));
        }
        Ok(StatusChange { status, from_block })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_one_of_three_and_a_block_goes_with_active_only() {
        let read = |body: &str| StatusChange::read(body.as_bytes());
        let change = |status, from_block| StatusChange { status, from_block };
        assert_eq!(read(r#"{"status":"paused"}"#).unwrap(), change(Status::Paused, None));
        assert_eq!(
            read(r#"{"status":"active","fromBlock":17}"#).unwrap(),
            change(Status::Active, Some(17))
        );
        assert_eq!(
            read(r#"{"status":"active","fromBlock":null}"#).unwrap(),
            change(Status::Active, None)
        );
        for (body, says) in [
            ("", "'status' is required"),
            (r#"{"status":"on"}"#, "one of the following; ['active','paused','error']"),
            (r#"{"status":"terminated"}"#, "one of the following"),
            (r#"{"status":true}"#, "invalid string value"),
            (r#"{"status":"active","fromBlock":-1}"#, "invalid integer number"),
            (r#"{"status":"active","fromBlock":"1"}"#, "invalid integer number"),
            (r#"{"status":"active","fromBlock":1.5}"#, "invalid integer number"),
            (r#"{"status":"paused","fromBlock":1}"#, "only a stream that is made active"),
            (r#"{"status":"active","id":"x"}"#, "excess property"),
        ] {
            let error = read(body).unwrap_err();
            assert_eq!(error.status(), 422, "{body}");
            assert!(error.body().contains(says), "{body}: {}", error.body());
        }
    }
}
