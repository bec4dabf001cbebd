//! The tools a model can call, one file each.
