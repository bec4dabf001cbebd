//! Which walls stand on this machine: a harmless command is put behind them and tries to get out. SPEC P12.
//!
//! Owns: the trial and what is told about it. Must never know: what the walls are for. Nothing is concluded from
//! versions: what works is what held.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{Confinement, Layer, Network, landlock};
use crate::leftovers::Mark;
use crate::processes::HelperProgram;
use crate::{oneshot, sys};

/// How long the whole trial may take by the clock.
const LIMIT: Duration = Duration::from_secs(5);

/// Where the program is looked for: the system's folders only, so that nothing that a person can write takes part.
const PROGRAMS: &[&str] = &["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/// Which walls hold here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// What builds them; none where nothing works.
    pub layer: Option<Layer>,
    /// What these walls do not keep.
    pub gaps: Vec<Gap>,
    /// Why better ones do not stand, one sentence each.
    pub why_not: Vec<String>,
}

/// What walls do not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gap {
    /// Protected files inside writable folders can be written, and credential files there read.
    InsideWritable,
    /// Rights, owners and times of files outside can be changed, though not their content.
    Attributes,
    /// Signals reach other processes of the person's.
    Signals,
}

impl Walls {
    /// None, and why.
    pub(crate) fn none(why: String) -> Self {
        Self {
            layer: None,
            gaps: Vec::new(),
            why_not: vec![why],
        }
    }
}

/// Tries them out in a helper. Blocks, at most 5 s.
pub(crate) fn try_out(helper: &HelperProgram) -> Walls {
    match oneshot::ask(helper, "walls", &[], LIMIT, &CancellationToken::new()) {
        Ok((_, answer)) => oneshot::parse::<Walls>(&answer).map_or_else(
            || Walls::none("the trial of the sandbox ended without an answer".to_owned()),
            |(walls, _)| walls,
        ),
        Err(error) => Walls::none(format!("the sandbox could not be tried out: {error:?}")),
    }
}

/// The role: tries one layer after the other and tells the first that held.
pub(crate) fn main() -> ExitCode {
    let walls = trial();
    if oneshot::answer(&walls, &[]).is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn trial() -> Walls {
    let ground = match Ground::new() {
        Ok(ground) => ground,
        Err(error) => return Walls::none(format!("no folder to try the sandbox in could be made: {error}")),
    };
    let mut why_not = Vec::new();
    #[cfg(target_os = "macos")]
    match ground.holds(Layer::Seatbelt) {
        Ok(()) => {
            return Walls {
                layer: Some(Layer::Seatbelt),
                gaps: Vec::new(),
                why_not,
            };
        }
        Err(why) => why_not.push(format!("Seatbelt does not work here: {why}")),
    }
    let bwrap = PROGRAMS.iter().map(PathBuf::from).find(|file| file.is_file());
    match bwrap {
        Some(bwrap) => match ground.holds(Layer::Bubblewrap(bwrap.clone())) {
            Ok(()) => {
                return Walls {
                    layer: Some(Layer::Bubblewrap(bwrap)),
                    gaps: Vec::new(),
                    why_not,
                };
            }
            Err(why) => why_not.push(format!("{} does not work here: {why}", bwrap.display())),
        },
        None => why_not.push("bubblewrap is not installed".to_owned()),
    }
    match ground.holds(Layer::Landlock) {
        Ok(()) => {
            let mut gaps = vec![Gap::InsideWritable, Gap::Attributes];
            if sys::landlock_version() < landlock::SCOPES {
                gaps.push(Gap::Signals);
            }
            Walls {
                layer: Some(Layer::Landlock),
                gaps,
                why_not,
            }
        }
        Err(why) => {
            why_not.push(format!("Landlock does not work here: {why}"));
            Walls {
                layer: None,
                gaps: Vec::new(),
                why_not,
            }
        }
    }
}

/// Goes through what the walls claim; prints the first claim that does not hold.
///
/// `$1` is the folder that may be written, `$2` what lies beside it, `$3` what the walls are made of.
const ATTEMPT: &str = r#"
work=$1 beside=$2 keeps=$3
try() { "$@" 2>/dev/null; }
try eval 'true > "$work/made"' || { echo 'the folder to work in cannot be written'; exit 1; }
try eval 'true > "$TMPDIR/made"' || { echo 'the temporary folder cannot be written'; exit 1; }
try eval 'true > /dev/null' || { echo '/dev/null cannot be written'; exit 1; }
try eval 'true > "$beside/made"'
if try eval 'read -r x < "$beside/secret/key"'; then echo 'a hidden file was read'; exit 1; fi
if [ "$keeps" != rules ]; then
  if try eval 'true > "$work/kept"'; then echo 'a kept file was written'; exit 1; fi
  if try eval 'read -r x < "$work/hidden"'; then echo 'a hidden file inside was read'; exit 1; fi
fi
if [ "$keeps" = namespaces ]; then
  others=0
  while read -r name rest; do case $name in lo:|Inter-*|face) ;; *) others=1 ;; esac; done < /proc/self/net/dev
  [ $others = 0 ] || { echo 'the network is still there'; exit 1; }
fi
if [ "$keeps" != profile ]; then
  filtered=no privileged=yes
  while read -r name value; do
    case $name in Seccomp:) filtered=$value ;; NoNewPrivs:) [ "$value" = 1 ] && privileged=no ;; esac
  done < /proc/self/status
  [ "$filtered" = 2 ] || { echo 'system calls are not filtered'; exit 1; }
  [ $privileged = no ] || { echo 'privileges can be gained'; exit 1; }
fi
echo held
"#;

/// Folders to try it in; gone with the value.
struct Ground {
    folder: PathBuf,
}

impl Ground {
    fn new() -> std::io::Result<Self> {
        // A name that nobody can take beforehand.
        let name = format!("cairn-walls-{}", Mark::fresh()?.text());
        let folder = std::env::temp_dir().canonicalize()?.join(name);
        let make = |folder: &Path| fs::DirBuilder::new().mode(0o700).create(folder);
        make(&folder)?;
        let ground = Self { folder };
        for name in ["work", "temporary", "secret"] {
            make(&ground.folder.join(name))?;
        }
        for name in ["work/kept", "work/hidden", "secret/key", "blank"] {
            fs::write(ground.folder.join(name), "x\n")?;
        }
        fs::set_permissions(ground.folder.join("blank"), fs::Permissions::from_mode(0o0))?;
        Ok(ground)
    }

    /// Whether these walls keep what they claim.
    fn holds(&self, layer: Layer) -> Result<(), String> {
        let at = |name: &str| self.folder.join(name);
        let (made_of, temporary) = match layer {
            Layer::Bubblewrap(_) => ("namespaces", PathBuf::from("/tmp")),
            Layer::Landlock => ("rules", at("temporary")),
            #[cfg(target_os = "macos")]
            Layer::Seatbelt => ("profile", at("temporary")),
        };
        let walls = Confinement {
            layer,
            writable: vec![at("work")],
            kept: vec![at("work/kept")],
            hidden: vec![at("work/hidden"), at("secret")],
            temporary: at("temporary"),
            blank: at("blank"),
            network: Network::Off,
        };
        let arguments = [
            "-c".into(),
            ATTEMPT.into(),
            "sh".into(),
            at("work").into(),
            self.folder.clone().into(),
            made_of.into(),
        ];
        let printed = self.run(&walls, arguments.into(), &temporary);
        match printed {
            // Behind the walls something else may stand in that place.
            Ok(_) if at("made").exists() => {
                fs::remove_file(at("made")).map_err(|error| error.to_string())?;
                Err("a file outside was written".to_owned())
            }
            Ok(printed) if printed.trim() == "held" => Ok(()),
            Ok(printed) => Err(printed
                .lines()
                .next()
                .unwrap_or("it ended at once")
                .trim()
                .to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn run(
        &self,
        walls: &Confinement,
        arguments: Vec<std::ffi::OsString>,
        temporary: &Path,
    ) -> std::io::Result<String> {
        let (mut read, write) = std::io::pipe()?;
        let behind = super::command(walls, "/bin/sh".into(), arguments, &self.folder.join("work"))?;
        let (mut command, entry) = (behind.command, behind.entry);
        command
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", temporary)
            .current_dir(self.folder.join("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::from(write.try_clone()?))
            .stderr(Stdio::from(write));
        sys::detach(&mut command, Signal::KILL);
        sys::enter(&mut command, entry);
        let mut child = command.spawn()?;
        // The ends for the child are held by the command.
        drop(command);
        let mut printed = String::new();
        read.read_to_string(&mut printed)?;
        child.wait()?;
        std::io::stdout().flush()?;
        Ok(printed)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            tracing::debug!(%error, "a folder of the trial was not removed");
        }
    }
}
