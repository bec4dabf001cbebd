//! The search tools against real folders: `list_dir`, `glob`, `grep`.

#[cfg(test)]
mod search {
    pub(crate) mod fixture;
    mod glob;
    mod grep;
    mod ignoring;
    mod list;
    mod odd;
    mod ripgrep;
    mod stopping;
    mod swapping;
}
