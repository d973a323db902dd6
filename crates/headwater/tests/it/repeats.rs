//! The same question asked again and again: the answer is that of the chain as it is now, however often
//! it was given before.

use testkit::{SimConfig, write};

use crate::world::{CHAIN, Live, head};

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_given_before_does_not_outlive_a_block_or_a_reorganisation() {
    let config = SimConfig { txs_per_block: 4, wallets: 20, ..SimConfig::seeded(31) };
    let live = Live::start(config, 10, |serve| serve).await;
    let wallets = [live.address("exchange"), format!("0x{}", "ab".repeat(20))];
    for step in 0..12 {
        if step % 3 == 2 {
            write(&live.chain).reorg(step / 2, step / 2 + 1);
        } else {
            write(&live.chain).extend(1);
        }
        live.until_indexed().await;
        let (number, _) = head(&live.chain);
        for wallet in &wallets {
            let expected = live.expected(wallet, false);
            for time in 0..3 {
                let path = format!("/api/v2.2/{wallet}?chain={CHAIN}&limit=100");
                let answer = live.client.get(&path).await;
                let indexed = answer.header("x-indexed-blocks").unwrap();
                assert_eq!(indexed, format!("0-{number}"), "step {step}, time {time}");
                let page = answer.page();
                let hashes: Vec<_> = page.result.into_iter().map(|row| row.hash).collect();
                assert_eq!(hashes, expected[..expected.len().min(100)], "step {step} {time}");
                assert_eq!(page.total.unwrap().to_u64(), expected.len() as u64);
            }
        }
    }
}
