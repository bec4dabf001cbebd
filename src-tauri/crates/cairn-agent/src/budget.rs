//! How much text a tool may give the model. SPEC T3.

/// Characters a result may have while the window is not known.
const UNKNOWN: usize = 12_000;
/// Bounds of one result, characters.
const LEAST: usize = 4_000;
const MOST: usize = 80_000;
/// A result that would get less than this is replaced by a sentence: a scrap misleads more than it tells.
const SCRAP: usize = 400;
/// Characters of English or code per token, roughly; only the share of the window depends on it.
const CHARS_PER_TOKEN: u64 = 4;

/// Characters one result may have: a quarter of the window.
pub fn one_result(window_tokens: Option<u64>) -> usize {
    window_tokens.map_or(UNKNOWN, |tokens| {
        ((tokens * CHARS_PER_TOKEN / 4) as usize).clamp(LEAST, MOST)
    })
}

/// What is left for the results of one model reply, which share two single budgets.
#[derive(Clone, Debug)]
pub struct SharedBudget {
    single: usize,
    left: usize,
}

impl SharedBudget {
    /// The budget of one reply.
    pub fn new(window_tokens: Option<u64>) -> Self {
        let single = one_result(window_tokens);
        Self {
            single,
            left: single * 2,
        }
    }

    /// Characters the next result may have when `siblings` results (itself counted) are still to come.
    pub fn next(&self, siblings: usize) -> usize {
        self.single.min(self.left / siblings.clamp(1, 4))
    }

    /// Counts a result and cuts it to what is left. Returns the text and whether it was cut.
    pub fn take(&mut self, text: &str, output: Option<&str>) -> (String, bool) {
        let allowed = self.single.min(self.left);
        let length = text.chars().count();
        if length <= allowed {
            self.left -= length;
            return (text.to_owned(), false);
        }
        if allowed < SCRAP {
            return (
                "The results of this reply are full: ask for this again in a reply of its own.".to_owned(),
                true,
            );
        }
        self.left -= allowed;
        (cut_middle(text, allowed, output), true)
    }
}

/// Keeps head and tail of a text and says how much is missing between them, and where the whole is.
pub fn cut_middle(text: &str, allowed: usize, output: Option<&str>) -> String {
    let total = text.chars().count();
    if total <= allowed {
        return text.to_owned();
    }
    let whole = output.map_or_else(String::new, |id| format!("; read the whole as `output:{id}`"));
    let room = allowed.saturating_sub(100);
    let head = room * 2 / 3;
    let tail = room - head;
    let head_end = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let tail_start = text
        .char_indices()
        .nth(total - tail)
        .map_or(text.len(), |(at, _)| at);
    let (start, end) = (
        text.get(..head_end).unwrap_or_default(),
        text.get(tail_start..).unwrap_or_default(),
    );
    format!(
        "{start}\n[… {} of {total} characters left out{whole} …]\n{end}",
        total - head - tail
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_result_is_a_quarter_of_the_window_within_bounds() {
        let table = [
            (None, 12_000),
            (Some(2_000), 4_000),
            (Some(32_768), 32_768),
            (Some(1_000_000), 80_000),
        ];
        for (window, expected) in table {
            assert_eq!(one_result(window), expected, "{window:?}");
        }
    }

    #[test]
    fn x92_several_big_results_share_one_budget_and_a_scrap_asks_to_come_alone() {
        let mut shared = SharedBudget::new(Some(4_000));
        let big = "x".repeat(20_000);
        let (first, cut) = shared.take(&big, Some("o1"));
        assert!(
            cut && first.chars().count() <= 4_000 && first.contains("output:o1"),
            "{}",
            first.len()
        );
        assert!(shared.take(&big, None).1);
        let (third, _) = shared.take(&big, None);
        assert!(third.contains("again in a reply of its own"), "{third}");
    }

    proptest! {
        #[test]
        fn a_cut_text_keeps_head_and_tail_and_fits(text in "\\PC{0,3000}", allowed in 400usize..2000) {
            let cut = cut_middle(&text, allowed, Some("abcdefghijklmnopqrstuvwxyz"));
            prop_assert!(cut.chars().count() <= allowed + 20);
            prop_assert!(text.chars().next().is_none_or(|first| cut.starts_with(first)));
            prop_assert!(text.chars().last().is_none_or(|last| cut.ends_with(last)));
        }
    }
}
