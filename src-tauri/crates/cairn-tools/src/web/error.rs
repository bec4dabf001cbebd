//! Why something was not fetched, as sentences that a model can act on.

/// Why something was not fetched.
///
/// The model recovers from all of them: by another address, by another way to what it wants, or by telling the person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// The address is none that is fetched.
    #[error("`{address}` was not fetched: {problem}.")]
    Address {
        /// The address, cut.
        address: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The host is, or resolves to, a machine that is not on the public internet.
    #[error(
        "{host} was not connected to: it is {what}, and only addresses of the public internet are fetched. For a server \
         on this machine or network use `shell`, which asks."
    )]
    Barred {
        /// The host.
        host: String,
        /// What it is.
        what: String,
    },
    /// There is no such host, or the resolver is out of reach.
    #[error("There is no host {host}, or no resolver can be reached. Check the name.")]
    NoHost {
        /// The host.
        host: String,
    },
    /// No connection stood, or it broke, each time.
    #[error("{host} could not be reached in {tries} attempts: {reason}. Try later, or another source.")]
    Unreachable {
        /// The host.
        host: String,
        /// The last reason.
        reason: String,
        /// Attempts made.
        tries: u32,
    },
    /// What answers does not speak HTTP as it should.
    #[error("{host} answered with what cannot be read: {reason}. Trying again will not help.")]
    Garbage {
        /// The host.
        host: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The limit of the whole call struck.
    #[error("{host} did not answer in whole within {seconds} s. Try later, or another source.")]
    TooSlow {
        /// The host.
        host: String,
        /// The limit.
        seconds: u64,
    },
    /// Nothing came for too long.
    #[error("{host} fell silent for {seconds} s, so it was given up. Try later, or another source.")]
    Silent {
        /// The host.
        host: String,
        /// How long.
        seconds: u64,
    },
    /// The body is too large.
    #[error(
        "What {host} sends is larger than {} MB (unpacked), so it was given up. Ask for a part of it, or another source.",
        most / 1_000_000
    )]
    TooLarge {
        /// The host.
        host: String,
        /// The limit, bytes.
        most: usize,
    },
    /// It was sent from one address to the next too often.
    #[error("{host} sends from one address to the next more than {most} times, so it was given up.")]
    Redirects {
        /// The host.
        host: String,
        /// The limit.
        most: u32,
    },
    /// No connection can be prepared at all; the person recovers.
    #[error("No connection can be prepared on this machine: {reason}. Tell the user.")]
    Unprepared {
        /// Why.
        reason: String,
    },
}
