//! The scripted model server as a process: `scripted-provider SCRIPT.json [--port N]`. Prints its port on one line,
//! then serves until it is ended. Steered over HTTP as `cairn_testkit::provider` tells.

use std::io::Write as _;

use anyhow::{Context, bail};
use cairn_testkit::provider::{Script, ScriptedServer};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut file = None;
    let mut port = 0;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--port" => {
                let number = arguments.next().context("--port needs a number")?;
                port = number.parse().context("--port needs a number")?;
            }
            _ if file.is_none() => file = Some(argument),
            _ => bail!("usage: scripted-provider SCRIPT.json [--port N]"),
        }
    }
    let script = match file {
        Some(file) => {
            let text = std::fs::read_to_string(&file).with_context(|| format!("reading {file}"))?;
            serde_json::from_str(&text).with_context(|| format!("{file} is no script"))?
        }
        None => Script::default(),
    };
    let server = ScriptedServer::start_on(script, port)
        .await
        .context("no loopback port")?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", server.port())?;
    out.flush()?;
    std::future::pending::<()>().await;
    Ok(())
}
