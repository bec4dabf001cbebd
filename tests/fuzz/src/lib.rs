//! What must hold of the pieces that read what others wrote, whatever it is.
//!
//! Owns: one function per target, which takes any bytes and panics when a promise is broken, and the inputs to begin
//! with. Must never know: the fuzzing engine; that is the few lines of each program.

pub mod arguments;
pub mod edit;
pub mod html;
pub mod line;
pub mod measure;
pub mod picture;
pub mod seeds;
pub mod stream;
mod take;
