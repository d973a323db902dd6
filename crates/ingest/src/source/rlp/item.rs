//! One RLP item: bytes, or a list of items.

use alloy_primitives::{Address, B256, U256};
use alloy_rlp::Header;
use model::raw::Malformed;

/// Lists in lists: a block has six.
const DEPTH_MAX: usize = 16;

#[derive(Debug, PartialEq)]
pub struct Item<'a> {
    /// With what says its length.
    pub encoded: &'a [u8],
    pub content: RlpContent<'a>,
}

#[derive(Debug, PartialEq)]
pub enum RlpContent<'a> {
    Bytes(&'a [u8]),
    List(Vec<Item<'a>>),
}

pub fn malformed(why: &str) -> Malformed {
    Malformed::new("RLP", why)
}

impl<'a> Item<'a> {
    /// The item that is all of these bytes.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut rest = bytes;
        let item = Self::take(&mut rest, DEPTH_MAX)?;
        if rest.is_empty() { Ok(item) } else { Err(malformed("bytes behind the end")) }
    }

    fn take(rest: &mut &'a [u8], depth: usize) -> Result<Self, Malformed> {
        let start: &'a [u8] = rest;
        let header = Header::decode(rest).map_err(|error| malformed(&error.to_string()))?;
        let payload = rest.get(..header.payload_length).ok_or_else(|| malformed("cut short"))?;
        *rest = rest.get(header.payload_length..).unwrap_or_default();
        let encoded = start.get(..start.len() - rest.len()).unwrap_or_default();
        if !header.list {
            return Ok(Item { encoded, content: RlpContent::Bytes(payload) });
        }
        let Some(depth) = depth.checked_sub(1) else { return Err(malformed("too deep")) };
        let (mut inner, mut items) = (payload, Vec::new());
        while !inner.is_empty() {
            items.push(Self::take(&mut inner, depth)?);
        }
        Ok(Item { encoded, content: RlpContent::List(items) })
    }

    pub fn list(&self) -> Result<&[Item<'a>], Malformed> {
        match &self.content {
            RlpContent::List(items) => Ok(items),
            RlpContent::Bytes(_) => Err(malformed("bytes in the place of a list")),
        }
    }

    pub fn bytes(&self) -> Result<&'a [u8], Malformed> {
        match self.content {
            RlpContent::Bytes(bytes) => Ok(bytes),
            RlpContent::List(_) => Err(malformed("a list in the place of bytes")),
        }
    }

    pub fn hash(&self) -> Result<B256, Malformed> {
        B256::try_from(self.bytes()?).map_err(|_| malformed("a hash is not 32 bytes long"))
    }

    pub fn address(&self) -> Result<Address, Malformed> {
        Address::try_from(self.bytes()?).map_err(|_| malformed("an address is not 20 bytes long"))
    }

    pub fn number(&self) -> Result<U256, Malformed> {
        let bytes = self.bytes()?;
        if bytes.len() > 32 || bytes.first() == Some(&0) {
            return Err(malformed("a number is too long or begins with zero"));
        }
        Ok(U256::from_be_slice(bytes))
    }

    /// As JSON-RPC writes it.
    pub fn quantity(&self) -> Result<String, Malformed> {
        Ok(format!("{:#x}", self.number()?))
    }

    pub fn data(&self) -> Result<String, Malformed> {
        Ok(alloy_primitives::hex::encode_prefixed(self.bytes()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_item_is_refused() {
        let nested = [[0xc0 + 17].as_slice(), &[0xc0; 17]].concat();
        let deep: Vec<u8> = (1..=40u8).rev().map(|n| 0xc0 + n).chain([0xc0]).collect();
        assert!(Item::read(&nested).is_ok());
        for odd in
            [&b""[..], &[0xc1], &[0x81, 1], &[0xc0, 0xc0], &[0xb8], &[0xf9, 255, 255, 1], &deep]
        {
            assert!(Item::read(odd).is_err(), "{odd:02x?}");
        }
        let item = Item::read(&[0xc3, 0x82, 1, 2]).unwrap();
        assert_eq!(item.list().unwrap()[0].quantity().unwrap(), "0x102");
        assert!(item.bytes().is_err() && item.number().is_err());
        assert!(Item::read(&[0x82, 0, 1]).unwrap().number().is_err());
    }
}
