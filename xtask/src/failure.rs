//! What a command ends with when it does not succeed.

use std::fmt;
use std::io;

/// Why a command failed; decides the exit code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is wrong: exit code 2.
    Usage(String),
    /// Something did not work: exit code 1.
    Failed(String),
    /// Something did not work and has said so already: exit code 1.
    Reported,
}

/// What every step of a command returns.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// A failure with a message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// A wrong command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// The code that the process ends with.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) | Self::Reported => 1,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Failed(message) => f.write_str(message),
            Self::Reported => Ok(()),
        }
    }
}

/// Says what was being done when an error came up.
pub(crate) trait Context<T> {
    /// Puts `doing()` before the error's own text.
    fn context(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Failure::Failed(format!("{}: {error}", doing())))
    }
}
