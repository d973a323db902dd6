//! `DELETE /streams/evm/{id}/address`: no longer watched.

use axum::response::Response;

use super::addresses_body::AddressesBody;
use super::caller::Caller;
use super::detached::detached;
use super::json_bytes::JsonBytes;
use super::refused::Refused;
use super::stream_id;
use crate::params::Path;

pub async fn delete_address_from_stream(
    caller: Caller,
    Path(id): Path<String>,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Refused> {
    let id = stream_id::read("id", &id)?;
    let (addresses, given) = AddressesBody::read(&body)?.split();
    let (streams, tenant) = caller.owned();
    let change = async move { streams.remove_addresses(&tenant, id, addresses).await };
    AddressesBody::answer(given, id, &detached(change).await?)
}
