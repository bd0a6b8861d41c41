import CRuntime

/// The queues that the calling thread holds, innermost first.
///
/// A list of frames on the thread's stack; its head is in the thread's slot. Only the thread itself
/// reads the list.
struct HeldQueues {
  private var queue: Unmanaged<ContextQueue>
  private var outer: UnsafeMutableRawPointer?

  /// A number that tells threads apart while they run; never 0.
  @inline(__always)
  static var currentThread: UInt { UInt(bitPattern: cairn_thread_slot_address()) }

  /// Runs the block with a queue in the list.
  // The frame outlives its place in the list: the block ends before it does, and what the block adds
  // is gone by then. The caller keeps the queue alive.
  static func adding<Result>(
    _ queue: ContextQueue, _ block: () throws -> Result
  ) rethrows -> Result {
    let head = cairn_thread_slot_address()
    var frame = HeldQueues(queue: .passUnretained(queue), outer: head.pointee)
    return try withUnsafeMutablePointer(to: &frame) { pointer in
      head.pointee = UnsafeMutableRawPointer(pointer)
      defer { head.pointee = pointer.pointee.outer }
      return try block()
    }
  }

  /// The same with several queues.
  static func adding(_ queues: ArraySlice<ContextQueue>, _ block: () -> Void) {
    guard let queue = queues.last else { return block() }
    adding(queue) { adding(queues.dropLast(), block) }
  }

  /// All of them.
  static var current: [ContextQueue] {
    var queues: [ContextQueue] = []
    var next = cairn_thread_slot_address().pointee
    while let pointer = next {
      let frame = pointer.assumingMemoryBound(to: HeldQueues.self).pointee
      queues.append(frame.queue.takeUnretainedValue())
      next = frame.outer
    }
    return queues
  }
}
