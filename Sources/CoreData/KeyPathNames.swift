// The name of a property behind a Swift key path, where Foundation on Linux has none.
import CairnStack

extension AnyKeyPath {
  /// The key path in the form of key-value coding: `"name"` for `\Item.name`.
  ///
  /// Known for properties of classes in targets that use the build plugin `CairnModelPlugin`, and for
  /// what was told to `PropertyNames`; nil for others. In files that import CoreData this one is
  /// meant, not the standard library's of the same name, which on Linux is always nil.
  public var _kvcKeyPathString: String? { PropertyNames.name(of: self) }
}
