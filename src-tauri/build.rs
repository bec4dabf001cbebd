//! Builds the desktop package.
fn main() {}
