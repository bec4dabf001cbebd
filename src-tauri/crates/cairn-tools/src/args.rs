//! Arguments of a call: checked and read into a tool's input struct, with errors the model can act on. SPEC T1.
