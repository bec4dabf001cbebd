//! Whole words: letters of another script among Latin ones, and host names that are not ASCII.

/// Letters of other scripts and extensions of Latin that are drawn like ASCII letters.
const LIKE_ASCII: &str = "аеорсухіјѕһԁԛԝѵґӏАВЕКМНОРСТУХІЈЅԌԜҮҺӀҽ\
                          αγεικνορτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳ\
                          օոսցհզɑɡɩʏᴄᴏᴠᴡᴢǀɪıƖᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᏔᏃ";

/// Those small Cyrillic letters that no reader can tell from Latin ones.
const TWINS: &str = "аеорсухіјѕһԁԛԝӏ";

/// Byte offsets, ascending, of the letters in a word that belong to another script than the Latin letters around
/// them and are drawn like one. Judged per stretch of letters, so that `docs-файл` is fine and `pаypal` is not.
pub(super) fn mixed_letters(word: &str) -> Vec<usize> {
    let mut found = Vec::new();
    if word.is_ascii() {
        return found;
    }
    for stretch in stretches(word) {
        if stretch.iter().any(|(_, c)| c.is_ascii_alphabetic()) {
            found.extend(
                stretch
                    .iter()
                    .filter(|(_, c)| LIKE_ASCII.contains(*c))
                    .map(|(at, _)| *at),
            );
        }
    }
    found
}

/// Whether a word has a stretch of three and more letters that all look Latin without being so, like `сору`.
pub(super) fn is_latin_in_disguise(word: &str) -> bool {
    let twin =
        |stretch: &Vec<(usize, char)>| stretch.len() >= 3 && stretch.iter().all(|(_, c)| TWINS.contains(*c));
    !word.is_ascii() && stretches(word).iter().any(twin)
}

/// The ASCII form of each host name of an address in a word, where it is not ASCII already (U07).
pub(super) fn foreign_hosts(word: &str) -> Vec<String> {
    if word.is_ascii() {
        return Vec::new();
    }
    word.split("://")
        .skip(1)
        .filter_map(|rest| rest.split(['/', '?', '#', '"', '\'', ')', '>', '\\']).next())
        .filter_map(|authority| authority.rsplit('@').next())
        .filter_map(|host| host.split(':').next())
        .filter(|host| !host.is_ascii())
        .filter_map(|host| idna::domain_to_ascii(host).ok())
        // The conversion lets control characters through; a host that holds one is no host.
        .filter(|host| {
            host.bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
        })
        .collect()
}

/// Stretches of letters with the byte offset of each.
fn stretches(word: &str) -> Vec<Vec<(usize, char)>> {
    let mut found: Vec<Vec<(usize, char)>> = Vec::new();
    let mut current = Vec::new();
    for (at, c) in word.char_indices() {
        if c.is_alphabetic() {
            current.push((at, c));
        } else if !current.is_empty() {
            found.push(std::mem::take(&mut current));
        }
    }
    if !current.is_empty() {
        found.push(current);
    }
    found
}
