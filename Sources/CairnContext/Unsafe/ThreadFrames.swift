import CRuntime

/// Objects that belong to the calling thread for as long as a call runs, innermost first.
///
/// A list of frames on the thread's stack; its head is in the thread's slot. Only the thread itself
/// reads the list. There is one slot, so all of the list are of one class: ``HeldQueues``.
struct ThreadFrames<Object: AnyObject> {
  private var object: Unmanaged<Object>
  private var outer: UnsafeMutableRawPointer?

  /// A number that tells threads apart while they run; never 0.
  @inline(__always)
  static var currentThread: UInt { UInt(bitPattern: cairn_thread_slot_address()) }

  /// Runs the block with an object in the list.
  // The frame outlives its place in the list: the block ends before it does, and what the block adds
  // is gone by then. The caller keeps the object alive.
  static func adding<Result>(
    _ object: Object, _ block: () throws -> Result
  ) rethrows -> Result {
    let head = cairn_thread_slot_address()
    var frame = ThreadFrames(object: .passUnretained(object), outer: head.pointee)
    return try withUnsafeMutablePointer(to: &frame) { pointer in
      head.pointee = UnsafeMutableRawPointer(pointer)
      defer { head.pointee = pointer.pointee.outer }
      return try block()
    }
  }

  /// The same with several objects.
  static func adding(_ objects: ArraySlice<Object>, _ block: () -> Void) {
    guard let object = objects.last else { return block() }
    adding(object) { adding(objects.dropLast(), block) }
  }

  /// All of them.
  static var current: [Object] {
    var objects: [Object] = []
    var next = cairn_thread_slot_address().pointee
    while let pointer = next {
      let frame = pointer.assumingMemoryBound(to: ThreadFrames<Object>.self).pointee
      objects.append(frame.object.takeUnretainedValue())
      next = frame.outer
    }
    return objects
  }
}
