import Foundation

/// The largest length of the files that this process writes (`RLIMIT_FSIZE`). A write beyond it raises `SIGXFSZ`, which ends the
/// process unless it ignores that signal. So each write asks first.
enum FileSizeLimit {
    #if canImport(Darwin)
        private static let resource = RLIMIT_FSIZE
    #else
        private static let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #endif

    /// Whether a file may have this length; if not, sets `errno`.
    static func allows(_ length: some BinaryInteger) -> Bool {
        var limit = rlimit()
        if getrlimit(resource, &limit) != 0 || length <= limit.rlim_cur { return true }
        errno = EFBIG
        return false
    }
}
