use super::*;

/// Runs the filter as the kernel does; the argument that decides is given for each index.
fn verdict(program: &[Instruction], machine: u32, number: u32, arguments: [u32; 3]) -> u32 {
    let mut accumulator = 0;
    let mut at = 0;
    loop {
        let step = program[at];
        let taken = match step.code {
            LOAD => {
                accumulator = match step.k {
                    NUMBER => number,
                    MACHINE => machine,
                    offset => arguments[(0..3).find(|&index| argument(index) == offset).unwrap() as usize],
                };
                0
            }
            EQUAL if accumulator == step.k => step.jt,
            AT_LEAST if accumulator >= step.k => step.jt,
            ANY_BIT if accumulator & step.k != 0 => step.jt,
            EQUAL | AT_LEAST | ANY_BIT => step.jf,
            RETURN => return step.k,
            code => panic!("{code:#x} is no step"),
        };
        at += 1 + usize::from(taken);
    }
}

const BOTH: Doors = Doors {
    internet: Door::Open,
    local: Door::Open,
    neighbours: Door::Open,
};
const NEITHER: Doors = Doors {
    internet: Door::Shut,
    local: Door::Shut,
    neighbours: Door::Shut,
};

fn of(doors: Doors, number: libc::c_long, arguments: [u32; 3]) -> u32 {
    verdict(
        &filter(doors).unwrap(),
        ARCHITECTURE.unwrap(),
        number as u32,
        arguments,
    )
}

#[test]
fn every_listed_call_is_refused_and_every_other_passes() {
    for number in 0..600 {
        let expected = if REFUSED.contains(&number) || SHARED.contains(&number) {
            error(libc::EPERM)
        } else if MISSING.contains(&number) {
            error(libc::ENOSYS)
        } else if [libc::SYS_socket, libc::SYS_socketpair].contains(&number) {
            error(libc::EACCES)
        } else {
            ALLOW
        };
        assert_eq!(of(NEITHER, number, [0; 3]), expected, "call {number}");
    }
}

#[test]
fn calls_of_another_machine_end_the_program() {
    let program = filter(BOTH).unwrap();
    for machine in [0, 0x4000_0003, 0x4000_0028] {
        assert_eq!(verdict(&program, machine, libc::SYS_read as u32, [0; 3]), KILL);
    }
    if cfg!(target_arch = "x86_64") {
        let x32 = X32 + libc::SYS_socket as u32;
        assert_eq!(
            verdict(&program, ARCHITECTURE.unwrap(), x32, [2, 1, 0]),
            error(libc::ENOSYS)
        );
    }
}

#[test]
fn sockets_open_by_family_and_nothing_else_does() {
    let netlink = libc::AF_NETLINK as u32;
    for family in 0..64 {
        let internet = [libc::AF_INET, libc::AF_INET6].contains(&(family as i32)) || family == netlink;
        let local = family == libc::AF_UNIX as u32;
        for (doors, open) in [
            (BOTH, internet || local),
            (NEITHER, false),
            (
                Doors {
                    local: Door::Shut,
                    ..BOTH
                },
                internet,
            ),
            (
                Doors {
                    internet: Door::Shut,
                    ..BOTH
                },
                local,
            ),
        ] {
            let expected = if open { ALLOW } else { error(libc::EACCES) };
            assert_eq!(
                of(doors, libc::SYS_socket, [family, 1, 0]),
                expected,
                "{family} {doors:?}"
            );
        }
        let pair = if local { ALLOW } else { error(libc::EACCES) };
        assert_eq!(of(NEITHER, libc::SYS_socketpair, [family, 1, 0]), pair);
    }
    for protocol in 1..32 {
        assert_eq!(
            of(BOTH, libc::SYS_socket, [netlink, 3, protocol]),
            error(libc::EACCES)
        );
    }
}

#[test]
fn no_namespace_and_no_typing() {
    let threads = (libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_SIGHAND) as u32;
    for bit in 0..32 {
        let flag = 1_u32 << bit;
        let expected = if NAMESPACES & flag == 0 {
            ALLOW
        } else {
            error(libc::EPERM)
        };
        for call in [libc::SYS_clone, libc::SYS_unshare] {
            assert_eq!(of(BOTH, call, [flag | threads, 0, 0]), expected, "{flag:#x}");
        }
    }
    for flag in [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ] {
        assert_ne!(NAMESPACES & flag as u32, 0);
    }
    for request in TYPING {
        assert_eq!(of(BOTH, libc::SYS_ioctl, [0, *request, 0]), error(libc::EPERM));
    }
    assert_eq!(of(BOTH, libc::SYS_ioctl, [0, 0x5401, 0]), ALLOW);
}

#[test]
fn neighbours_are_out_of_reach_where_no_namespace_keeps_them_away() {
    for number in SHARED {
        assert_eq!(of(BOTH, *number, [0; 3]), ALLOW, "call {number}");
    }
    let prlimit = libc::SYS_prlimit64;
    assert_eq!(of(NEITHER, prlimit, [0, 7, 0]), ALLOW);
    for process in [1, 4_711, u32::MAX] {
        assert_eq!(of(NEITHER, prlimit, [process, 7, 0]), error(libc::EPERM));
        assert_eq!(of(BOTH, prlimit, [process, 7, 0]), ALLOW);
    }
}

#[test]
fn the_bytes_are_what_the_kernel_reads() {
    let program = filter(BOTH).unwrap();
    let bytes = bytes(&program);
    assert_eq!(bytes.len(), program.len() * size_of::<Instruction>());
    assert_eq!(bytes[..2], LOAD.to_ne_bytes());
    assert_eq!(bytes[4..8], MACHINE.to_ne_bytes());
}
