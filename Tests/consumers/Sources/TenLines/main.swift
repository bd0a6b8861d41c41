// Ten lines that import only Cairn: a model in code, a store in memory, one object.
import Cairn

let note = EntityDescription(
  name: "Note", properties: [AttributeDescription(name: "text", type: .string)])
let model = ManagedObjectModel()
model.entities = [note]
let container = PersistentContainer(name: "TenLines", managedObjectModel: model)
container.persistentStoreDescriptions.first?.type = "InMemory"
container.loadPersistentStores { _, error in if let error { print(error) } }
let context = container.newBackgroundContext()
try context.performAndWait {
  let object = EntityDescription.insertNewObject(forEntityName: "Note", into: context)
  object.setValue("Hello", forKey: "text")
  try context.save()
  print(try context.count(for: FetchRequest<ManagedObject>(entityName: "Note")))
}
