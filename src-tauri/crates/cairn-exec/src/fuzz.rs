//! The helpers' work without helpers, for `./dev fuzz`.
//!
//! Owns: nothing. Must never be in a program that is given to anybody; the feature `fuzz` keeps it out.

pub use crate::html::fuzz::{Stages, read_html};
pub use crate::picture::fuzz::{check_picture, open_picture, scale_picture};
