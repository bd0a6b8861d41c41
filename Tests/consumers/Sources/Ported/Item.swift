// A class as it is written on Apple's platforms, after `cairnctl model port`.

import CoreData
import Foundation
import PortedKit

#if canImport(ObjectiveC)
  @objc(CDItem)
#endif
public class Item: NSManagedObject {
  @NSManaged public var added: Date?
  @NSManaged var amount: NSDecimalNumber?
  @NSManaged var blob: Data?
  @NSManaged var count: Int64
  @NSManaged var created: Date
  @NSManaged var grade: NSNumber?
  @NSManaged var id: UUID?
  @NSManaged var isDone: Bool
  @NSManaged var link: URL?
  @NSManaged public var name: String!
  @NSManaged var rank: Int32, tiny: Int16
  @NSManaged var ratio: Float
  @NSManaged var seen: TimeInterval
  @NSManaged var size: Double
  @NSManaged private(set) var state: State
  @NSManaged var tags: [String]?

  @NSManaged var folder: Folder?
  @NSManaged var next: Item?
  @NSManaged var previous: Item?
  @NSManaged var friends: Set<Item>
  @NSManaged var shelves: NSSet?

  @NSManaged private var primitiveCreated: Date?
  @NSManaged fileprivate var primitiveName: String?

  var title: String { name ?? "untitled" }

  public override func awakeFromInsert() {
    super.awakeFromInsert()
    primitiveCreated = Date(timeIntervalSinceReferenceDate: 1)
  }

  func grow() { state = .old }
  func whisper() -> String? { primitiveName }
}

extension Item {
  #if canImport(ObjectiveC)
    @objc
  #endif
  var initial: String { String(title.prefix(1)) }
  #if canImport(ObjectiveC)
    @objc
  #endif
  public var points: Int {
    get { Int(rank) }
    set { rank = Int32(newValue) }
  }
}

extension Item {
  @nonobjc public class func fetchRequest() -> NSFetchRequest<Item> {
    return NSFetchRequest<Item>(entityName: "Item")
  }
  @NSManaged func addToFriends(_ value: Item)
  @NSManaged func removeFromFriends(_ value: Item)
  @NSManaged func addToFriends(_ values: NSSet)
  @NSManaged func addFriendsObject(_ value: Item)
}
