//! The file tools against real folders: reading, writing, editing, moving, deleting.

#[cfg(test)]
#[allow(clippy::format_collect)] // Shorter, and tests may be slow.
mod files {
    mod changing;
    mod choosing;
    mod deleting;
    mod editing;
    pub(crate) mod fixture;
    mod folders;
    mod keeping;
    mod limits;
    mod links;
    mod moving;
    mod odd;
    mod pictures;
    mod reading;
    mod several;
    mod writing;
}
