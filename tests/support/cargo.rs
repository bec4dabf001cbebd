//! What cargo says about the workspace, without the network.

use std::process::Command;

use serde_json::Value;

/// `cargo metadata` with these further arguments.
#[allow(
    clippy::disallowed_methods,
    reason = "asks the build tool about the workspace; nothing of the product runs"
)]
pub(crate) fn metadata(root: &std::path::Path, further: &[&str]) -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--offline",
            "--manifest-path",
        ])
        .arg(root.join("Cargo.toml"))
        .args(further)
        .output()
        .expect("cargo starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

/// The packages that are built on this kind of machine, their manifests being there without the network.
#[allow(
    dead_code,
    reason = "not every test that includes this file needs the whole graph"
)]
pub(crate) fn metadata_here(root: &std::path::Path) -> Value {
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let platform: &[&str] = if cfg!(target_os = "linux") {
        &["--filter-platform", &triple]
    } else {
        &[]
    };
    metadata(root, platform)
}

/// A field that is text.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A field that is a list.
pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}
