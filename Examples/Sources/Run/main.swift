// A model in code: an entity `Run` with a validation predicate built from expressions, and a
// localization dictionary. The class keeps an attribute in an instance variable of its own.

import Checks
import CoreData
import Foundation

class Run: NSManagedObject {
  @NSManaged var date: Date?
  @NSManaged var primitiveDate: Date?
  private var processIDStorage: Int32 = 0

  var processID: Int32 {
    get {
      willAccessValue(forKey: "processID")
      let value = processIDStorage
      didAccessValue(forKey: "processID")
      return value
    }
    set {
      willChangeValue(forKey: "processID")
      processIDStorage = newValue
      setPrimitiveValue(NSNumber(value: newValue), forKey: "processID")
      didChangeValue(forKey: "processID")
    }
  }

  override func setNilValueForKey(_ key: String) {
    if key == "processID" {
      processID = 0
    } else {
      super.setNilValueForKey(key)
    }
  }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    // Not a change that could be undone.
    primitiveDate = Date()
  }

  override func awakeFromFetch() {
    super.awakeFromFetch()
    processIDStorage = (primitiveValue(forKey: "processID") as? NSNumber)?.int32Value ?? 0
  }
}

func managedObjectModel() -> NSManagedObjectModel {
  let model = NSManagedObjectModel()
  let runEntity = NSEntityDescription()
  runEntity.name = "Run"
  runEntity.managedObjectClassName = NSStringFromClass(Run.self)
  // The entity is in the model before it has properties.
  model.entities = [runEntity]

  let dateAttribute = NSAttributeDescription()
  dateAttribute.name = "date"
  dateAttribute.attributeType = .dateAttributeType
  dateAttribute.isOptional = false

  let idAttribute = NSAttributeDescription()
  idAttribute.name = "processID"
  idAttribute.attributeType = .integer32AttributeType
  idAttribute.isOptional = false
  idAttribute.defaultValue = NSNumber(value: -1)

  // The process ID must be greater than zero.
  let lhs = NSExpression.expressionForEvaluatedObject()
  let rhs = NSExpression(forConstantValue: NSNumber(value: 0))
  let validationPredicate = NSComparisonPredicate(
    leftExpression: lhs, rightExpression: rhs, modifier: .direct, type: .greaterThan, options: [])
  idAttribute.setValidationPredicates(
    [validationPredicate], withValidationWarnings: ["Process ID < 1"])

  runEntity.properties = [dateAttribute, idAttribute]
  model.localizationDictionary = [
    "Property/date/Entity/Run": "Date",
    "Property/processID/Entity/Run": "Process ID",
    "ErrorString/Process ID < 1": "Process ID must not be less than 1",
  ]
  return model
}

let folder = scratchFolder()
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: managedObjectModel())
let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator
do {
  try coordinator.addPersistentStore(
    ofType: NSXMLStoreType, configurationName: nil, at: folder.appendingPathComponent("Run.cdcli"),
    options: nil)
} catch {
  fatalError("Store configuration failure: \(error.localizedDescription)")
}

let run = Run(context: context)
check(run.date != nil, "awakeFromInsert has set the date")
do {
  try context.save()
  check(false, "the default of processID is refused")
} catch {
  let error = error as NSError
  check(error.domain == NSCocoaErrorDomain, "domain: \(error.domain)")
  check(error.code == NSManagedObjectValidationError, "code: \(error.code)")
  check(error.userInfo[NSValidationKeyErrorKey] as? String == "processID", "the key is named")
  check(
    error.localizedDescription == "Process ID must not be less than 1",
    "the text of the localization dictionary: \(error.localizedDescription)")
}
run.processID = ProcessInfo.processInfo.processIdentifier
do {
  try context.save()
} catch {
  fatalError("Error while saving: \(error)")
}

context.reset()
let request = NSFetchRequest<Run>(entityName: "Run")
request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
do {
  let runs = try context.fetch(request)
  check(runs.count == 1, "one run")
  check(runs[0].processID == ProcessInfo.processInfo.processIdentifier, "its process")
  print("On \(runs[0].date!) as process ID \(runs[0].processID)")
} catch {
  fatalError("\(error)")
}
finish("The model built in code works.", removing: folder)
