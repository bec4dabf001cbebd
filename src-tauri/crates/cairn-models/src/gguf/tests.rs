//! Tests of what is checked of a model file.

use super::*;

fn why(model: &str) -> String {
    checked(model).unwrap_err().error.message
}

#[test]
fn what_is_no_model_file_never_reaches_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    assert!(why("models/a.gguf").contains("whole path"));
    assert!(why(folder.path().join("missing.gguf").to_str().unwrap()).contains("could not be opened"));
    assert!(why(folder.path().to_str().unwrap()).contains("is not a file"));
    for (name, content) in [
        ("empty", &b""[..]),
        ("short", b"GGUF"),
        ("other", b"PK\x03\x04 something"),
        ("old", b"GGUF\x01\0\0\0 more"),
        ("turned", b"GGUF\0\0\0\x03 more"),
    ] {
        let path = file(name, content);
        assert!(why(&path).contains("GGUF"), "{name}");
    }
    let good = file("good", b"GGUF\x03\0\0\0 more");
    assert_eq!(checked(&good).unwrap(), PathBuf::from(&good));
}

#[test]
fn a_file_is_called_by_its_own_name() {
    for (model, name) in [
        ("/m/qwen3-8b.Q4_K_M.gguf", "qwen3-8b.Q4_K_M"),
        ("/m/model", "model"),
        ("", ""),
    ] {
        assert_eq!(name_of(model), name);
    }
}

#[cfg(not(feature = "local-model"))]
#[test]
fn a_build_that_cannot_run_files_says_so_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gguf");
    std::fs::write(&path, b"GGUF\x03\0\0\0 more").unwrap();
    let config = ModelConfig::new(cairn_protocol::Api::Gguf, "", path.to_str().unwrap());
    let error = build(&config, crate::assume(&config)).err().unwrap();
    assert_eq!(error.error.code, ErrorCode::BadConfig);
    assert!(error.error.message.contains("llama.cpp's server"), "{error}");
    assert!(look(path.to_str().unwrap()).is_err());
}
