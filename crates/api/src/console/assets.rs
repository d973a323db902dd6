//! The files of the console, as they stand in `crates/api/console`: compiled in, so there is nothing to install.

use std::io::Write;
use std::sync::OnceLock;

use axum::http::HeaderValue;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const IMAGE: &str = "image/svg+xml";

pub struct Asset {
    pub name: &'static str,
    pub kind: &'static str,
    pub plain: &'static [u8],
    pub packed: Bytes,
    /// Of the content: another build has another one.
    pub tag: HeaderValue,
}

macro_rules! files {
    ($($kind:ident $name:literal)*) => {
        /// Name, type, bytes.
        const FILES: &[(&str, &str, &[u8])] = &[
            $(($name, $kind, include_bytes!(concat!("../../console/", $name)))),*
        ];
    };
}

files! {
    HTML "index.html"
    IMAGE "icon.svg"
    STYLE "base.css"
    STYLE "parts.css"
    SCRIPT "abi.js"
    SCRIPT "api.js"
    SCRIPT "app.js"
    SCRIPT "block.js"
    SCRIPT "chart.js"
    SCRIPT "csv.js"
    SCRIPT "dom.js"
    SCRIPT "fields.js"
    SCRIPT "flow.js"
    SCRIPT "format.js"
    SCRIPT "keys.js"
    SCRIPT "live.js"
    SCRIPT "login.js"
    SCRIPT "lookup.js"
    SCRIPT "nft.js"
    SCRIPT "overview.js"
    SCRIPT "proof.js"
    SCRIPT "reference.js"
    SCRIPT "stream.js"
    SCRIPT "stream_form.js"
    SCRIPT "streams.js"
    SCRIPT "token.js"
    SCRIPT "transaction.js"
    SCRIPT "ui.js"
    SCRIPT "wallet.js"
}

pub fn find(name: &str) -> Option<&'static Asset> {
    all().iter().find(|asset| asset.name == name)
}

/// Packed once, when the first of them is asked for.
pub fn all() -> &'static [Asset] {
    static ALL: OnceLock<Vec<Asset>> = OnceLock::new();
    ALL.get_or_init(|| FILES.iter().map(asset).collect())
}

fn asset(&(name, kind, plain): &(&'static str, &'static str, &'static [u8])) -> Asset {
    let digest = alloy_primitives::hex::encode(Sha256::digest(plain));
    let tag = format!("\"{}\"", digest.get(..16).unwrap_or_default());
    let tag = HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("\"\""));
    Asset { name, kind, plain, packed: packed(plain), tag }
}

/// Nothing can fail that writes into memory.
fn packed(plain: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(plain).and_then(|()| encoder.finish());
    written.unwrap_or_default().into()
}
