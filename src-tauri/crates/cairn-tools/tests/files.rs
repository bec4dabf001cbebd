//! The file tools against real folders: `read_file`, `write_file`, `edit_file`.

#[cfg(test)]
#[allow(clippy::format_collect)] // Shorter, and tests may be slow.
mod files {
    mod changing;
    mod editing;
    pub(crate) mod fixture;
    mod links;
    mod pictures;
    mod reading;
    mod writing;
}
