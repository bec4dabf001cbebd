//! Pages fetched lately, so that going on with an offset does not fetch again. Bounded; oldest go first.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Pages kept.
const MOST_PAGES: usize = 8;
/// Bytes of text kept over all of them.
const MOST_BYTES: usize = 16 << 20;

/// The text of a page and what is said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Where it came from in the end.
    pub(crate) source: String,
    /// Its title; empty when it has none.
    pub(crate) title: String,
    /// What it is, like `HTML as Markdown`.
    pub(crate) kind: String,
    /// Its whole text.
    pub(crate) text: String,
    /// Things to know about the text, as sentences.
    pub(crate) remarks: Vec<String>,
}

/// The pages of one session.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    kept: Mutex<VecDeque<(String, Arc<Page>)>>,
}

impl Pages {
    /// The page that was fetched under that address.
    pub(crate) fn get(&self, address: &str) -> Option<Arc<Page>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter()
            .find(|(known, _)| known == address)
            .map(|(_, page)| Arc::clone(page))
    }

    /// Keeps a page under the address that was asked for.
    pub(crate) fn keep(&self, address: String, page: Arc<Page>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != address);
        kept.push_back((address, page));
        let bytes = |kept: &VecDeque<(String, Arc<Page>)>| -> usize {
            kept.iter().map(|(_, page)| page.text.len()).sum()
        };
        while kept.len() > MOST_PAGES || bytes(&kept) > MOST_BYTES {
            kept.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(bytes: usize) -> Arc<Page> {
        Arc::new(Page {
            source: String::new(),
            title: String::new(),
            kind: String::new(),
            text: "x".repeat(bytes),
            remarks: Vec::new(),
        })
    }

    #[test]
    fn few_pages_and_few_bytes_are_kept() {
        let pages = Pages::default();
        for number in 0..20 {
            pages.keep(number.to_string(), page(10));
        }
        assert!(pages.get("11").is_none());
        assert!(pages.get("12").is_some() && pages.get("19").is_some());
        pages.keep("large".to_owned(), page(MOST_BYTES - 15));
        assert!(pages.get("18").is_none() && pages.get("19").is_some());
        pages.keep("too large".to_owned(), page(MOST_BYTES + 1));
        assert!(pages.get("too large").is_none());
    }

    #[test]
    fn a_page_that_is_fetched_again_takes_the_place_of_the_old_one() {
        let pages = Pages::default();
        pages.keep("a".to_owned(), page(1));
        pages.keep("a".to_owned(), page(2));
        assert_eq!(pages.get("a").unwrap().text.len(), 2);
        assert_eq!(pages.kept.lock().unwrap().len(), 1);
    }
}
