//! For tests only: scripted model servers that refuse what real ones refuse, temporary workspaces, recorders.
//!
//! Owns: doubles of the outside world. Must never know: anything of the product but its wire types and traits; no
//! product crate depends on this one outside its tests.

pub mod provider;
mod recorder;
mod workspace;
mod world;

pub use recorder::Recorder;
pub use workspace::TempProject;
pub use world::FakeWorld;
