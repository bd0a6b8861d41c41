// What it costs that a model names a class which the program does not have.

@_spi(Generated) import Cairn
import Foundation

extension Cases {
  var classCases: [(name: String, run: () throws -> CaseResult)] {
    [("class missing", insertWithoutClass)]
  }

  /// Objects of an entity whose class is not there, to objects of one that names none.
  private func insertWithoutClass() throws -> CaseResult {
    func contestant(_ name: String, _ className: String) -> Contestant {
      Contestant(name: name) {
        let file = workspace.newFile()
        defer { workspace.remove(file) }
        let stack = try CairnStack(file, history: false, className: className)
        let context = stack.newContext()
        let seconds = try context.performAndWait {
          try timed {
            for number in 0..<rows {
              let object = EntityDescription.insertNewObject(forEntityName: "Item", into: context)
              object.setStoredValue(.integer(Int64(number)), at: ItemSlot.number)
            }
            try context.save()
          }
        }
        try stack.close()
        return seconds
      }
    }
    return try measure(
      "inserts with a class that is not there, to those without", units: rows, rounds: rounds,
      must: 1.2, aim: 1.05, base: "plain",
      [contestant("plain", "NSManagedObject"), contestant("Cairn", "Elsewhere.Missing")])
  }
}
