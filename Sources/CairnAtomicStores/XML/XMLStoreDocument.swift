import Foundation

/// An XML store as its file says it, without a model: all values are text.
///
/// ```
/// <database>
///     <databaseInfo>
///         <version>134481920</version>
///         <UUID>…</UUID>
///         <nextObjectID>118</nextObjectID>          the highest number in use
///         <metadata> property list </metadata>
///     </databaseInfo>
///     <object type="ENTITY" id="z102">
///         <attribute name="lowercased" type="string">text</attribute>
///         <relationship name="lowercased" type="1/1" destination="ENTITY" idrefs="z103">
///         </relationship>
///     </object>
/// </database>
/// ```
struct XMLStoreDocument: Equatable {
  /// The version of the format that Core Data writes.
  static let version: Int64 = 134_481_920

  struct Attribute: Equatable {
    var name: String
    var type: String
    var text: String
    /// Where it begins in the file.
    var place = 0
  }

  struct Relationship: Equatable {
    var name: String
    /// `min/max`.
    var type: String
    var destination: String
    /// The numbers of the objects, in their order.
    var members: [Int64]
    var place = 0
  }

  struct Object: Equatable {
    var entity: String
    /// The number after the `z`.
    var number: Int64
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
    var place = 0
  }

  var uuid = ""
  var highestNumber: Int64 = 0
  /// A property list without type and UUID of the store.
  var metadata: [String: Any] = [:]
  var objects: [Object] = []

  static func == (a: XMLStoreDocument, b: XMLStoreDocument) -> Bool {
    a.uuid == b.uuid && a.highestNumber == b.highestNumber && a.objects == b.objects
      && (a.metadata as NSDictionary).isEqual(b.metadata as NSDictionary)
  }
}
