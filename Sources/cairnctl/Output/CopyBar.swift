// What a person sees of a store that is being copied.
import CairnControl

/// A bar while bytes go over, and the seconds of a step that tells nothing until it ends; on a terminal only.
final class CopyBar {
  private let bar: ProgressBar
  private var fraction: Double?
  private var words: String

  /// - Parameter work: What is shown until the daemon says what it does.
  init(_ client: ControlClient, of work: String, isShown: Bool) {
    bar = ProgressBar(isShown: isShown)
    words = work
    client.whileWaiting = { [weak self] waited in
      guard let self, let waited else { return }
      // What came less than a tenth of a second after the last line was not drawn; this draws it.
      bar.show(fraction, "\(words), \(waited.components.seconds) s")
    }
  }

  func show(_ progress: StoreCopyProgress) {
    (fraction, words) = (nil, Self.words(progress.step))
    if let total = progress.total, total > 0 {
      fraction = Double(progress.done) / Double(total)
      words += ", \(Readable.bytes(progress.done)) of \(Readable.bytes(total))"
    }
    bar.show(fraction, words)
  }

  func clear() { bar.clear() }

  private static func words(_ step: StoreCopyProgress.Step) -> String {
    switch step {
    case .copying: "copying"
    case .checking: "checking the copy"
    case .keeping: "keeping what is there"
    case .replacing: "replacing it"
    }
  }
}
