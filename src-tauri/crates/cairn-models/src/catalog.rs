//! A small table of known model families: window, pictures, tools. Facts from the makers' public model cards and
//! API documents; asked only when neither profile nor server tells. Knows no server and no price.

/// What is known about a family of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// Tokens it can hold as published.
    pub(crate) window: u64,
    /// Whether it sees pictures.
    pub(crate) vision: bool,
    /// Whether it was trained to call tools.
    pub(crate) tools: bool,
}

/// Finds the family a model's name belongs to. Folder parts (`openai/gpt-4o`), tags (`:8b`) and letter case do not
/// matter. None for names that nobody knows.
pub(crate) fn known(model: &str) -> Option<Known> {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    FAMILIES
        .iter()
        .filter(|family| begins(&name, family.0))
        .max_by_key(|family| family.0.len())
        .map(|&(_, window, vision, tools)| Known {
            window,
            vision,
            tools,
        })
}

/// Tokens that one reply of the model may have, for protocols that insist on a number.
pub(crate) fn most_output(model: &str) -> Option<u64> {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    OUTPUTS
        .iter()
        .filter(|(family, _)| begins(&name, family))
        .max_by_key(|(family, _)| family.len())
        .map(|&(_, most)| most)
}

/// Family, tokens of one reply.
const OUTPUTS: &[(&str, u64)] = &[
    ("claude-3", 4_096),
    ("claude-3-5", 8_192),
    ("claude-3-7", 32_000),
    ("claude-opus-4", 32_000),
    ("claude-sonnet-4", 32_000),
    ("claude-haiku-4", 32_000),
];

/// Whether the name begins with the family's and does not go on with another letter or digit of a longer one:
/// `o1` is no prefix of `o100`, but `gemma3` is one of `gemma3n` only where the table says so.
fn begins(name: &str, family: &str) -> bool {
    name.strip_prefix(family)
        .is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
}

/// Family, window, pictures, tools. The longest name that fits wins.
const FAMILIES: &[(&str, u64, bool, bool)] = &[
    // OpenAI
    ("gpt-5", 400_000, true, true),
    ("gpt-5-chat", 128_000, true, true),
    ("gpt-4.1", 1_047_576, true, true),
    ("gpt-4o", 128_000, true, true),
    ("gpt-4-turbo", 128_000, true, true),
    ("gpt-4", 8_192, false, true),
    ("gpt-3.5-turbo", 16_385, false, true),
    ("gpt-oss", 131_072, false, true),
    ("gpt-oss-20b", 131_072, false, true),
    ("gpt-oss-120b", 131_072, false, true),
    ("o1", 200_000, true, true),
    ("o3", 200_000, true, true),
    ("o3-mini", 200_000, false, true),
    ("o4-mini", 200_000, true, true),
    // Anthropic, through compatible endpoints
    ("claude-3", 200_000, true, true),
    ("claude-opus-4", 200_000, true, true),
    ("claude-sonnet-4", 200_000, true, true),
    ("claude-haiku-4", 200_000, true, true),
    // Google
    ("gemini-2.5-pro", 1_048_576, true, true),
    ("gemini-2.5-flash", 1_048_576, true, true),
    ("gemini-2.0-flash", 1_048_576, true, true),
    ("gemma3", 131_072, true, false),
    ("gemma-3", 131_072, true, false),
    ("gemma2", 8_192, false, false),
    ("gemma-2", 8_192, false, false),
    // DeepSeek
    ("deepseek-chat", 131_072, false, true),
    ("deepseek-reasoner", 131_072, false, true),
    ("deepseek-r1", 131_072, false, false),
    ("deepseek-v3", 131_072, false, true),
    // Qwen
    ("qwen3", 40_960, false, true),
    ("qwen3-coder", 262_144, false, true),
    ("qwen3-vl", 262_144, true, true),
    ("qwen2.5", 32_768, false, true),
    ("qwen2.5-coder", 32_768, false, true),
    ("qwen2.5vl", 128_000, true, false),
    ("qwen2.5-vl", 128_000, true, false),
    ("qwq", 40_960, false, true),
    // Meta
    ("llama3.1", 131_072, false, true),
    ("llama-3.1", 131_072, false, true),
    ("llama3.2", 131_072, false, true),
    ("llama-3.2", 131_072, false, true),
    ("llama3.2-vision", 131_072, true, false),
    ("llama3.3", 131_072, false, true),
    ("llama-3.3", 131_072, false, true),
    ("llama4", 1_048_576, true, true),
    ("llama-4", 1_048_576, true, true),
    // Mistral
    ("mistral-large", 131_072, false, true),
    ("mistral-medium", 131_072, true, true),
    ("mistral-small", 131_072, true, true),
    ("mistral-nemo", 131_072, false, true),
    ("magistral", 40_960, false, true),
    ("devstral", 131_072, false, true),
    ("codestral", 262_144, false, true),
    ("ministral", 131_072, false, true),
    ("pixtral", 131_072, true, true),
    // Others
    ("grok-4", 256_000, true, true),
    ("grok-code-fast-1", 256_000, false, true),
    ("kimi-k2", 131_072, false, true),
    ("glm-4.5", 131_072, false, true),
    ("glm-4.6", 202_752, false, true),
    ("phi4", 16_384, false, false),
    ("phi-4", 16_384, false, false),
    ("phi4-mini", 131_072, false, true),
    ("granite3.3", 131_072, false, true),
    ("smollm2", 8_192, false, false),
    ("llava", 4_096, true, false),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_their_longest_family() {
        let table = [
            ("gpt-4o", Some((128_000, true))),
            ("gpt-4o-mini-2024-07-18", Some((128_000, true))),
            ("openai/gpt-4o", Some((128_000, true))),
            ("gpt-4-0613", Some((8_192, false))),
            ("GPT-4.1-mini", Some((1_047_576, true))),
            ("qwen3:8b", Some((40_960, false))),
            ("qwen3-coder:30b", Some((262_144, false))),
            ("qwen/qwen3-vl-8b", Some((262_144, true))),
            ("o3-mini", Some((200_000, false))),
            ("o3000", None),
            ("my-own-model", None),
            ("", None),
        ];
        for (name, expected) in table {
            assert_eq!(
                known(name).map(|known| (known.window, known.vision)),
                expected,
                "{name}"
            );
        }
    }

    #[test]
    fn no_family_stands_twice() {
        let mut names: Vec<_> = FAMILIES.iter().map(|family| family.0).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
