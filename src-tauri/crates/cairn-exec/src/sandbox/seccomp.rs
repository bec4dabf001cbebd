//! The filter of system calls: what no command of a project needs and what would lead around the walls.
//!
//! Owns: the list, and the filter as a program for the kernel (seccomp(2)). Must never know: files, or which layer
//! applies it. Written by hand, because it has to refuse the x32 calls, which have numbers of their own.

use libc::sock_filter as Instruction;

/// What leads to somebody else, and whether it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Doors {
    /// IPv4, IPv6, and the questions about interfaces and routes.
    pub(super) internet: Door,
    /// Doors by path or name of this machine. Pairs of connected ones can always be made.
    pub(super) local: Door,
    /// Memory, queues and semaphores that are shared by a number or a name, and limits of other processes: to be shut
    /// where no namespace keeps those outside away.
    pub(super) neighbours: Door,
}

/// Open or shut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    Open,
    Shut,
}

/// What the kernel calls this machine (`AUDIT_ARCH_*`); none where the filter is not known to fit.
pub(super) const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xC000_003E)
} else if cfg!(target_arch = "aarch64") {
    Some(0xC000_00B7)
} else {
    None
};

/// Numbers from here on are x32 calls on `x86_64`.
const X32: u32 = 0x4000_0000;

/// Flags of `clone` and `unshare` that make namespaces: user, mount, pid, net, ipc, uts, cgroup and time.
const NAMESPACES: u32 =
    0x1000_0000 | 0x0002_0000 | 0x2000_0000 | 0x4000_0000 | 0x0800_0000 | 0x0400_0000 | 0x0200_0000;

/// Looking into or changing other processes, mounts, keys, the kernel itself.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_vhangup,
];

/// What is shared by a number or a name, with whoever else has it. The private kind goes with it: a number that was made
/// outside can be used without ever asking for it.
const SHARED: &[libc::c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Told to be missing: programs then do without, and `clone3` hides its flags from a filter.
const MISSING: &[libc::c_long] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
];

/// Requests that put characters into a terminal as if they were typed there.
const TYPING: &[u32] = &[0x5412, 0x541C]; // TIOCSTI, TIOCLINUX

/// Offsets in what the filter looks at: the number, the architecture, the low halves of the arguments.
const NUMBER: u32 = 0;
const MACHINE: u32 = 4;
const fn argument(index: u32) -> u32 {
    let low = if cfg!(target_endian = "little") { 0 } else { 4 };
    16 + index * 8 + low
}

const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const ANY_BIT: u16 = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;
const fn error(number: i32) -> u32 {
    0x0005_0000 | number as u32
}

/// The filter; none where it is not known to fit the machine.
pub(super) fn filter(doors: Doors) -> Option<Vec<Instruction>> {
    let mut program = vec![
        load(MACHINE),
        jump(EQUAL, ARCHITECTURE?, 1, 0),
        answer(KILL),
        load(NUMBER),
    ];
    if cfg!(target_arch = "x86_64") {
        program.extend([jump(AT_LEAST, X32, 0, 1), answer(error(libc::ENOSYS))]);
    }
    for &number in REFUSED {
        program.extend(case(number, vec![answer(error(libc::EPERM))]));
    }
    if doors.neighbours == Door::Shut {
        for &number in SHARED {
            program.extend(case(number, vec![answer(error(libc::EPERM))]));
        }
        // Its own limits are those of process 0; with a limit of another's a program can end it.
        let own = vec![
            load(argument(0)),
            jump(EQUAL, 0, 0, 1),
            answer(ALLOW),
            answer(error(libc::EPERM)),
        ];
        program.extend(case(libc::SYS_prlimit64, own));
    }
    for &number in MISSING {
        program.extend(case(number, vec![answer(error(libc::ENOSYS))]));
    }
    let namespaces = vec![
        load(argument(0)),
        jump(ANY_BIT, NAMESPACES, 0, 1),
        answer(error(libc::EPERM)),
        answer(ALLOW),
    ];
    program.extend(case(libc::SYS_clone, namespaces.clone()));
    program.extend(case(libc::SYS_unshare, namespaces));
    let mut typing = vec![load(argument(1))];
    for &request in TYPING {
        typing.extend([jump(EQUAL, request, 0, 1), answer(error(libc::EPERM))]);
    }
    typing.push(answer(ALLOW));
    program.extend(case(libc::SYS_ioctl, typing));
    let pair = vec![
        load(argument(0)),
        jump(EQUAL, libc::AF_UNIX as u32, 0, 1),
        answer(ALLOW),
        answer(error(libc::EACCES)),
    ];
    program.extend(case(libc::SYS_socketpair, pair));
    program.extend(case(libc::SYS_socket, socket(doors)));
    program.push(answer(ALLOW));
    Some(program)
}

/// What becomes of a new socket, by its family. Those not named are refused: some of them belong to no namespace.
fn socket(doors: Doors) -> Vec<Instruction> {
    let mut steps = vec![load(argument(0))];
    let mut open = Vec::new();
    if doors.local == Door::Open {
        open.push(libc::AF_UNIX);
    }
    if doors.internet == Door::Open {
        open.extend([libc::AF_INET, libc::AF_INET6]);
    }
    for family in open {
        steps.extend([jump(EQUAL, family as u32, 0, 1), answer(ALLOW)]);
    }
    if doors.internet == Door::Open {
        // Of netlink only routes and interfaces (protocol 0), which name look-ups ask for.
        steps.extend([
            jump(EQUAL, libc::AF_NETLINK as u32, 0, 3),
            load(argument(2)),
            jump(EQUAL, 0, 0, 1),
            answer(ALLOW),
        ]);
    }
    steps.push(answer(error(libc::EACCES)));
    steps
}

/// Steps for one call. They have to end in an answer on every way.
fn case(number: libc::c_long, steps: Vec<Instruction>) -> Vec<Instruction> {
    let mut whole = vec![jump(EQUAL, number as u32, 0, steps.len() as u8)];
    whole.extend(steps);
    whole
}

fn load(offset: u32) -> Instruction {
    jump(LOAD, offset, 0, 0)
}

fn answer(value: u32) -> Instruction {
    jump(RETURN, value, 0, 0)
}

fn jump(code: u16, k: u32, jt: u8, jf: u8) -> Instruction {
    Instruction { code, jt, jf, k }
}

/// The filter as bubblewrap reads it from a file.
pub(super) fn bytes(filter: &[Instruction]) -> Vec<u8> {
    filter
        .iter()
        .flat_map(|step| {
            let jumps = [step.jt, step.jf];
            let code = step.code.to_ne_bytes();
            code.into_iter().chain(jumps).chain(step.k.to_ne_bytes())
        })
        .collect()
}

#[cfg(test)]
mod tests;
