//! A value that must not be shown. Owns only its hiding; never knows where it came from.

use std::fmt;

/// An API key or the value of a secret header. Never printed: its `Debug` form holds no letter of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a value. White space around it, as pasted keys often have, is dropped.
    pub fn new(value: impl AsRef<str>) -> Self {
        Self(value.as_ref().trim().to_owned())
    }

    /// The value, for the one header that carries it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_secret_is_not_printed() {
        let secret = Secret::new(" sk-letters\n");
        assert_eq!(secret.reveal(), "sk-letters");
        assert!(!format!("{secret:?}").contains("letters"));
    }
}
