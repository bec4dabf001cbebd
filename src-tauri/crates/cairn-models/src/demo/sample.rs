//! The files of the sample project. Owns only them; the host copies them where the demo may change them.

/// The sample project: a small tide chart with one real mistake in it. Pairs of path (relative, with `/`) and content,
/// in path order.
pub fn sample() -> &'static [(&'static str, &'static [u8])] {
    &[
        ("AGENTS.md", include_bytes!("sample/AGENTS.md")),
        ("README.md", include_bytes!("sample/README.md")),
        ("check.sh", include_bytes!("sample/check.sh")),
        ("data/harbour.csv", include_bytes!("sample/data/harbour.csv")),
        ("docs/axis.png", include_bytes!("sample/docs/axis.png")),
        ("tests/__init__.py", include_bytes!("sample/tests/__init__.py")),
        ("tests/test_axis.py", include_bytes!("sample/tests/test_axis.py")),
        (
            "tidewater/__init__.py",
            include_bytes!("sample/tidewater/__init__.py"),
        ),
        ("tidewater/axis.py", include_bytes!("sample/tidewater/axis.py")),
        ("tidewater/chart.py", include_bytes!("sample/tidewater/chart.py")),
    ]
}
