//! The marketplaces whose sales are known, and how a request spells them.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Market {
    OpenSea,
    Blur,
    LooksRare,
    X2Y2,
    ZeroX,
}

impl Market {
    /// A market's code is its place in this list: new ones go to the end.
    pub const ALL: [Market; 5] =
        [Market::OpenSea, Market::Blur, Market::LooksRare, Market::X2Y2, Market::ZeroX];

    /// Codes are in stores: never give one a new meaning.
    pub fn code(self) -> u8 {
        self as u8
    }

    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    pub fn name(self) -> &'static str {
        match self {
            Market::OpenSea => "opensea",
            Market::Blur => "blur",
            Market::LooksRare => "looksrare",
            Market::X2Y2 => "x2y2",
            Market::ZeroX => "0xprotocol",
        }
    }

    /// Case does not matter, as everywhere in a request.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|market| market.name().eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_market_is_found_by_its_name_in_any_case() {
        for (place, market) in (0..).zip(Market::ALL) {
            assert_eq!(Market::from_name(market.name()), Some(market));
            assert_eq!(Market::from_name(&market.name().to_uppercase()), Some(market));
            assert_eq!(market.code(), place);
            assert_eq!(Market::from_code(place), Some(market));
        }
        assert_eq!(Market::from_name("cryptopunks"), None);
    }
}
