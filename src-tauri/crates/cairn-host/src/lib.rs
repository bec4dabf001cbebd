//! The composition root: sessions, methods, fan-out of events, rendering, settings. Knows no window toolkit.
