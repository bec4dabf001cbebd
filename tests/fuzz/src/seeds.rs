//! Inputs to begin with: small, one for each thing that a target can do.
//!
//! Owns: the inputs. Kept as code, because most of them are pictures and pages that no editor would show well.

use std::path::PathBuf;

/// Names the folder that [`write`] fills.
const FOLDER: &str = "CAIRN_FUZZ_SEEDS";

/// Writes inputs into the folder that `CAIRN_FUZZ_SEEDS` names; does nothing where it names none.
pub fn write(inputs: &[Vec<u8>]) {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    for (number, input) in inputs.iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{number}")), input)
            .expect("the folder of seeds can be written");
    }
}

/// For the edit matcher: what is chosen, then the file.
pub fn edit() -> Vec<Vec<u8>> {
    let files: &[&[u8]] = &[
        b"one\ntwo\none\n",
        b"a\r\nb\r\nc\nd\r\n",
        b"\r\r\n\n\ra\r",
        b"x\xff\xfey\n\x80z\n",
        "äöü €\u{1f600}\u{feff}\n".as_bytes(),
        b"\x99\xe9 caf\xe9\n",
        b"",
    ];
    let mut seeds = Vec::new();
    for file in files {
        for form in 0..8_u8 {
            for kind in [0_u8, 1, 2, 5, 9, 13, 16] {
                // One edit, its five choices, the form, the length of the text, the text.
                seeds.push([&[0, 0, kind, form, 3, 1, 2, form, 3][..], b"n\nw", file].concat());
            }
        }
    }
    seeds
}

/// For pages.
pub fn html() -> Vec<Vec<u8>> {
    [
        "<html><head><title>T</title><base href='/b/'></head><body><main><h1>A</h1><p>one <b>two</b></main>",
        "<p>a<p>b<ul><li>c<li>d<ol><li>e</ol></ul><blockquote>q</blockquote><hr>",
        "<table><thead><tr><th>a<th colspan=3>b|c</thead><tbody><tr><td>1<br>x<td><b>2</b></table>",
        "<table><tr><td><table><tr><td>in</table><td><h2>h</h2></table>",
        "<pre><code class='language-rust'>fn a() {\n  b_c(*d);\n}</code></pre><code>x|`y</code>",
        "<a href='javascript:x'>j</a><a href='../x?y=(1)#z'>k</a><a href='mailto:a@b.example'>m</a>",
        "<img src='/p%20(1).png' alt='A [cat]'><img alt=b src='data:x'><img alt=c>",
        "<svg><path/><title>x</title><p>out</svg><math><annotation>n</annotation></math>",
        "<div hidden>h<div>i</div></div><span aria-hidden=true>j</span><p style='opacity:0;'>k",
        "<!-- c --><!DOCTYPE html><![CDATA[x]]><?p?><script><!-- </script> --></script><style>p{}</style>",
        "&amp;&lt;&#0;&#xD800;&#x1F600;&nbsp;&notin;&#xe000;\u{e001}\u{202e}",
        "<nav>n</nav><article>a</article><aside>s</aside><button>b<p>c<select><option>o<textarea>t",
        "<dl><dt>a<dd>b</dl><details><summary>s</summary>d</details><figure><figcaption>f</figure>",
        "\\*_~<>[]()![](x) | ``` # 1. - +",
    ]
    .iter()
    .map(|page| page.as_bytes().to_vec())
    .collect()
}

/// For pictures: the smallest of each kind, and what claims too much.
pub fn picture() -> Vec<Vec<u8>> {
    let png = |width: u32, height: u32| {
        let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
        // A stored block of one black row: zlib head, last block of 2 bytes, their checksum.
        let row = [0x78, 1, 1, 2, 0, 0xFD, 0xFF, 0, 0, 0, 2, 0, 1];
        [
            b"\x89PNG\r\n\x1a\n".to_vec(),
            chunk(b"IHDR", &header),
            chunk(b"tEXt", b"a\0b"),
            chunk(b"IDAT", &row),
            chunk(b"IEND", b""),
        ]
        .concat()
    };
    let gif = |width: u16, height: u16| {
        [
            b"GIF89a".as_slice(),
            &width.to_le_bytes(),
            &height.to_le_bytes(),
            &[
                0x80, 0, 0, 0, 0, 0, 255, 255, 255, b',', 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, b';',
            ],
        ]
        .concat()
    };
    let jpeg = |width: u16, height: u16| {
        let mut bytes = b"\xFF\xD8\xFF\xE0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xFF\xDB\0\x43\0".to_vec();
        bytes.extend([1; 64]);
        bytes.extend(b"\xFF\xC0\0\x0B\x08");
        bytes.extend(height.to_be_bytes());
        bytes.extend(width.to_be_bytes());
        bytes.extend(b"\x01\x01\x11\0\xFF\xC4\0\x14\0\x01");
        bytes.extend([0; 15]);
        bytes.extend(b"\0\xFF\xC4\0\x14\x10\x01");
        bytes.extend([0; 15]);
        bytes.extend(b"\0\xFF\xDA\0\x08\x01\x01\0\0\x3F\0\x3F\xFF\xD9");
        bytes
    };
    let webp = |kind: &[u8; 4], body: &[u8]| {
        let size = u32::try_from(body.len()).expect("short");
        [
            b"RIFF",
            &(size + 12).to_le_bytes()[..],
            b"WEBP",
            kind,
            &size.to_le_bytes(),
            body,
        ]
        .concat()
    };
    let wide = [0, 0, 0, 0, 0x5F, 0xEA, 0, 0x5F, 0xEA, 0];
    vec![
        png(1, 1),
        png(60_000, 60_000),
        png(0, 1),
        gif(1, 1),
        gif(60_000, 60_000),
        jpeg(1, 1),
        jpeg(60_000, 60_000),
        webp(b"VP8L", &[0x2F, 0, 0, 0, 0, 0x88, 0x88, 0x08]),
        webp(b"VP8X", &wide),
        webp(
            b"VP8 ",
            b"\x30\x01\0\x9D\x01\x2A\x01\0\x01\0\x02\0\x34\x25\xA4\0\x03\x70\0\xFE\xFB\xFD\x50\0",
        ),
        b"<?xml version='1.0'?><!-- a --><svg xmlns='x'/>".to_vec(),
        b"RIFF\0\0\0\0WEBP".to_vec(),
    ]
}

/// A part of a PNG file with its checksum.
fn chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let content = [kind, body].concat();
    let mut sum = u32::MAX;
    for byte in &content {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = sum >> 1 ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 };
        }
    }
    let length = u32::try_from(body.len()).expect("short");
    [&length.to_be_bytes()[..], &content, &(!sum).to_be_bytes()].concat()
}

/// For arguments.
pub fn arguments() -> Vec<Vec<u8>> {
    [
        "",
        "{}",
        "null",
        "[]",
        r#"{"path":"a","limit":"12","offset":-3,"share":0.5,"all":"true","output":"files"}"#,
        r#"{"path":"a","names":["b"],"edits":[{"old_string":"c","new_string":"d"},"e"]}"#,
        r#"{"path":"a","limit":12.0,"share":1e308,"offset":9223372036854775807}"#,
        r#"{"pathh":"a","limit":null,"zzz":[[[]]]}"#,
        r#""{\"path\":\"a\"}""#,
        r#"{"path":"a\u0000\ud83d\ude00\ud800","edits":"[]"}"#,
        r#"{"path": "a"#,
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect()
}

/// For streams: the length of a piece, then the bytes.
pub fn stream() -> Vec<Vec<u8>> {
    let delta = |inner: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{{inner}}}}}]}}\n\n");
    [
        delta(r#""content":"Hi <think>hm</think> there""#) + "data: [DONE]\n\n",
        delta(r#""reasoning_content":"hm""#)
            + &delta(r#""content":"\ud83d""#)
            + &delta(r#""content":"\ude00""#)
            + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
        delta(r#""tool_calls":[{"index":0,"id":"taken","function":{"name":"read_file","arguments":"{\"a\""}}]"#)
            + &delta(r#""tool_calls":[{"index":0,"function":{"arguments":":1}"}},{"index":1,"id":"","function":{"name":"x"}}]"#)
            + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3}}\n\n",
        "data: {\"error\":{\"message\":\"no\",\"code\":429}}\n\n".to_owned(),
        "event: error\r\ndata: x\r\n\r\nerror: {\"a\":1}\rid: 1\rretry: 2\r: c\rstray\r\r".to_owned(),
        "data: {\"prompt_progress\":{\"total\":9,\"processed\":3},\"choices\":[]}\n\ndata: a\ndata: b\n\n".to_owned(),
        delta(r#""content":[{"type":"thinking","thinking":[{"text":"a"}]},{"type":"text","text":"b"}]"#),
        "\u{feff}data: {\"choices\":[{\"message\":{\"content\":\"w\"},\"finish_reason\":\"length\"}]}".to_owned(),
    ]
    .iter()
    .map(|text| [&[7], text.as_bytes()].concat())
    .collect()
}

/// For streams of Anthropic Messages.
pub fn messages() -> Vec<Vec<u8>> {
    let start = |block: &str| {
        format!("data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{block}}}\n\n")
    };
    let delta =
        |delta: &str| format!("data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}\n\n");
    let stop = "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n";
    let end = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":2}}\n\ndata: {\"type\":\"message_stop\"}\n\n";
    [
        start(r#"{"type":"thinking","thinking":"","signature":""}"#)
            + &delta(r#"{"type":"thinking_delta","thinking":"hm"}"#)
            + &delta(r#"{"type":"signature_delta","signature":"s"}"#)
            + stop
            + end,
        start(r#"{"type":"tool_use","id":"taken","name":"read_file","input":{}}"#)
            + &delta(r#"{"type":"input_json_delta","partial_json":"{\"a\":"}"#)
            + &delta(r#"{"type":"input_json_delta","partial_json":"1}"}"#)
            + stop
            + end,
        start(r#"{"type":"redacted_thinking","data":"x"}"#)
            + stop
            + &start(r#"{"type":"text","text":"<tool_call>"}"#)
            + &delta(r#"{"type":"text_delta","text":"{\"name\":\"read_file\",\"arguments\":{}}</tool_call>"}"#)
            + end,
        "event: ping\ndata: {\"type\":\"ping\"}\n\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n".to_owned(),
        r#"data: {"type":"message","content":[{"type":"text","text":"a"},{"type":"tool_use","name":"f","input":{"x":1}}],"stop_reason":"max_tokens","usage":{"input_tokens":1,"cache_read_input_tokens":2}}"#.to_owned(),
    ]
    .iter()
    .map(|text| [&[7], text.as_bytes()].concat())
    .collect()
}

/// For streams of OpenAI Responses.
pub fn responses() -> Vec<Vec<u8>> {
    let frame = |kind: &str, rest: &str| format!("data: {{\"type\":\"response.{kind}\",{rest}}}\n\n");
    let call = r#"{"type":"function_call","call_id":"taken","name":"read_file","arguments":""}"#;
    [
        frame("output_item.added", r#""output_index":0,"item":{"type":"reasoning"}"#)
            + &frame("reasoning_summary_text.delta", r#""output_index":0,"delta":"hm""#)
            + &frame("reasoning_summary_part.added", r#""output_index":0"#)
            + &frame("output_item.done", r#""output_index":0,"item":{"type":"reasoning","summary":[],"encrypted_content":"x"}"#)
            + &frame("output_text.delta", r#""output_index":1,"delta":"yes""#)
            + &frame("completed", r#""response":{"object":"response","status":"completed","usage":{"input_tokens":3}}"#),
        frame("output_item.added", &format!("\"output_index\":0,\"item\":{call}"))
            + &frame("function_call_arguments.delta", r#""output_index":0,"delta":"{}""#)
            + &frame("function_call_arguments.done", r#""output_index":0,"arguments":"{}""#)
            + &frame("incomplete", r#""response":{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}"#),
        frame("completed", &format!("\"response\":{{\"object\":\"response\",\"status\":\"completed\",\"output\":[{call}]}}")),
        frame("failed", r#""response":{"error":{"code":"rate_limit_exceeded","message":"x"}}"#),
        "data: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"x\"}\n\n".to_owned(),
    ]
    .iter()
    .map(|text| [&[7], text.as_bytes()].concat())
    .collect()
}

/// For streams of Ollama's own protocol.
pub fn ollama() -> Vec<Vec<u8>> {
    [
        r#"{"message":{"role":"assistant","content":"a","thinking":"hm"},"done":false}"#,
        r#"{"message":{"content":"","tool_calls":[{"function":{"name":"read_file","arguments":{"a":1}}},{"id":"taken","function":{"name":"x","arguments":"{}"}}]}}"#,
        r#"{"message":{"content":"```json\n{\"name\":\"read_file\",\"arguments\":{}}\n```"},"done":true,"done_reason":"stop"}"#,
        r#"{"message":{"content":""},"done":true,"done_reason":"length","prompt_eval_count":3,"eval_count":1}"#,
        r#"{"error":"x"}"#,
        "data: {\"message\":{\"content\":\"\\ud83d\"}}\r\n\r\n: c\nno json",
    ]
    .iter()
    .map(|text| [&[7], text.as_bytes(), b"\n"].concat())
    .collect()
}

/// For command lines.
pub fn line() -> Vec<Vec<u8>> {
    [
        "ls -la",
        "cd a && FOO=1 npm run 'b c' | tee \"d $(e `f`)\" > g 2>&1 &",
        "git -C x push --force; git stash drop || git checkout -- .",
        "sudo -u a env -i LD_PRELOAD=b sh -c 'rm -rf /' # c",
        "cat <<'E'\ngit clean -fdx\nE\n",
        "cat <<E\n$(git reset --hard)\nE\n",
        "for i in 1 2; do (echo $((i+1)); { a; }); done; case x in y) z;; esac; f() { g; }",
        "xargs -0 find . -delete -exec rm {} +; eval \"$(printf 'git reset --hard')\"",
        "a\\\nb $'\\x41' \"c\\\"d\" ${e:-$(f)} <(g) >(h) [[ i ]] !j ~k",
        "'",
        "echo \u{202e}\u{200b}\0",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect()
}
