//! Processes: the tree, the supervisor, the helper role. The only crate that spawns.
