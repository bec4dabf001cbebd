//! As much of HTTP/1.1 as a server of scripts needs. Owns: reading requests, writing replies. Knows no script.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

const MAX_HEAD: usize = 64 * 1024;
const MAX_BODY: usize = 256 * 1024 * 1024;

/// A request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Reads the next request; none when the client has closed.
pub(super) async fn read(reader: &mut BufReader<OwnedReadHalf>) -> io::Result<Option<Request>> {
    let Some(first) = line(reader).await? else {
        return Ok(None);
    };
    let mut words = first.split(' ');
    let (method, path) = (
        words.next().unwrap_or_default().to_owned(),
        words.next().unwrap_or_default().to_owned(),
    );
    let mut headers = Vec::new();
    loop {
        let text = line(reader).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(':').ok_or(io::ErrorKind::InvalidData)?;
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request {
        method,
        path,
        headers,
        body: Vec::new(),
    };
    if request
        .header("transfer-encoding")
        .is_some_and(|value| value.contains("chunked"))
    {
        loop {
            let size = line(reader).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
            let size = usize::from_str_radix(size.trim(), 16).map_err(|_| io::ErrorKind::InvalidData)?;
            let part = bytes(reader, size).await?;
            line(reader).await?;
            if size == 0 {
                break;
            }
            request.body.extend(part);
        }
    } else if let Some(size) = request.header("content-length") {
        let size: usize = size.parse().map_err(|_| io::ErrorKind::InvalidData)?;
        request.body = bytes(reader, size).await?;
    }
    Ok(Some(request))
}

async fn line(reader: &mut BufReader<OwnedReadHalf>) -> io::Result<Option<String>> {
    let mut text = String::new();
    let count = reader.take(MAX_HEAD as u64).read_line(&mut text).await?;
    Ok((count > 0).then(|| text.trim_end_matches(['\r', '\n']).to_owned()))
}

async fn bytes(reader: &mut BufReader<OwnedReadHalf>, size: usize) -> io::Result<Vec<u8>> {
    if size > MAX_BODY {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; size];
    reader.read_exact(&mut body).await?;
    Ok(body)
}

/// Waits until the client closes its side; anything it sends meanwhile is dropped.
pub(super) async fn closed(reader: &mut BufReader<OwnedReadHalf>) {
    let mut scrap = [0; 1024];
    while reader.read(&mut scrap).await.is_ok_and(|count| count > 0) {}
}

/// How long the body of a reply is.
pub(super) enum Length {
    /// Told beforehand.
    Known(usize),
    /// In chunks.
    Chunked,
}

/// Writes the head of a reply.
pub(super) async fn head(
    writer: &mut OwnedWriteHalf,
    status: u16,
    headers: &[(String, String)],
    length: Length,
) -> io::Result<()> {
    use std::fmt::Write as _;
    let mut text = format!("HTTP/1.1 {status} Scripted\r\n");
    for (name, value) in headers {
        write!(text, "{name}: {value}\r\n").map_err(io::Error::other)?;
    }
    match length {
        Length::Known(size) => write!(text, "content-length: {size}\r\n\r\n"),
        Length::Chunked => write!(text, "transfer-encoding: chunked\r\n\r\n"),
    }
    .map_err(io::Error::other)?;
    writer.write_all(text.as_bytes()).await
}

/// Writes one chunk.
pub(super) async fn chunk(writer: &mut OwnedWriteHalf, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut out = format!("{:x}\r\n", bytes.len()).into_bytes();
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
    writer.write_all(&out).await
}
