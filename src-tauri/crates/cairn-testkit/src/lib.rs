//! For tests only: scripted model servers that refuse what real ones refuse, temporary workspaces, recorders.
