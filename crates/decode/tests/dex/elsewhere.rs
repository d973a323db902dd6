//! What recorded wallets gave or got that no pool of ours moved, or not alone: other kinds of venues,
//! none of which has a name a request may ask for, and coin that is passed on without a log.

pub struct Elsewhere {
    pub tx: &'static str,
    /// How many of the transaction's recorded amounts.
    pub amounts: usize,
    pub venue: &'static str,
}

const fn at(tx: &'static str, amounts: usize, venue: &'static str) -> Elsewhere {
    Elsewhere { tx, amounts, venue }
}

pub static ELSEWHERE: [Elsewhere; 33] = [
    at(
        "0x04df701a75c3dc3f1283c6a26e668bec4bd92cf7f02e9963c3c887f5376c590e",
        2,
        "ParaSwap order of a market maker (ENS); a part of the DAI from Maker's peg module",
    ),
    at(
        "0x0c55b3df325d145b82fbe4e135e88eeae9820b035842b2ec5e17ccb1357375c6",
        1,
        "ParaSwap order of a market maker (USDT); the pool comes after it",
    ),
    at(
        "0x0f17b99ddcb548baff6f493f578aadb509cde5dd1396ef177db86098a2766a88",
        2,
        "WOOFi, a market maker's own pool",
    ),
    at("0x12d794e7ced93da02978aa9b46b59f27ceab49724fdb1b0c39963792af68fdf0", 2, "Curve"),
    at(
        "0x29bd536ecd4cacec3495b02f6375ab7465be64fff015916484746cd18da7a37d",
        2,
        "0x order of a market maker",
    ),
    at(
        "0x304022641c44fd883a788e9fc962160a674f74835e1af4b13bc1afa882bcf17f",
        1,
        "PancakeSwap Infinity after the v4 pool",
    ),
    at(
        "0x355c18ab70fb5d17098b6bc8fd527ce00f0b25c8220d6fe29522a1fb64b711bc",
        1,
        "Balancer v2 after the v3 pools",
    ),
    at(
        "0x3bd3fa946e7da66914bd0c90deccea9ed41fd19e6f7b34e23e7a971eaffa48d8",
        2,
        "the coin was wrapped, nothing was swapped",
    ),
    at(
        "0x400609566f1da2fa6f6e7306fb059f01c94357c1e46c46575095956a584c38e5",
        1,
        "a fee passed on as coin, without a log",
    ),
    at(
        "0x421c23d305703a57ea0b64cfc75e8f13b6db2ef30fba321ae19eecd1b91695bc",
        3,
        "Balancer v2, then Balancer v3",
    ),
    at("0x46b617b4b4ac2cc4955f5da9542ed7da98559d12effef704dc86dc4986330693", 3, "Balancer v2"),
    at(
        "0x4c1fcbc20fdd397229d9e3e88411fea589e7ceb901e770f6af2e70e89008d5fa",
        2,
        "a stable pool of Saddle's make",
    ),
    at(
        "0x55cc5e692d0b50d335573f56c4347b806214973651887c82cb5b622e503ff4de",
        1,
        "PancakeSwap Infinity after the v4 pool",
    ),
    at("0x5938e7bb41150365aa64e9dc5325febeeef698c216c39070d9e92bd7ffa66a9b", 2, "Curve"),
    at("0x5edc23d5a05e347afc60e64a4d5831ed2551985c21dceb85d267926ca2e2c13e", 2, "Uniswap v1"),
    at(
        "0x6446f928148dc9f7e1ad719730d661d6d3409a9c62293ca8e8c259d06c6bd004",
        2,
        "the coin was wrapped, nothing was swapped",
    ),
    at(
        "0x7e98fc61cdec43a7b886a9d045264bcc9292b2a34f8c466e4270ee6671684b69",
        2,
        "1inch order of a market maker",
    ),
    at("0x82205817d573da45a2f6da6e5e9623739bd4cdbce5f9b65d48450805bce0bdff", 2, "Maverick"),
    at("0x83ac5abc6819fca458f614e4fdbca6fe324bbea8b7ce5fb072bf99407cd8c031", 2, "Curve"),
    at(
        "0x863e33760f41500e261e8e9a81be18af2dc68f494803c22802e922a4771a91ce",
        2,
        "Curve and Balancer v2",
    ),
    at("0xa99ce12e628620861215c88ee2c51f6c0468442dfe0504c9e5f2c918cf63fc8c", 2, "DefiPlaza"),
    at("0xb3f70f0eb6208572e30542304ba5513482b7ff095abd2beb2d22101a705770f2", 2, "Wombat"),
    at(
        "0xb9827174e182a1b8df3507d13c5cedccdc974c4edd5d66f59355f7e9758b9006",
        1,
        "the token spreads a part of every transfer over all holders, without a log",
    ),
    at("0xbe029b6a84a3f310ca8bb692225c4a2b19a47b9a7f053bfaa765738c7592143f", 2, "Curve"),
    at(
        "0xc7c9b85ba66e6d262a5bf23afd75a49ffb6c079979587d5bbc1dddd647afc906",
        1,
        "a fee passed on as coin, without a log",
    ),
    at(
        "0xcd135f41b57f72ece4939b376d33f09b84e88e4d576a0f87240d723a62e6ea93",
        1,
        "a fee is taken from the coin after it was unwrapped, without a log",
    ),
    at(
        "0xd5c9011e2edd8b724eb3f0a691f5657eb7adb0d943be01b54b52a22b82df7062",
        1,
        "the router keeps one wei of the coin, without a log",
    ),
    at(
        "0xeab04bca5abb6a794fd83e3c336b128824a2d3a72abf565d82a6ecd39d5929ef",
        2,
        "ParaSwap order of a market maker",
    ),
    at(
        "0xeeea20b39f157fe59fa4904fd4b62f8971188b53d05c6831e0ed67ee157e40c2",
        3,
        "Lido's wrapped form before the pool; coin after it, with two wei the router had left",
    ),
    at(
        "0xf0be288974b275768725e7322c66d4086bd9b70bac4427af394966d333c0c807",
        1,
        "DODO before the v2 pair",
    ),
    at("0xf93a7211656753e841899b40edf3a9ccfded6b40b6d7b3538a4215362f9bd34f", 2, "Maverick"),
    at("0xf9a632e9cdf86b0af99d38b3bb83d8e73c115c181ca111b917f189851b7e0191", 2, "Curve"),
    at(
        "0xfb5fed9f9e3991cdd1b56fe64a76e4c27e780a4bd8fe7c9897bced23d98d087d",
        1,
        "1inch limit order: who filled it keeps what the pair gave above the order",
    ),
];
