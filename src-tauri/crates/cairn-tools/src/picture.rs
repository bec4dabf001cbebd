//! Pictures that a tool hands to the model and the person. SPEC T11.
