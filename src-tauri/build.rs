//! Builds the desktop package: the commands a page may call are declared in `permissions/`, and granted in `capabilities/`.

use tauri_build::{AppManifest, Attributes};

fn main() {
    // The pattern is not the default, so cargo must be told to look there as well.
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    println!("cargo:rerun-if-changed=src-tauri/permissions");
    println!("cargo:rerun-if-changed=tauri.conf.json");
    let attributes = Attributes::new()
        .capabilities_path_pattern("./src-tauri/capabilities/**/*")
        .app_manifest(AppManifest::new().permissions_path_pattern("./src-tauri/permissions/**/*"));
    if let Err(error) = tauri_build::try_build(attributes) {
        println!("cargo:warning={error:#}");
        std::process::exit(1);
    }
}
