//! Unpacking bodies: gzip, deflate, brotli, zstd, and one inside another. SPEC T24, cases N39 to N43.
//!
//! Owns: that no stage ever holds more than the limit. Must never know: where the bytes come from.

use std::io::{self, Write};

use brotli_decompressor::{BrotliDecoderParameter, DecompressorWriter};
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// What is asked for.
pub(super) const ACCEPTED: &str = "gzip, deflate, br, zstd";

/// Encodings one inside another that are unpacked. Nobody needs more than one.
const MOST_LAYERS: usize = 2;
/// Base-two logarithm of the largest window of zstd: 8 MB, which RFC 9659 makes the most for the web.
const ZSTD_WINDOW: u32 = 23;
/// Bytes of a decoder's own buffer.
const BUFFER: usize = 16 * 1024;

/// Why a body cannot be unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DecodeError {
    /// More than the limit came out of one of its stages, or came in.
    TooLarge,
    /// It is not what its header says.
    Broken(String),
    /// An encoding that was not asked for.
    Unknown(String),
}

/// Unpacks a body as it comes.
pub(super) struct Body {
    layers: Vec<Layer>,
    most: usize,
    came: usize,
    out: Vec<u8>,
}

impl Body {
    /// For a body with that `Content-Encoding`. None of its stages may give more than `most` bytes.
    pub(super) fn new(encoding: Option<&str>, most: usize) -> Result<Self, DecodeError> {
        let names: Vec<String> = encoding
            .unwrap_or_default()
            .split(',')
            .map(|name| name.trim().to_ascii_lowercase())
            .filter(|name| !name.is_empty() && name != "identity")
            .collect();
        if names.len() > MOST_LAYERS {
            let text = format!("{} encodings one inside another", names.len());
            return Err(DecodeError::Unknown(text));
        }
        // The last one named was applied last, so it comes off first.
        let layers: Result<_, _> = names.iter().rev().map(|name| Layer::new(name, most)).collect();
        Ok(Self {
            layers: layers?,
            most,
            came: 0,
            out: Vec::new(),
        })
    }

    /// Takes more bytes as they came.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        self.came = self.came.saturating_add(bytes.len());
        if self.came > self.most {
            return Err(DecodeError::TooLarge);
        }
        let mut piece = bytes.to_vec();
        for layer in &mut self.layers {
            piece = layer.push(&piece)?;
        }
        self.keep(&piece)
    }

    /// The whole body.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, DecodeError> {
        let mut layers = std::mem::take(&mut self.layers).into_iter();
        while let Some(layer) = layers.next() {
            // What a stage still held goes through those behind it, before they end themselves.
            let mut piece = layer.finish()?;
            for later in layers.as_mut_slice() {
                piece = later.push(&piece)?;
            }
            self.keep(&piece)?;
        }
        Ok(self.out)
    }

    /// What was unpacked so far, for a body that need not be whole.
    pub(super) fn so_far(self) -> Vec<u8> {
        self.out
    }

    fn keep(&mut self, piece: &[u8]) -> Result<(), DecodeError> {
        if self.out.len() + piece.len() > self.most {
            return Err(DecodeError::TooLarge);
        }
        self.out.extend_from_slice(piece);
        Ok(())
    }
}

/// Takes what comes out of a decoder, up to a limit over the whole body.
struct Bounded {
    held: Vec<u8>,
    left: usize,
    exceeded: bool,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(left) = self.left.checked_sub(bytes.len()) else {
            self.exceeded = true;
            return Err(io::Error::other("too large"));
        };
        self.left = left;
        self.held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One encoding.
enum Layer {
    Gzip(MultiGzDecoder<Bounded>),
    Zlib(ZlibDecoder<Bounded>),
    /// What some servers mean by `deflate`.
    Deflate(DeflateDecoder<Bounded>),
    /// `deflate` before its first byte, which tells the two apart.
    EitherDeflate(Bounded),
    Brotli(Box<DecompressorWriter<Bounded>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, Bounded>>),
}

impl Layer {
    fn new(name: &str, most: usize) -> Result<Self, DecodeError> {
        let out = Bounded {
            held: Vec::new(),
            left: most,
            exceeded: false,
        };
        Ok(match name {
            "gzip" | "x-gzip" => Self::Gzip(MultiGzDecoder::new(out)),
            "deflate" => Self::EitherDeflate(out),
            "br" => {
                let mut decoder = DecompressorWriter::new(out, BUFFER);
                // Large windows are an extension that no browser takes; one would be a gigabyte.
                decoder.set_parameter(BrotliDecoderParameter::BROTLI_DECODER_PARAM_LARGE_WINDOW, 0);
                Self::Brotli(Box::new(decoder))
            }
            "zstd" => {
                let failed = |error: io::Error| DecodeError::Broken(error.to_string());
                let mut decoder = zstd::stream::write::Decoder::new(out).map_err(failed)?;
                decoder.window_log_max(ZSTD_WINDOW).map_err(failed)?;
                Self::Zstd(Box::new(decoder))
            }
            other => return Err(DecodeError::Unknown(format!("the encoding `{}`", plain(other)))),
        })
    }

    fn push(&mut self, bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        if let Self::EitherDeflate(out) = self {
            let out = std::mem::replace(
                out,
                Bounded {
                    held: Vec::new(),
                    left: 0,
                    exceeded: false,
                },
            );
            // The method and a window of at most 32 KB (RFC 1950); no raw stream begins so with a block type in use.
            let is_zlib = bytes.first().is_some_and(|byte| byte & 0x8f == 0x08);
            *self = if is_zlib {
                Self::Zlib(ZlibDecoder::new(out))
            } else {
                Self::Deflate(DeflateDecoder::new(out))
            };
        }
        let written = match self {
            Self::Gzip(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Self::Zlib(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Self::Deflate(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Self::EitherDeflate(_) => Ok(()),
            Self::Brotli(decoder) => decoder.write_all(bytes),
            Self::Zstd(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
        };
        self.taken(written)
    }

    fn finish(mut self) -> Result<Vec<u8>, DecodeError> {
        let ended = match &mut self {
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Zlib(decoder) => decoder.try_finish(),
            Self::Deflate(decoder) => decoder.try_finish(),
            Self::EitherDeflate(_) => Ok(()),
            Self::Brotli(decoder) => decoder.close(),
            Self::Zstd(decoder) => decoder.flush(),
        };
        self.taken(ended)
    }

    /// What came out, or why nothing more will.
    fn taken(&mut self, result: io::Result<()>) -> Result<Vec<u8>, DecodeError> {
        let out = match self {
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zlib(decoder) => decoder.get_mut(),
            Self::Deflate(decoder) => decoder.get_mut(),
            Self::EitherDeflate(out) => out,
            Self::Brotli(decoder) => decoder.get_mut(),
            Self::Zstd(decoder) => decoder.get_mut(),
        };
        match result {
            _ if out.exceeded => Err(DecodeError::TooLarge),
            Ok(()) => Ok(std::mem::take(&mut out.held)),
            Err(error) => Err(DecodeError::Broken(plain(&error.to_string()))),
        }
    }
}

/// Foreign words for a message: short and printable.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests;
