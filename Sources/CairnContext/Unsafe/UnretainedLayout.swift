import CairnModel

/// An entity's layout, without a reference that is counted: an object is made, read and freed without
/// touching the layout's count, which all threads share.
///
/// The entity keeps its layout, and the ID of each object that has one of these keeps the entity.
@usableFromInline struct UnretainedLayout {
  @usableFromInline let reference: Unmanaged<EntityLayout>

  init(_ layout: EntityLayout) { reference = .passUnretained(layout) }

  /// Calls a closure with the layout, whose count is left as it is.
  @inlinable @inline(__always)
  func with<Result>(_ body: (EntityLayout) -> Result) -> Result {
    reference._withUnsafeGuaranteedRef(body)
  }

  /// The layout with a reference of the caller's own.
  var retained: EntityLayout { reference.takeUnretainedValue() }

  func refers(to layout: EntityLayout) -> Bool {
    reference.toOpaque() == Unmanaged.passUnretained(layout).toOpaque()
  }
}
