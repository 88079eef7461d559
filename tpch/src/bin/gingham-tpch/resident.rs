//! The most memory that this process has had at one time, as the system counts it.

/// Begins to count anew, where the system can.
pub(crate) fn reset() {
    // Linux: "5" sets the peak to what is resident now. Elsewhere the peak stays the one since the start.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The peak since the start or the last [`reset`], in MiB; `None` where the system does not say.
pub(crate) fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib.div_ceil(1024))
}
