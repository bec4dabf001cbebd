//! The ways out. In a line `{US}` is the test's own process; `$OTHER`, `$OWN` and `$HOME` are folders outside.

/// What a layer says about a way out.
#[derive(Clone, Copy)]
pub(crate) enum Claim {
    /// That part refuses it, and the command prints one of these.
    By(&'static str, &'static [&'static str]),
    /// Nothing refuses it, and the card or `doctor` say so.
    Gap,
}

/// One way out.
pub(crate) struct Row {
    pub(crate) what: &'static str,
    pub(crate) line: &'static str,
    pub(crate) bubblewrap: Claim,
    pub(crate) landlock: Claim,
}

use Claim::{By, Gap};

const READ_ONLY: Claim = By("read-only mounts", &["Read-only file system"]);
const RULES: Claim = By("access rules", &["Permission denied"]);
const HIDDEN: Claim = By("mounts that hide", &["Permission denied", "No such file"]);
const FILTER: Claim = By("the filter", &["Operation not permitted"]);
const NO_SOCKET: Claim = By("the filter", &["Permission denied"]);
const MISSING: Claim = By("the filter", &["Function not implemented"]);
const OWN_NETWORK: Claim = By(
    "a network of its own",
    &["Connection refused", "Network is unreachable"],
);
const OWN_PROCESSES: Claim = By("processes of its own", &["No such"]);

/// A write to something that mounts keep, or access rules do.
const fn write(what: &'static str, line: &'static str) -> Row {
    row(what, line, READ_ONLY, RULES)
}

/// A read of something hidden.
const fn read(what: &'static str, line: &'static str) -> Row {
    row(what, line, HIDDEN, RULES)
}

/// A system call that the filter refuses in both.
const fn filtered(what: &'static str, line: &'static str) -> Row {
    row(what, line, FILTER, FILTER)
}

const fn row(what: &'static str, line: &'static str, bubblewrap: Claim, landlock: Claim) -> Row {
    Row {
        what,
        line,
        bubblewrap,
        landlock,
    }
}

pub(crate) const ROWS: &[Row] = &[
    // ---- writes
    write("a new file in the home folder", "echo x > $HOME/new"),
    write("a start-up file", "echo x >> $HOME/.bashrc"),
    write(
        "a program in the person's own folder",
        "cp /bin/true $HOME/.local/bin/ls",
    ),
    write("a program of cargo", "cp /bin/true $HOME/.cargo/bin/cargo"),
    write("settings of cargo", "echo x > $HOME/.cargo/config.toml"),
    write(
        "sources that other projects build",
        "echo x >> $HOME/.cargo/registry/src/crate.rs",
    ),
    write(
        "what starts with the session",
        "echo x > $HOME/.config/autostart/x.desktop",
    ),
    write("another project", "echo x > $OTHER/new"),
    write("a file of another project", "echo x >> $OTHER/file"),
    write("a deletion in another project", "rm $OTHER/file"),
    write("a file moved out of another project", "mv $OTHER/file ."),
    write("Cairn's database", "echo x >> $OWN/data/cairn.db"),
    row(
        "a link in the home folder",
        "ln -s /bin/true $HOME/link",
        READ_ONLY,
        RULES,
    ),
    write(
        "a file cut short by its name",
        "python3 attempt.py truncate $OTHER/file",
    ),
    row(
        "a right given to a file outside",
        "chmod 777 $OTHER/file",
        READ_ONLY,
        Gap,
    ),
    row(
        "a second name for a file outside",
        "ln $HOME/.bashrc second",
        By("mounts", &["cross-device"]),
        By("access rules", &["cross-device", "Permission denied"]),
    ),
    write(
        "a link inside, followed",
        "ln -sf $HOME/.bashrc link; echo x >> link",
    ),
    write(
        "a linked folder inside, followed",
        "ln -sfn $OTHER folder; echo x > folder/new",
    ),
    write("a path with dots", "echo x > sub/../../other/new"),
    row("a hook", "echo x > .git/hooks/pre-commit", READ_ONLY, Gap),
    row(
        "a hook that is there",
        "echo x >> .git/hooks/post-merge",
        READ_ONLY,
        Gap,
    ),
    row(
        "settings of git",
        "git config core.fsmonitor ./x",
        By(
            "read-only mounts",
            &[
                "Device or resource busy",
                "Read-only",
                "could not lock",
                "could not write",
            ],
        ),
        Gap,
    ),
    row(
        "settings of git by another way",
        "echo x >> .git/config",
        READ_ONLY,
        Gap,
    ),
    row(
        "a repository moved away",
        "mv .git moved",
        By("mounts", &["resource busy"]),
        Gap,
    ),
    row(
        "settings of a submodule",
        "echo x >> .git/modules/sub/config",
        READ_ONLY,
        Gap,
    ),
    row(
        "an editor's settings",
        "echo x > .vscode/tasks.json",
        READ_ONLY,
        Gap,
    ),
    row(
        "an editor's settings that are there",
        "echo x >> .vscode/settings.json",
        READ_ONLY,
        Gap,
    ),
    row("an editor's folder replaced", "rm -rf .vscode", READ_ONLY, Gap),
    row(
        "a protected file further down",
        "echo x >> sub/deep/AGENTS.md",
        READ_ONLY,
        Gap,
    ),
    row(
        "a folder around it moved away",
        "mv sub/deep sub/x",
        By("mounts", &["resource busy"]),
        Gap,
    ),
    row(
        "a protected file exchanged with another",
        "echo x > other.md; python3 attempt.py exchange other.md AGENTS.md",
        By("mounts", &["resource busy", "Read-only", "cross-device"]),
        Gap,
    ),
    row(
        "a folder around it exchanged with another",
        "mkdir -p sub/y; python3 attempt.py exchange sub/y sub/deep",
        By("mounts", &["resource busy"]),
        Gap,
    ),
    row(
        "a folder further up moved away",
        "python3 attempt.py rename sub moved",
        By("mounts", &["resource busy"]),
        Gap,
    ),
    row(
        "a second name for a protected file",
        "ln AGENTS.md second.md",
        By("mounts", &["cross-device"]),
        Gap,
    ),
    row(
        "a protected file by a link",
        "ln -sf AGENTS.md by-link; echo x >> by-link",
        READ_ONLY,
        Gap,
    ),
    row(
        "a protected file by the root of a process",
        "echo x >> /proc/self/root$PWD/AGENTS.md",
        READ_ONLY,
        Gap,
    ),
    row(
        "rights of a protected file",
        "chmod 777 AGENTS.md",
        READ_ONLY,
        Gap,
    ),
    row(
        "a program from memory",
        "python3 attempt.py memory $OTHER/new",
        READ_ONLY,
        RULES,
    ),
    row(
        "what the kernel starts on a crash",
        "echo '|/bin/true' > /proc/sys/kernel/core_pattern",
        By(
            "read-only mounts",
            &["Read-only file system", "Permission denied"],
        ),
        RULES,
    ),
    row(
        "a deleted protected file",
        "rm -f AGENTS.md",
        By("mounts", &["resource busy", "Read-only"]),
        Gap,
    ),
    // ---- reads
    read("a private key", "cat $HOME/.ssh/id_ed25519"),
    read("credentials of a cloud", "cat $HOME/.aws/credentials"),
    read("a password file", "cat $HOME/.netrc"),
    read("a browser's passwords", "cat $HOME/.mozilla/logins.json"),
    read(
        "a key by a link inside",
        "ln -sf $HOME/.ssh/id_ed25519 key; cat key",
    ),
    read(
        "a key by the root of a process",
        "cat /proc/self/root$HOME/.ssh/id_ed25519",
    ),
    read(
        "a key by an open folder",
        "cd /proc/self/root && cat ./$HOME/.ssh/id_ed25519",
    ),
    read("Cairn's database", "cat $OWN/data/cairn.db"),
    read("Cairn's keys", "cat $OWN/keys/profile"),
    read(
        "what another session keeps",
        "ls $OWN/projects && cat $OWN/projects/key/permissions.toml",
    ),
    row("a credential file inside", "cat .env", HIDDEN, Gap),
    row(
        "a search over a credential file inside",
        "grep -r CANARY .env",
        HIDDEN,
        Gap,
    ),
    row(
        "rights of a hidden file",
        "chmod 600 .env; cat .env",
        By("mounts that hide", &["Read-only"]),
        Gap,
    ),
    row("a file that a rule bars", "cat plans/secret.txt", HIDDEN, Gap),
    row(
        "a file that a rule bars among installed things",
        "cat node_modules/deep/x.private",
        HIDDEN,
        Gap,
    ),
    row(
        "its folder under another name",
        "python3 attempt.py rename plans opened",
        By("mounts", &["resource busy"]),
        Gap,
    ),
    row(
        "a folder of credentials under another name",
        "python3 attempt.py rename conf/.config conf/opened",
        By("mounts", &["resource busy"]),
        Gap,
    ),
    row(
        "a folder with credentials moved to installed things",
        "python3 attempt.py rename low node_modules/low",
        By("mounts", &["resource busy", "cross-device"]),
        Gap,
    ),
    row(
        "shared memory of other programs",
        "cat /dev/shm/{SHARED}",
        By("devices of its own", &["No such file"]),
        RULES,
    ),
    row(
        "shared memory by its number",
        "python3 attempt.py sysv {MEMORY}",
        By("numbers of its own", &["Invalid argument"]),
        FILTER,
    ),
    row(
        "a queue removed by its number",
        "ipcrm -q {QUEUE}",
        By("numbers of its own", &["invalid id"]),
        By("the filter", &["permission denied"]),
    ),
    row(
        "a semaphore removed by its number",
        "ipcrm -s {SEMAPHORE}",
        By("numbers of its own", &["invalid id"]),
        By("the filter", &["permission denied"]),
    ),
    row(
        "a queue by its name",
        "python3 attempt.py queue {ABSTRACT}",
        By("names of its own", &["No such file"]),
        FILTER,
    ),
    row(
        "other people's temporary files",
        "cat /tmp/{SHARED}",
        By("a temporary folder of its own", &["No such file"]),
        RULES,
    ),
    row(
        "what was handed on",
        "python3 attempt.py handles",
        By("nothing", &["Bad file descriptor"]),
        By("nothing", &["Bad file descriptor"]),
    ),
    row(
        "what stands behind the input",
        "python3 attempt.py input",
        By("nothing", &["Bad file descriptor"]),
        By("nothing", &["Bad file descriptor"]),
    ),
    row(
        "file systems of the user",
        "python3 attempt.py open /dev/fuse",
        By("devices of its own", &["No such file"]),
        By("access rules", &["Permission denied", "No such file"]),
    ),
    row(
        "disks",
        "python3 attempt.py open /dev/kmsg",
        By("devices of its own", &["No such file"]),
        By("access rules", &["Permission denied", "No such file"]),
    ),
    // ---- the network
    row("IPv4", "python3 attempt.py tcp {TCP}", OWN_NETWORK, NO_SOCKET),
    row(
        "IPv6",
        "python3 attempt.py tcp6 {TCP6}",
        By(
            "a network of its own",
            &["Connection refused", "unreachable", "Cannot assign"],
        ),
        NO_SOCKET,
    ),
    row(
        "datagrams",
        "python3 attempt.py udp {UDP}",
        OWN_NETWORK,
        NO_SOCKET,
    ),
    row(
        "packets",
        "python3 attempt.py socket 17 3 0",
        NO_SOCKET,
        NO_SOCKET,
    ),
    row(
        "netlink events",
        "python3 attempt.py socket 16 3 15",
        NO_SOCKET,
        NO_SOCKET,
    ),
    row(
        "netlink audit",
        "python3 attempt.py socket 16 3 9",
        NO_SOCKET,
        NO_SOCKET,
    ),
    row(
        "the host of a virtual machine",
        "python3 attempt.py socket 40 1 0",
        NO_SOCKET,
        NO_SOCKET,
    ),
    row(
        "the kernel's ciphers",
        "python3 attempt.py socket 38 5 0",
        NO_SOCKET,
        NO_SOCKET,
    ),
    row(
        "Bluetooth",
        "python3 attempt.py socket 31 5 0",
        NO_SOCKET,
        NO_SOCKET,
    ),
    row(
        "a bus by its path",
        "python3 attempt.py unix $HOME/bus",
        By("mounts that hide", &["Permission denied", "Connection refused"]),
        NO_SOCKET,
    ),
    row(
        "a bus whose program was in its folder",
        "python3 attempt.py unix $HOME/relative",
        By("mounts that hide", &["Permission denied", "Connection refused"]),
        NO_SOCKET,
    ),
    row(
        "a bus whose path the system tells otherwise",
        "python3 attempt.py unix $HOME/odd",
        By("mounts that hide", &["Permission denied", "Connection refused"]),
        NO_SOCKET,
    ),
    row(
        "a bus by its name",
        "python3 attempt.py abstract {ABSTRACT}",
        OWN_NETWORK,
        NO_SOCKET,
    ),
    row(
        "a screen by its socket",
        "python3 attempt.py unix /tmp/{SHARED}.socket",
        By("a temporary folder of its own", &["No such file"]),
        NO_SOCKET,
    ),
    row(
        "who listens in the project from outside",
        "python3 attempt.py unix editor.socket",
        By("mounts that hide", &["Permission denied", "Connection refused"]),
        NO_SOCKET,
    ),
    row(
        "the same by moving it",
        "mv editor.socket x.socket && python3 attempt.py unix x.socket",
        By("mounts", &["resource busy"]),
        NO_SOCKET_BUT_MOVED,
    ),
    row(
        "sockets of the system",
        "ls /run/user /run/docker.sock /run/dbus",
        By("mounts", &["No such file"]),
        By("access rules", &["Permission denied", "No such file"]),
    ),
    // ---- other processes
    filtered("ptrace", "python3 attempt.py call ptrace 16 {US} 0 0"),
    filtered(
        "reading another's memory",
        "python3 attempt.py call process_vm_readv {US} 0 0 0 0 0",
    ),
    filtered(
        "writing another's memory",
        "python3 attempt.py call process_vm_writev {US} 0 0 0 0 0",
    ),
    filtered(
        "taking another's descriptor",
        "python3 attempt.py call pidfd_getfd 3 0 0",
    ),
    row(
        "a signal to us",
        "python3 attempt.py kill {US} 15",
        OWN_PROCESSES,
        FILTER_OF_RULES,
    ),
    row(
        "a signal by a handle",
        "python3 attempt.py pidkill {US} 15",
        OWN_PROCESSES,
        FILTER_OF_RULES,
    ),
    row(
        "limits of ours",
        "prlimit --pid {US} --nofile",
        OWN_PROCESSES,
        FILTER,
    ),
    row(
        "a question whether we live",
        "python3 attempt.py kill {US} 0",
        OWN_PROCESSES,
        FILTER_OF_RULES,
    ),
    row("our memory", "head -c1 /proc/{US}/mem", OWN_PROCESSES, RULES),
    row("our environment", "cat /proc/{US}/environ", OWN_PROCESSES, RULES),
    row("our root", "ls /proc/{US}/root/", OWN_PROCESSES, RULES),
    row("our folder", "ls /proc/{US}/cwd/", OWN_PROCESSES, RULES),
    row(
        "our descriptors",
        "readlink -v /proc/{US}/fd/1",
        OWN_PROCESSES,
        RULES,
    ),
    // ---- privileges and the kernel
    row(
        "becoming root",
        "python3 attempt.py setuid",
        By("ids that are not there", &["Invalid argument"]),
        By("no privileges", &["Operation not permitted"]),
    ),
    row(
        "programs that make root",
        "grep -x 'NoNewPrivs:.1' /proc/self/status | tr 1 X",
        By("no new privileges", &["X"]),
        By("no new privileges", &["X"]),
    ),
    filtered("a namespace", "python3 attempt.py call unshare 0x10000000"),
    filtered(
        "a namespace with a new process",
        "python3 attempt.py call clone 0x10000011 0 0 0 0",
    ),
    filtered("a namespace by a program", "unshare --user --map-root-user true"),
    filtered("another's namespace", "python3 attempt.py call setns 3 0"),
    filtered("a mount", "python3 attempt.py call mount 0 0 0 0 0"),
    filtered("a mount of the new kind", "python3 attempt.py call fsopen 0 0"),
    filtered("a tree of mounts", "python3 attempt.py call open_tree 0 0 0"),
    filtered("another root", "python3 attempt.py call chroot 0"),
    filtered("bpf", "python3 attempt.py call bpf 0 0 0"),
    filtered("keys of the session", "python3 attempt.py call keyctl 0 0 0"),
    filtered(
        "counters of the kernel",
        "python3 attempt.py call perf_event_open 0 0 0 0 0",
    ),
    filtered("typing into a terminal", "python3 attempt.py typing"),
    row(
        "page faults",
        "python3 attempt.py call userfaultfd 0",
        MISSING,
        MISSING,
    ),
    row(
        "io_uring",
        "python3 attempt.py call io_uring_setup 1 0",
        MISSING,
        MISSING,
    ),
    row("clone3", "python3 attempt.py call clone3 0 0", MISSING, MISSING),
    row("x32", "python3 attempt.py x32", MISSING, MISSING),
];

/// What is reached although the network was approved: only that.
pub(crate) const WITH_NETWORK: &[Row] = &[
    row(
        "a bus by its path",
        "python3 attempt.py unix $HOME/bus",
        By("mounts that hide", &["Permission denied", "Connection refused"]),
        NO_SOCKET,
    ),
    row(
        "a bus by its name",
        "python3 attempt.py abstract {ABSTRACT}",
        By("scopes of the rules", &["Operation not permitted"]),
        NO_SOCKET,
    ),
    row(
        "a screen by its socket",
        "python3 attempt.py unix /tmp/{SHARED}.socket",
        By("a temporary folder of its own", &["No such file"]),
        NO_SOCKET,
    ),
    row(
        "who listens in the project from outside",
        "python3 attempt.py unix editor.socket",
        By("mounts that hide", &["Permission denied", "Connection refused"]),
        NO_SOCKET,
    ),
    row(
        "packets",
        "python3 attempt.py socket 17 3 0",
        NO_SOCKET,
        NO_SOCKET,
    ),
    row(
        "netlink events",
        "python3 attempt.py socket 16 3 15",
        NO_SOCKET,
        NO_SOCKET,
    ),
    row(
        "raw datagrams",
        "python3 attempt.py socket 2 3 255",
        FILTER,
        FILTER,
    ),
    write("a file of another project", "echo x >> $OTHER/file"),
    read("a private key", "cat $HOME/.ssh/id_ed25519"),
    row("our memory", "head -c1 /proc/{US}/mem", OWN_PROCESSES, RULES),
];

/// It can be moved there, and nothing connects.
const NO_SOCKET_BUT_MOVED: Claim = By("the filter", &["Permission denied"]);

const FILTER_OF_RULES: Claim = By("scopes of the rules", &["Operation not permitted"]);
