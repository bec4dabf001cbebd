//! Where a path lies and what care it needs: from the text a model wrote to effects the gate understands. SPEC T6.
