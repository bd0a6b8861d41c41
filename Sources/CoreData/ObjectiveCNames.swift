// Names of Objective-C and Foundation that sources for Core Data use and Linux lacks.
import CairnStack
import Foundation

/// The name of a method, for sort descriptors and custom comparisons.
public typealias Selector = SelectorName

/// Runs the body; on Linux there is no pool to be emptied, an object goes with the last reference to it.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
  try body()
}

extension AnyKeyPath {
  /// The key path in the form of key-value coding: `"name"` for `\Item.name`.
  ///
  /// Known for properties of classes in targets that use the build plugin `CairnModelPlugin`, and for
  /// what was told to `PropertyNames`; nil for others. In files that import CoreData this one is
  /// meant, not the standard library's of the same name, which on Linux is always nil.
  public var _kvcKeyPathString: String? { PropertyNames.name(of: self) }
}
