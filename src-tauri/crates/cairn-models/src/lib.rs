//! Models: one file per wire protocol, server-sent events, discovery, the demo script.
