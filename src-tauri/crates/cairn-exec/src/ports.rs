//! Ports that a process tree listens on, as Linux tells it.
//!
//! Owns: joining the socket table with the descriptors of processes. Must never know: commands, or why it is asked.
//! Nothing is watched: it is read when somebody asks.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use cairn_protocol::ListeningPort;

use crate::tree;

/// State of a listening socket in the kernel's tables.
const LISTEN: &str = "0A";

/// The ports that `root`'s descendants listen on, each address and port once.
pub(crate) fn listening(root: i32) -> Vec<ListeningPort> {
    let mut sockets: HashMap<u64, u32> = HashMap::new();
    let own = namespace("self");
    let mut tables: HashSet<PathBuf> = HashSet::new();
    let mut found = BTreeSet::new();
    let processes = tree::descendants(root);
    for process in &processes {
        for inode in sockets_of(process.pid) {
            sockets.entry(inode).or_insert(process.pid.unsigned_abs());
        }
    }
    if sockets.is_empty() {
        return Vec::new();
    }
    for process in &processes {
        let network = namespace(&process.pid.to_string());
        // What listens in a network of its own is reached by nobody outside of it.
        if network != own || !tables.insert(network) {
            continue;
        }
        for file in ["tcp", "tcp6"] {
            let table = std::fs::read_to_string(format!("/proc/{}/net/{file}", process.pid));
            let rows = table.unwrap_or_default();
            found.extend(rows.lines().filter_map(row).filter_map(|(address, port, inode)| {
                Some(ListeningPort {
                    port,
                    address: address.to_string(),
                    pid: *sockets.get(&inode)?,
                })
            }));
        }
    }
    found.into_iter().collect()
}

/// Names the network that a process is in.
fn namespace(process: &str) -> PathBuf {
    std::fs::read_link(format!("/proc/{process}/ns/net")).unwrap_or_default()
}

/// Inodes of the sockets that a process has open.
fn sockets_of(pid: i32) -> Vec<u64> {
    let Ok(folder) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    let inode = |entry: std::fs::DirEntry| {
        let target = std::fs::read_link(entry.path()).ok()?;
        let text = target.to_str()?;
        text.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    folder.flatten().filter_map(inode).collect()
}

/// Address, port and inode of a row of `/proc/net/tcp` or `tcp6` (proc_net_tcp(5)) that listens.
fn row(line: &str) -> Option<(IpAddr, u16, u64)> {
    let mut fields = line.split_ascii_whitespace();
    let local = fields.nth(1)?;
    if fields.nth(1)? != LISTEN {
        return None;
    }
    // After the state: queues, timer, retransmits, user, timeout.
    let inode = fields.nth(5)?.parse().ok()?;
    let (address, port) = local.split_once(':')?;
    Some((address_of(address)?, u16::from_str_radix(port, 16).ok()?, inode))
}

/// The address in a table: words of 32 bits, each printed as a number of this machine.
fn address_of(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let digits = hex.get(at..at + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    match hex.len() {
        8 => Some(IpAddr::V4(Ipv4Addr::from(word(0)?))),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            let bytes: [u8; 16] = words.as_flattened().try_into().ok()?;
            Some(IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn rows_of_both_tables_are_read() {
        let rows = [
            (
                "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1 x",
                Some(("127.0.0.1", 8080, 4242)),
            ),
            (
                "   1: 00000000000000000000000001000000:0BB8 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 77 1",
                Some(("::1", 3000, 77)),
            ),
            (
                "   2: 0100007F:1F90 0100007F:A000 01 00000000:00000000 00:00000000 00000000  1000        0 4243 1 x",
                None,
            ),
            ("  sl  local_address rem_address   st tx_queue", None),
            ("", None),
        ];
        for (line, expected) in rows {
            let expected = expected.map(|(address, port, inode)| (address.parse().unwrap(), port, inode));
            assert_eq!(row(line), expected, "{line}");
        }
    }
}
