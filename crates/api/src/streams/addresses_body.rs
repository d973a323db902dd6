//! The body of every change of addresses, and its answer: `{"address": "0x…" | ["0x…", …]}`, told back in the form in
//! which it came.

use alloy_primitives::Address;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use model::chain::ChainId;
use serde_json::{Map, Value, json};
use store::StreamId;
use streams::uuid_text;

use super::answer;
use super::json_object::{JsonObject, invalid, missing};
use super::refused::Refused;
use crate::error::ApiError;
use crate::params;

/// From which block on the change is in force, by chain.
const FROM_BLOCK: HeaderName = HeaderName::from_static("x-from-block");
const PLACE: &str = "requestBody.address";

pub struct AddressesBody {
    /// Each once.
    pub addresses: Vec<Address>,
    /// As it was given.
    given: Value,
}

impl AddressesBody {
    /// At least one address.
    pub fn read(body: &[u8]) -> Result<Self, ApiError> {
        let read = Self::read_any(body)?;
        if read.addresses.is_empty() {
            return Err(invalid(PLACE, "should hold at least one address", Some(read.given)));
        }
        Ok(read)
    }

    /// Also none at all.
    pub fn read_any(body: &[u8]) -> Result<Self, ApiError> {
        let given = JsonObject::read(body, &["address"])?.take("address");
        let given = given.ok_or_else(|| missing("address"))?;
        let mut addresses = match &given {
            Value::String(text) => vec![address(text)?],
            Value::Array(list) => list.iter().enumerate().map(element).collect::<Result<_, _>>()?,
            _ => {
                let why = "should be an address or a list of addresses";
                return Err(invalid(PLACE, why, Some(given)));
            }
        };
        addresses.sort_unstable();
        addresses.dedup();
        Ok(AddressesBody { addresses, given })
    }

    pub fn answer(
        given: Value,
        id: StreamId,
        from_blocks: &[(ChainId, u64)],
    ) -> Result<Response, Refused> {
        let from_block: Map<String, Value> = from_blocks
            .iter()
            .map(|(chain, number)| (format!("{:#x}", chain.0), Value::from(*number)))
            .collect();
        let body = json!({ "streamId": uuid_text(&id), "address": given, "fromBlock": from_block });
        let mut response = answer::json(&body)?;
        if let Ok(value) = HeaderValue::from_str(&header_text(from_blocks)) {
            response.headers_mut().insert(FROM_BLOCK, value);
        }
        Ok(response)
    }

    pub fn split(self) -> (Vec<Address>, Value) {
        (self.addresses, self.given)
    }
}

/// `0x1=123,0x89=55`
fn header_text(from_blocks: &[(ChainId, u64)]) -> String {
    let parts = from_blocks.iter().map(|(chain, number)| format!("{:#x}={number}", chain.0));
    parts.collect::<Vec<_>>().join(",")
}

fn element((at, value): (usize, &Value)) -> Result<Address, ApiError> {
    match value {
        Value::String(text) => address(text),
        other => {
            let place = format!("{PLACE}.{at}");
            Err(invalid(&place, "invalid string value", Some(other.clone())))
        }
    }
}

fn address(text: &str) -> Result<Address, ApiError> {
    params::address("address", text)
        .map_err(|error| ApiError::BadRequest(format!("Invalid address provided: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B";

    #[test]
    fn addresses_come_in_any_case_and_both_forms_and_count_once() {
        let lower = ONE.to_lowercase();
        let one = AddressesBody::read(json!({ "address": ONE }).to_string().as_bytes()).unwrap();
        assert_eq!(one.given, json!(ONE));
        let list = json!({ "address": [ONE, lower] }).to_string();
        let two = AddressesBody::read(list.as_bytes()).unwrap();
        assert_eq!(two.addresses, one.addresses);
        assert_eq!(two.given, json!([ONE, lower]));
        let none = AddressesBody::read_any(br#"{"address":[]}"#).unwrap();
        assert!(none.addresses.is_empty());
    }

    #[test]
    fn a_hundred_thousand_addresses_fit_one_request() {
        let all: Vec<_> =
            (0..100_000u64).map(|n| Address::left_padding_from(&n.to_be_bytes())).collect();
        let body = json!({ "address": all }).to_string();
        assert!(body.len() < crate::Config::default().body_bytes_max);
        assert_eq!(AddressesBody::read(body.as_bytes()).unwrap().addresses, all);
    }

    #[test]
    fn what_is_no_address_is_refused_by_name() {
        for (body, status, says) in [
            ("{}", 422, "'address' is required"),
            (r#"{"address":[]}"#, 422, "should hold at least one address"),
            (r#"{"address":null}"#, 422, "should be an address or a list of addresses"),
            (r#"{"address":{"0":"0x"}}"#, 422, "should be an address or a list"),
            (r#"{"address":[1]}"#, 422, "requestBody.address.0"),
            (r#"{"address":["0x1"]}"#, 400, "Invalid address provided: address with value '0x1'"),
            (r#"{"address":"vitalik.eth"}"#, 400, "Invalid address provided"),
            (r#"{"addresses":[]}"#, 422, "excess property"),
        ] {
            let error = AddressesBody::read(body.as_bytes()).err().unwrap();
            assert_eq!(error.status().as_u16(), status, "{body}");
            assert!(error.body().contains(says), "{body}: {}", error.body());
        }
    }

    #[tokio::test]
    async fn the_answer_tells_the_form_back_and_from_which_block_on() {
        let blocks = [(ChainId(1), 123), (ChainId(0x89), 55)];
        let id = StreamId::repeat_byte(0x11);
        let Ok(response) = AddressesBody::answer(json!([ONE]), id, &blocks) else { panic!() };
        assert_eq!(response.headers().get(FROM_BLOCK).unwrap(), "0x1=123,0x89=55");
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        assert_eq!(
            serde_json::from_slice::<Value>(&body).unwrap(),
            json!({
                "streamId": "11111111-1111-1111-1111-111111111111",
                "address": [ONE],
                "fromBlock": { "0x1": 123, "0x89": 55 },
            })
        );
    }
}
