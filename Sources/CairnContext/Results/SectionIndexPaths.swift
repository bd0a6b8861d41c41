import Foundation

// `IndexPath` of two numbers: on Apple's platforms these come from the UI frameworks.

extension IndexPath {
  /// The path of a row in a section.
  public init(row: Int, section: Int) { self.init(indexes: [section, row]) }
  /// The path of an item in a section.
  public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

  /// The first number; 0 when the path has none.
  public var section: Int {
    get { count > 0 ? self[0] : 0 }
    set { self = IndexPath(indexes: [newValue, row]) }
  }
  /// The second number; 0 when the path has none.
  public var row: Int {
    get { count > 1 ? self[1] : 0 }
    set { self = IndexPath(indexes: [section, newValue]) }
  }
  /// The same as ``row``.
  public var item: Int {
    get { row }
    set { row = newValue }
  }
}
