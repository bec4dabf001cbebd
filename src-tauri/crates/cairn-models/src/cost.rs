//! What a reply costs. Pure arithmetic over the profile's prices; knows no provider.

use cairn_protocol::{Prices, Usage};

const TOKENS_PER_PRICE: f64 = 1_000_000.0;

/// US dollars for that usage: prompt tokens read from or written to a cache at their own rates, the other prompt tokens at the full one.
/// Without a price there is no cost, and none is shown (SPEC X106).
pub fn cost(usage: &Usage, prices: Option<&Prices>) -> Option<f64> {
    let prices = prices?;
    let cached = usage.cached_tokens.min(usage.input_tokens);
    let written = usage.cache_write_tokens.min(usage.input_tokens - cached);
    let fresh = usage.input_tokens - cached - written;
    let dollars = fresh as f64 * prices.input
        + written as f64 * prices.cache_write.unwrap_or(prices.input)
        + cached as f64 * prices.cached
        + usage.output_tokens as f64 * prices.output;
    Some(dollars / TOKENS_PER_PRICE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, cached: u64, output: u64) -> Usage {
        Usage {
            input_tokens: input,
            cached_tokens: cached,
            cache_write_tokens: 0,
            output_tokens: output,
            cost_usd: None,
        }
    }

    const PRICES: Prices = Prices {
        input: 2.0,
        cached: 0.5,
        cache_write: Some(2.5),
        output: 8.0,
    };

    #[test]
    fn x106_cached_tokens_cost_the_cached_rate() {
        let dollars = cost(&usage(1_000_000, 400_000, 100_000), Some(&PRICES)).unwrap();
        assert!((dollars - (1.2 + 0.2 + 0.8)).abs() < 1e-9, "{dollars}");
    }

    #[test]
    fn x106_tokens_written_to_the_cache_cost_their_own_rate_or_the_full_one() {
        let usage = Usage {
            cache_write_tokens: 500_000,
            ..usage(1_000_000, 400_000, 0)
        };
        let at = |prices: Prices| cost(&usage, Some(&prices)).unwrap();
        assert!((at(PRICES) - (0.2 + 0.2 + 1.25)).abs() < 1e-9);
        let without = Prices {
            cache_write: None,
            ..PRICES
        };
        assert!((at(without) - (0.2 + 0.2 + 1.0)).abs() < 1e-9);
    }

    #[test]
    fn x106_without_a_price_there_is_no_cost() {
        assert_eq!(cost(&usage(1_000, 0, 10), None), None);
    }

    #[test]
    fn more_cached_than_sent_never_gives_money_back() {
        let dollars = cost(&usage(100, 1_000, 0), Some(&PRICES)).unwrap();
        assert!((dollars - 100.0 * 0.5 / 1e6).abs() < 1e-12, "{dollars}");
    }
}
