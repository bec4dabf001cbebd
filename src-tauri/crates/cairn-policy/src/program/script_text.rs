//! Small languages inside arguments, as far as they only read.

/// Whether a `sed` script only selects, prints and replaces text. Commands that write or run (`w`, `e`, `r`, and the
/// flags of `s` of the same letters) are not in it. Cases P46 to P50.
pub(super) fn is_plain_sed(script: &str) -> bool {
    !script.contains('\n') && script.split(';').all(|command| is_plain_command(command.trim()))
}

fn is_plain_command(command: &str) -> bool {
    let Some(command) = without_address(command) else {
        return false;
    };
    let command = match command.strip_prefix(',') {
        Some(second) => match without_address(second) {
            Some(rest) if rest.len() < second.len() => rest,
            _ => return false,
        },
        None => command,
    };
    let command = command.trim().trim_start_matches('!').trim();
    matches!(command, "p" | "d" | "q" | "=" | "P" | "D" | "n" | "N") || is_plain_replacing(command)
}

/// `12`, `$` or `/text/`; empty where there is none.
fn without_address(text: &str) -> Option<&str> {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix('/') {
        let (pattern, rest) = rest.split_once('/')?;
        return (!pattern.ends_with('\\') && !pattern.contains('[')).then_some(rest);
    }
    if let Some(rest) = text.strip_prefix('$') {
        return Some(rest);
    }
    Some(text.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// `s/from/to/g`. A bracket or an escaped slash in it is read differently by different programs.
fn is_plain_replacing(command: &str) -> bool {
    let Some(rest) = command.strip_prefix('s') else {
        return false;
    };
    let Some(mark) = rest.chars().next().filter(|c| matches!(c, '/' | '|' | '#' | ',')) else {
        return false;
    };
    let parts: Vec<&str> = rest.split(mark).collect();
    let [_, from, to, flags] = parts.as_slice() else {
        return false;
    };
    let plain = |text: &str| !text.ends_with('\\') && !text.contains('[');
    plain(from)
        && plain(to)
        && flags
            .chars()
            .all(|c| matches!(c, 'g' | 'p' | 'i' | 'I') || c.is_ascii_digit())
}

/// Whether these are plain words of `test` or `[`. Bash evaluates the operand of `-v` and `-R`, and numbers that are
/// none; `-a` and `-o` make the reading depend on the operands. Case S44.
pub(super) fn is_plain_test(words: &[String]) -> bool {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.first() == Some(&"[") && words.pop() != Some("]") {
        return false;
    }
    let mut operands = words.get(1..).unwrap_or_default();
    if let ["!", rest @ ..] = operands
        && rest.len() > 1
    {
        operands = rest;
    }
    let text = |word: &str| !word.starts_with('-') && !matches!(word, "!" | "(" | ")");
    match operands {
        [one] => text(one),
        [unary, file] => {
            let letter = unary.strip_prefix('-').filter(|letter| letter.len() == 1);
            letter.is_some_and(|letter| "bcdefghkLnprsSuwxzGONt".contains(letter)) && text(file)
        }
        [left, "=" | "==" | "!=" | "-nt" | "-ot" | "-ef", right] => text(left) && text(right),
        [left, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge", right] => {
            let number =
                |word: &str| !word.is_empty() && word.len() < 18 && word.bytes().all(|b| b.is_ascii_digit());
            number(left) && number(right)
        }
        _ => false,
    }
}
