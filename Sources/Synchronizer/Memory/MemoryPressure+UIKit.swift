#if canImport(Darwin) && canImport(UIKit) && !os(watchOS)
    import UIKit

    extension MemoryPressure {
        /// UIKit reports when the app itself comes near its limit. The dispatch source may report only the whole system.
        func watchApp() {
            _ = NotificationCenter.default.addObserver(
                forName: UIApplication.didReceiveMemoryWarningNotification, object: nil, queue: nil
            ) { [self] _ in
                // UIKit posts it on the main thread.
                DispatchQueue.global(qos: .utility).async { self.report() }
            }
        }
    }
#elseif canImport(Darwin)
    extension MemoryPressure {
        /// A Mac and a Watch have no such notification.
        func watchApp() {}
    }
#endif
