//! Characters that a reader does not see, counted by what they are for.

/// How many of which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hidden {
    zero_width: usize,
    direction: usize,
    tags: usize,
    selectors: usize,
}

/// Variation selectors in a row that no picture character needs.
const SELECTORS: usize = 2;

impl Hidden {
    pub(super) fn count(text: &str) -> Self {
        let mut found = Self::default();
        let mut selectors = 0;
        let mut joiners = 0;
        let mut in_flag = false;
        for c in text.chars() {
            // Single joiners belong to several scripts and to pictures of people.
            joiners = if matches!(c, '\u{200c}' | '\u{200d}') {
                joiners + 1
            } else {
                0
            };
            if joiners == 2 {
                found.zero_width += 2;
            } else if joiners > 2 {
                found.zero_width += 1;
            }
            selectors = if is_selector(c) { selectors + 1 } else { 0 };
            if selectors == SELECTORS {
                found.selectors += SELECTORS;
            } else if selectors > SELECTORS {
                found.selectors += 1;
            }
            match c {
                '\u{200b}'
                | '\u{2060}'..='\u{2064}'
                | '\u{feff}'
                | '\u{180e}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{3164}'
                | '\u{ffa0}' => found.zero_width += 1,
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => found.direction += 1,
                // The flags of England, Scotland and Wales are a black flag followed by tags.
                '\u{e0000}'..='\u{e007f}' if !in_flag => found.tags += 1,
                _ => {}
            }
            in_flag = c == '\u{1f3f4}' || in_flag && ('\u{e0020}'..='\u{e007e}').contains(&c);
        }
        found
    }

    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// In words; none when there are none.
    pub(super) fn words(self) -> Option<String> {
        let words: Vec<String> = [
            (self.zero_width, "zero-width"),
            (self.direction, "direction-changing"),
            (self.tags, "tag"),
            (self.selectors, "variation selector"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// What is written in tag characters, which copy ASCII invisibly.
pub(super) fn decoded_tags(text: &str) -> String {
    text.chars()
        .filter_map(|c| match u32::from(c) {
            tag @ 0xe0020..=0xe007e => char::from_u32(tag - 0xe0000),
            _ => None,
        })
        .collect()
}
