/// An object or a number as the pointer that SQLite hands back to a callback.
///
/// The caller who registers a callback sees to it that the object lives for as long as SQLite may call
/// it, or hands SQLite a reference of its own together with the function that releases it.
enum CallbackContext {
  /// A pointer that keeps nothing alive.
  @inline(__always)
  static func unretained(_ object: AnyObject) -> UnsafeMutableRawPointer {
    Unmanaged.passUnretained(object).toOpaque()
  }

  /// The object that a pointer of ``unretained(_:)`` or ``retained(_:)`` was made of; nil for none.
  ///
  /// The class is not checked: it is the one that was registered beside the callback.
  @inline(__always)
  static func object<Object: AnyObject>(
    _ pointer: UnsafeMutableRawPointer?, as type: Object.Type = Object.self
  ) -> Object? {
    pointer.map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
  }

  // MARK: References of SQLite's own

  /// A pointer with a reference, which SQLite gives back by ``release``.
  static func retained(_ object: AnyObject) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(object).toOpaque()
  }

  /// Gives back the reference of ``retained(_:)``.
  static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
    if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
  }

  // MARK: Numbers

  /// A number in the place of a pointer; nothing is ever read there.
  static func number(_ number: Int) -> UnsafeMutableRawPointer? {
    UnsafeMutableRawPointer(bitPattern: number)
  }

  static func number(in pointer: UnsafeMutableRawPointer?) -> Int { Int(bitPattern: pointer) }
}
