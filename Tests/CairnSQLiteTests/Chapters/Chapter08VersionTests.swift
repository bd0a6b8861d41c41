import CairnModel
import Foundation
import Testing

@testable import CairnSQLite

/// The format, chapter 8: version hashes, digest and checksum.
///
/// The expected values were computed from the formulas of the chapter by another program. Those of
/// Apple's own files are shown by ``StoredVersionTests`` and `CompiledPackageTests`, what is no part of
/// a hash by `VersionRuleTests`.
@Suite struct Chapter08VersionTests {
  /// Employee inherits from the abstract Person and has reports (ordered), friends (its own
  /// inverse), notes (no inverse, 2 to 5), derived attributes and constraints.
  private func model() throws -> ManagedObjectModel {
    let (person, employee) = (
      EntityDescription(name: "Person"), EntityDescription(name: "Employee")
    )
    let note = EntityDescription(name: "Note")
    person.isAbstract = true
    person.subentities = [employee]
    let scratch = FormatModel.attribute("scratch", .string)
    scratch.isTransient = true
    person.properties = [
      AttributeDescription(name: "name", type: .string, isOptional: false),
      FormatModel.attribute("photo", .binaryData, external: true), scratch,
    ]
    let zip = FormatModel.attribute("Zip", .integer16)
    zip.versionHashModifier = "v2"
    let friends = SampleModel.toMany("friends", employee)
    friends.inverseRelationship = friends
    let notes = SampleModel.toMany("notes", note)
    (notes.minCount, notes.maxCount) = (2, 5)
    employee.properties = [
      FormatModel.attribute("email", .string, kept: true), zip, friends, notes,
      FormatModel.derived("count", .integer64, "count:(reports)"),
      FormatModel.derived("bossMail", .string, "boss.email"),
    ]
    FormatModel.link(
      employee, SampleModel.toOne("boss", employee), employee,
      SampleModel.toMany("reports", employee, isOrdered: true))
    for relationship in employee.relationshipsByName.values { relationship.isOptional = true }
    employee.uniquenessConstraints = [["name", "email"], ["email"]]
    note.properties = [FormatModel.attribute("text", .string)]
    note.versionHashModifier = "n2"
    return try FormatModel.make(person, employee, note)
  }

  @Test func entityHashesAreThoseOfTheFormulas() throws {
    let hashes = try model().entityVersionHashesByName.mapValues { $0.base64EncodedString() }
    #expect(hashes["Person"] == "BJrTFkhzAxmIv9wUq99PCLPxTg0txLNWDlykFda3g/w=")
    #expect(hashes["Employee"] == "Jcpet/fzHpvUxqMCQLN0sLQnST3nNHcLMZL//BjabUo=")
    #expect(hashes["Note"] == "1C0Q9OuUbjSDlK/hBF0ENGgKNjK29Ebw8S2ARuWkqAw=")
  }

  @Test func digestAndChecksumAreThoseOfTheFormulas() throws {
    let model = try model()
    #expect(
      model.versionHashesDigest
        == "5goNO6qNeLUeDIH2HhF+o4SYEktyh5dB8uELFOd1k50EhS0mMnNSJBqIHO3OHdNAc+HWDa2bS1/8LH0m5aPP3g=="
    )
    #expect(model.versionChecksum == "OO7prnQFhH+qfq3aVKbif67xDYQWqrl/iFZZlaY4Zr4=")
  }

  @Test func aNewStoreRecordsThem() throws {
    let fixture = try StoreFixture(model: try model())
    let metadata = fixture.store.metadata ?? [:]
    #expect(
      metadata["NSStoreModelVersionHashesDigest"] as? String == fixture.model.versionHashesDigest)
    #expect(metadata["NSStoreModelVersionChecksumKey"] as? String == fixture.model.versionChecksum)
  }
}
