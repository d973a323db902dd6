//! Rows of API keys.

use super::codec::{put_varint, take_bytes, take_varint};
use super::engine::Durability;
use super::open::Store;
use crate::Error;
use crate::api_key::{ApiKey, MethodRules, Role};

/// Without the hash, which is in the key.
fn pack(key: &ApiKey) -> Vec<u8> {
    let mut out = vec![u8::from(key.role == Role::Admin)];
    put_varint(&mut out, key.created_at);
    put_varint(&mut out, key.units_per_second.map_or(0, |units| u64::from(units) + 1));
    for text in [&key.id, &key.tenant, &key.name] {
        put_varint(&mut out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    }
    // Rows that were written before there were such rules end here, and so do those without any.
    let MethodRules { allow, deny } = &key.methods;
    if !allow.is_empty() || !deny.is_empty() {
        for list in [allow, deny] {
            put_varint(&mut out, list.len() as u64);
            for text in list {
                put_varint(&mut out, text.len() as u64);
                out.extend_from_slice(text.as_bytes());
            }
        }
    }
    out
}

fn unpack(hash: &[u8], mut input: &[u8]) -> Option<ApiKey> {
    fn text(input: &mut &[u8]) -> Option<String> {
        let length = usize::try_from(take_varint(input)?).ok()?;
        String::from_utf8(take_bytes(input, length)?.to_vec()).ok()
    }
    fn texts(input: &mut &[u8]) -> Option<Vec<String>> {
        let count = take_varint(input)?;
        (0..count).map(|_| text(input)).collect()
    }
    let input = &mut input;
    let role = match take_bytes(input, 1)? {
        [0] => Role::Tenant,
        [1] => Role::Admin,
        _ => return None,
    };
    let created_at = take_varint(input)?;
    let units_per_second = match take_varint(input)? {
        0 => None,
        more => Some(u32::try_from(more - 1).ok()?),
    };
    let (id, tenant, name) = (text(input)?, text(input)?, text(input)?);
    let hash = hash.try_into().ok()?;
    let mut methods = MethodRules::default();
    if !input.is_empty() {
        methods = MethodRules { allow: texts(input)?, deny: texts(input)? };
    }
    Some(ApiKey { id, hash, tenant, name, role, created_at, units_per_second, methods })
}

impl Store {
    pub fn api_keys(&self) -> Result<Vec<ApiKey>, Error> {
        let mut keys = Vec::new();
        let view = self.view()?;
        for item in view.snapshot.iter(&view.tables.api_keys) {
            let (hash, row) = item.into_inner()?;
            keys.push(unpack(&hash, &row).ok_or(Error::Broken { what: "API key" })?);
        }
        keys.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        Ok(keys)
    }

    pub fn put_api_key(&self, key: &ApiKey) -> Result<(), Error> {
        let table = self.inner.database()?.tables.api_keys.clone();
        self.put(&table, &key.hash, Some(pack(key)), Durability::Disk)
    }

    pub fn remove_api_key(&self, id: &str) -> Result<Option<ApiKey>, Error> {
        let _one_at_a_time = self.one_at_a_time();
        let Some(key) = self.api_keys()?.into_iter().find(|key| key.id == id) else {
            return Ok(None);
        };
        let table = self.inner.database()?.tables.api_keys.clone();
        self.put(&table, &key.hash, None, Durability::Disk)?;
        Ok(Some(key))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_back_and_bytes_of_any_kind_never_stop_the_reader(
            (id, tenant, name) in (".{0,8}", ".{0,8}", ".{0,8}"),
            (hash, is_admin, created_at) in (any::<[u8; 32]>(), any::<bool>(), any::<u64>()),
            (units_per_second, allow, deny) in (
                any::<Option<u32>>(),
                prop::collection::vec(".{0,8}", 0..3),
                prop::collection::vec(".{0,8}", 0..3),
            ),
            bytes in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let role = if is_admin { Role::Admin } else { Role::Tenant };
            let methods = MethodRules { allow, deny };
            let key = ApiKey { id, hash, tenant, name, role, created_at, units_per_second, methods };
            prop_assert_eq!(unpack(&hash, &pack(&key)), Some(key));
            let _ = unpack(&hash, &bytes);
        }
    }
}
