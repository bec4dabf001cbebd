//! Answers that want to be the last ones. Cases N39 to N47, DESIGN 4.11.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use cairn_tools::web::Limits;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::fixture::{Bench, Does, answer, quick};

/// As many megabytes, as small as can be.
fn gzip_of_nothing(megabytes: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let piece = vec![b'a'; 1_000_000];
    (0..megabytes).for_each(|_| encoder.write_all(&piece).unwrap());
    encoder.finish().unwrap()
}

/// Fifty million zeros, packed by another implementation of brotli.
const BROTLI_BOMB: [u8; 80] = [
    0xcb, 0xff, 0xff, 0x3f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x8f, 0xff, 0xff, 0x7f,
    0xf0, 0x4f, 0x00, 0xc4, 0x61, 0x11, 0x80, 0xee, 0xfd, 0x1f, 0xff, 0xff, 0xff, 0xe0, 0x9f, 0x00, 0x88,
    0xc3, 0x02, 0x00, 0xdd, 0xfb, 0x3f, 0xfe, 0xff, 0xff, 0xc1, 0x3f, 0x01, 0x10, 0x87, 0x05, 0x00, 0xba,
    0xf7, 0x7f, 0xfc, 0xff, 0xff, 0x83, 0x7f, 0x02, 0x20, 0x0e, 0x0b, 0x00, 0x74, 0xef, 0xff, 0xf2, 0x0f,
    0x5e, 0x0f, 0xff, 0x04, 0x40, 0x1c, 0x16, 0x00, 0xe8, 0xa0, 0xeb, 0x01,
];

/// The most memory this process has had, kilobytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn n39_n40_n41_n42_n43_n47_bombs_and_endless_bodies_end_at_ten_megabytes() {
    // 1 MB that unpacks to 1 GB.
    let bomb = gzip_of_nothing(1_000);
    assert!(bomb.len() < 1_100_000, "{}", bomb.len());
    let zeros = zstd::stream::encode_all(std::io::repeat(0).take(1_000_000_000), 1).unwrap();
    assert!(zeros.len() < 1_100_000, "{}", zeros.len());
    let bench = Bench::new(move |path, _| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
        match path {
            "/gzip" => answer(
                "200 OK",
                &[("content-type", "text/html"), ("content-encoding", "gzip")],
                &bomb,
            ),
            "/br" => answer("200 OK", &[("content-encoding", "br")], BROTLI_BOMB),
            "/zstd" => answer("200 OK", &[("content-encoding", "zstd")], &zeros),
            "/three" => answer("200 OK", &[("content-encoding", "gzip, gzip, gzip")], &bomb),
            "/length" => {
                Does::Bytes(format!("{head}content-length: 1000000000000000000\r\n\r\nx").into_bytes())
            }
            "/chunked" => Does::Endless(
                format!("{head}transfer-encoding: chunked\r\n\r\n").into_bytes(),
                [b"10000\r\n".as_slice(), &vec![b'x'; 0x10000], b"\r\n"].concat(),
                Duration::ZERO,
            ),
            _ => Does::Endless(
                format!("{head}\r\n").into_bytes(),
                vec![b'x'; 65_536],
                Duration::ZERO,
            ),
        }
    })
    .await;
    let (before, since) = (peak(), Instant::now());
    for path in ["gzip", "br", "zstd", "three", "length", "chunked", "endless"] {
        let outcome = bench.fetch(&format!("http://a.example/{path}")).await;
        let expected = if path == "three" {
            "3 encodings"
        } else {
            "larger than 10 MB"
        };
        assert!(
            !outcome.ok && outcome.content.contains(expected),
            "{path}: {}",
            outcome.content
        );
    }
    let grown = peak() - before;
    assert!(grown <= 64 * 1024, "{grown} kB");
    // Seven calls of at most 30 s each; in truth a second in all.
    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
}

#[tokio::test]
async fn n44_a_host_that_drips_or_says_nothing_is_given_up() {
    // Nobody waits for these here; the rest of the test shows that they are kept.
    let usual = Limits::default();
    assert_eq!(usual.silence, Duration::from_secs(10));
    assert!((29..30).contains(&usual.total.as_secs()), "{:?}", usual.total);
    let limits = Limits {
        // Room for three silences; what drips takes all of it. A second, as a busy machine may hold a drop up.
        total: Duration::from_secs(6),
        silence: Duration::from_secs(1),
        ..quick()
    };
    let bench = Bench::with(limits, |path, _| match path {
        "/drips" => Does::Endless(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_vec(),
            b"x".to_vec(),
            Duration::from_millis(50),
        ),
        "/stalls" => Does::Endless(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_vec(),
            b"x".to_vec(),
            Duration::from_secs(60),
        ),
        "/head" => Does::Endless(
            b"HTTP/1.1 200 OK\r\n".to_vec(),
            b"a".to_vec(),
            Duration::from_millis(50),
        ),
        _ => Does::Nothing,
    })
    .await;
    for (path, expected) in [
        ("drips", "did not answer in whole"),
        ("stalls", "fell silent"),
        ("head", "fell silent"),
        ("nothing", "fell silent"),
    ] {
        let outcome = bench.fetch(&format!("http://a.example/{path}")).await;
        assert!(
            !outcome.ok && outcome.content.contains(expected),
            "{path}: {}",
            outcome.content
        );
    }
}

#[tokio::test]
async fn n45_n46_floods_of_headers_are_garbage() {
    let bench = Bench::new(|path, _| {
        let mut head = String::from("HTTP/1.1 200 OK\r\n");
        match path {
            "/large" => head.push_str(&format!("x: {}\r\n", "y".repeat(1_000_000))),
            "/more" => (0..300).for_each(|number| head.push_str(&format!("x{number}: y\r\n"))),
            "/many" => (0..100_000).for_each(|number| head.push_str(&format!("x{number}: y\r\n"))),
            _ => head = "SSH-2.0-OpenSSH_9.9\r\n".to_owned(),
        }
        Does::Bytes((head + "\r\n").into_bytes())
    })
    .await;
    let before = peak();
    for path in ["large", "more", "many", "ssh"] {
        let requests = bench.server.count();
        let outcome = bench.fetch(&format!("http://a.example/{path}")).await;
        assert!(
            !outcome.ok && outcome.content.contains("cannot be read") && outcome.content.len() < 600,
            "{path}: {}",
            outcome.content
        );
        assert_eq!(
            bench.server.count() - requests,
            1,
            "{path}: it is not asked again"
        );
    }
    let grown = peak() - before;
    assert!(grown <= 64 * 1024, "{grown} kB");
}

#[tokio::test]
async fn a_page_of_fifty_thousand_nested_elements_is_read() {
    let deep = "<div><b><span>".repeat(50_000) + "the bottom";
    let wide = "<table><tr><td>".repeat(20_000) + "the middle";
    let bench = Bench::new(move |path, _| {
        answer(
            "200 OK",
            &[("content-type", "text/html")],
            if path == "/deep" { &deep } else { &wide },
        )
    })
    .await;
    let before = peak();
    for (path, seen) in [("deep", "the bottom"), ("wide", "the middle")] {
        let since = Instant::now();
        let outcome = bench.fetch(&format!("http://a.example/{path}")).await;
        assert!(
            outcome.ok && outcome.content.contains(seen),
            "{path}: {}",
            outcome.content
        );
        // The helper is ended by the system at 5 s of its own; this is what the call takes.
        assert!(
            since.elapsed() < Duration::from_secs(15),
            "{path}: {:?}",
            since.elapsed()
        );
    }
    let grown = peak() - before;
    assert!(grown <= 32 * 1024, "{grown} kB");
}
