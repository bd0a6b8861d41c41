// A custom class with primitive accessors: a derived value is computed once and thrown away when what
// it is made of changes.

import Checks
import CoreData
import Foundation

public class Event: NSManagedObject {
  @NSManaged public var timeStamp: Date?
  @NSManaged public var title: String?
  @NSManaged private var primitiveTimeStamp: Date?
  @NSManaged private var primitiveSectionIdentifier: String?

  /// The month, as year times a thousand and month; transient.
  public var sectionIdentifier: String? {
    willAccessValue(forKey: "sectionIdentifier")
    var identifier = primitiveSectionIdentifier
    didAccessValue(forKey: "sectionIdentifier")
    if identifier == nil, let date = timeStamp {
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = TimeZone(secondsFromGMT: 0)!
      let parts = calendar.dateComponents([.year, .month], from: date)
      identifier = "\(parts.year! * 1000 + parts.month!)"
      primitiveSectionIdentifier = identifier
    }
    return identifier
  }

  /// Changes the time, and with it the section.
  public func move(to date: Date) {
    willChangeValue(forKey: "timeStamp")
    primitiveTimeStamp = date
    didChangeValue(forKey: "timeStamp")
    primitiveSectionIdentifier = nil
  }
}

func eventModel() -> NSManagedObjectModel {
  func attribute(_ name: String, _ type: NSAttributeType, transient: Bool = false)
    -> NSAttributeDescription
  {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    attribute.isTransient = transient
    return attribute
  }
  let event = NSEntityDescription()
  event.name = "Event"
  event.managedObjectClassName = NSStringFromClass(Event.self)
  event.properties = [
    attribute("timeStamp", .dateAttributeType), attribute("title", .stringAttributeType),
    attribute("sectionIdentifier", .stringAttributeType, transient: true),
  ]
  let model = NSManagedObjectModel()
  model.entities = [event]
  return model
}

let container = NSPersistentContainer(name: "Events", managedObjectModel: eventModel())
let folder = scratchFolder()
container.persistentStoreDescriptions.first?.url = folder.appendingPathComponent("Events.sqlite")
container.loadPersistentStores { _, error in
  if let error { fatalError("\(error)") }
}
let context = container.viewContext

let event = Event(context: context)
event.title = "Launch"
event.timeStamp = Date(timeIntervalSince1970: 0)
check(event.sectionIdentifier == "1970001", "computed: \(event.sectionIdentifier ?? "nil")")
do { try context.save() } catch { fatalError("\(error)") }
check(!event.hasChanges, "saved")

event.move(to: Date(timeIntervalSince1970: 40 * 86400))
check(event.hasChanges, "a primitive accessor between the announcements is a change")
check(event.changedValues()["timeStamp"] != nil, "of that property")
check(event.sectionIdentifier == "1970002", "computed anew")
do { try context.save() } catch { fatalError("\(error)") }

context.reset()
let request = NSFetchRequest<Event>(entityName: "Event")
request.sortDescriptors = [NSSortDescriptor(keyPath: \Event.timeStamp, ascending: true)]
request.predicate = NSPredicate(
  format: "%K > %@", #"timeStamp"#, Date(timeIntervalSince1970: 1) as NSDate)
do {
  let events = try context.fetch(request)
  check(events.map(\.sectionIdentifier) == ["1970002"], "read again")
} catch {
  fatalError("\(error)")
}
finish("Primitive accessors work.", removing: folder)
