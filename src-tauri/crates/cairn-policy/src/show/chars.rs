//! Single characters: which of them are invisible, control something, or look like another.

/// What a character is to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Seen as what it is.
    Plain,
    /// A tab.
    Tab,
    /// A control character: escape sequences, carriage return, C1.
    Control,
    /// Not seen, or seen as a plain space without being one.
    Unseen,
    /// Drawn above or below the letter before it.
    Mark,
    /// Drawn like a character that means something to a shell or in an address.
    LookAlike,
}

/// Zero-width, direction-changing, tag and variation-selector characters, fillers, blanks that are no space, and
/// private use, which each font draws as it likes. From the Unicode properties `Default_Ignorable_Code_Point`,
/// `Bidi_Control`, `White_Space` and the categories Cf and Co (Unicode 16).
const UNSEEN: &[(u32, u32)] = &[
    (0x00a0, 0x00a0),
    (0x00ad, 0x00ad),
    (0x034f, 0x034f),
    (0x0600, 0x0605),
    (0x061c, 0x061c),
    (0x06dd, 0x06dd),
    (0x070f, 0x070f),
    (0x0890, 0x0891),
    (0x08e2, 0x08e2),
    (0x115f, 0x1160),
    (0x1680, 0x1680),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x2000, 0x200f),
    (0x2028, 0x202f),
    (0x205f, 0x206f),
    (0x2800, 0x2800),
    (0x3000, 0x3000),
    (0x3164, 0x3164),
    (0xe000, 0xf8ff),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0xfffe, 0xffff),
    (0x110bd, 0x110bd),
    (0x110cd, 0x110cd),
    (0x13430, 0x1343f),
    (0x16fe4, 0x16fe4),
    (0x1bca0, 0x1bca3),
    (0x1d159, 0x1d159),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe0fff),
    (0xf0000, 0x0010_ffff),
];

/// Combining marks.
const MARKS: &[(u32, u32)] = &[
    (0x0300, 0x036f),
    (0x0483, 0x0489),
    (0x0591, 0x05bd),
    (0x0610, 0x061a),
    (0x064b, 0x065f),
    (0x0e31, 0x0e31),
    (0x0e34, 0x0e3a),
    (0x0e47, 0x0e4e),
    (0x1ab0, 0x1aff),
    (0x1dc0, 0x1dff),
    (0x20d0, 0x20ff),
    (0x302a, 0x302f),
    (0x3099, 0x309a),
    (0xfe20, 0xfe2f),
];

/// Drawn like `; : . / - | \` ~` or like Latin letters and digits, and never a letter of a living language.
const LOOK_ALIKES: &[(u32, u32)] = &[
    (0x01c0, 0x01c0),   // a click letter like |
    (0x037e, 0x037e),   // the Greek question mark like ;
    (0x1fef, 0x1fef),   // the Greek varia like `
    (0x2010, 0x2012),   // hyphens like -
    (0x2024, 0x2024),   // the one dot leader like .
    (0x2044, 0x2044),   // the fraction slash
    (0x2212, 0x2212),   // the minus sign
    (0x2215, 0x2216),   // division and set minus like / and \
    (0x2223, 0x2223),   // divides like |
    (0x2236, 0x2236),   // ratio like :
    (0x223c, 0x223c),   // the tilde operator
    (0x29f5, 0x29f9),   // big solidus and its kin
    (0xa789, 0xa789),   // the modifier colon
    (0xff0e, 0xff0f),   // full-width . and /
    (0xff10, 0xff19),   // full-width digits
    (0xff21, 0xff3a),   // full-width capitals
    (0xff41, 0xff5a),   // full-width small letters
    (0x1d400, 0x1d7ff), // mathematical alphabets
    (0x2460, 0x24ff),   // encircled digits and letters
];

/// Whether a character is not seen, or seen as a plain space without being one: zero-width and direction-changing
/// characters, soft hyphens, tags, variation selectors, blanks. Control characters are not in this set.
pub fn is_unseen(c: char) -> bool {
    !c.is_ascii() && within(UNSEEN, c)
}

pub(super) fn kind(c: char) -> Kind {
    match c {
        '\t' => Kind::Tab,
        ' '..='~' => Kind::Plain,
        c if c.is_control() => Kind::Control,
        c if is_unseen(c) => Kind::Unseen,
        c if within(LOOK_ALIKES, c) => Kind::LookAlike,
        c if within(MARKS, c) => Kind::Mark,
        _ => Kind::Plain,
    }
}

fn within(ranges: &[(u32, u32)], c: char) -> bool {
    let c = c as u32;
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&c))
}
