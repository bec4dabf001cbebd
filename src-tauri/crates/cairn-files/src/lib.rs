//! Files that are changed safely: root handle, compare-and-swap writes, encodings, line ends, read coverage.
