//! The chain files, compiled in: text only, read by the table.
//!
//! A test holds this list against the files of `chains/`, so none can be forgotten.

/// Slug and text, in the order of the interface's table.
pub const FILES: &[(&str, &str)] = &[
    ("eth", include_str!("../../../../chains/eth.toml")),
    ("sepolia", include_str!("../../../../chains/sepolia.toml")),
    ("holesky", include_str!("../../../../chains/holesky.toml")),
    ("polygon", include_str!("../../../../chains/polygon.toml")),
    ("polygon-amoy", include_str!("../../../../chains/polygon-amoy.toml")),
    ("bsc", include_str!("../../../../chains/bsc.toml")),
    ("bsc-testnet", include_str!("../../../../chains/bsc-testnet.toml")),
    ("avalanche", include_str!("../../../../chains/avalanche.toml")),
    ("fantom", include_str!("../../../../chains/fantom.toml")),
    ("palm", include_str!("../../../../chains/palm.toml")),
    ("cronos", include_str!("../../../../chains/cronos.toml")),
    ("arbitrum", include_str!("../../../../chains/arbitrum.toml")),
    ("arbitrum-sepolia", include_str!("../../../../chains/arbitrum-sepolia.toml")),
    ("gnosis", include_str!("../../../../chains/gnosis.toml")),
    ("gnosis-testnet", include_str!("../../../../chains/gnosis-testnet.toml")),
    ("chiliz", include_str!("../../../../chains/chiliz.toml")),
    ("chiliz-testnet", include_str!("../../../../chains/chiliz-testnet.toml")),
    ("base", include_str!("../../../../chains/base.toml")),
    ("base-sepolia", include_str!("../../../../chains/base-sepolia.toml")),
    ("optimism", include_str!("../../../../chains/optimism.toml")),
    ("optimism-sepolia", include_str!("../../../../chains/optimism-sepolia.toml")),
    ("linea", include_str!("../../../../chains/linea.toml")),
    ("linea-sepolia", include_str!("../../../../chains/linea-sepolia.toml")),
    ("moonbeam", include_str!("../../../../chains/moonbeam.toml")),
    ("moonriver", include_str!("../../../../chains/moonriver.toml")),
    ("moonbase", include_str!("../../../../chains/moonbase.toml")),
];
