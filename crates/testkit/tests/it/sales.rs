//! Sales of NFTs: as many as asked for, told as marketplaces tell them, gone with their block.

use testkit::{Kind, SimChain, SimConfig, Venue};

fn chain(nft_sales_per_block: usize) -> SimChain {
    let mut chain = SimChain::new(SimConfig { nft_sales_per_block, ..SimConfig::seeded(9) });
    chain.extend(40);
    chain
}

#[test]
fn there_are_as_many_in_a_block_as_asked_for_and_none_unasked() {
    for asked in [0, 1, 4] {
        let chain = chain(asked);
        for block in chain.blocks().iter().skip(1) {
            let sales = block.txs.iter().filter(|tx| tx.kind == Kind::NftSale).count();
            assert_eq!(sales, asked, "block {}", block.number());
        }
        assert_eq!(chain.expected_sales().len(), asked * 40);
    }
}

#[test]
fn they_are_made_at_every_venue_alone_and_in_bundles_and_paid_for() {
    let sales = chain(4).expected_sales();
    for venue in [Venue::Seaport, Venue::Blur, Venue::LooksRare] {
        assert!(sales.iter().any(|it| it.sale.venue == venue), "{venue:?}");
    }
    assert!(sales.iter().any(|it| it.sale.ids.len() > 1));
    for it in &sales {
        let logs = it.sale.logs();
        assert_eq!(logs.len(), 1 + it.sale.ids.len(), "the event, and a transfer for each token");
        assert_eq!(logs[0].address, it.sale.venue.exchange());
        assert!(it.sale.seller != it.sale.buyer && !it.sale.price.is_zero());
    }
}

#[test]
fn a_reorg_takes_them_away_and_brings_others() {
    let mut chain = chain(2);
    let before = chain.expected_sales();
    let reorg = chain.reorg(3, 4);
    let after = chain.expected_sales();
    assert_eq!(after.len(), before.len() + 2);
    assert_eq!(after[8..], before[6..], "what lies below stays");
    let dropped =
        |hash| reorg.dropped.iter().flat_map(|block| &block.txs).any(|tx| tx.hash == hash);
    assert!(before[..6].iter().all(|it| dropped(it.at.hash)));
    assert!(after[..8].iter().all(|it| !dropped(it.at.hash)));
}
