// What the stores of the self-test hold.
import Foundation

/// A small model with each kind of thing that sync treats in a way of its own.
enum DrillModel {
  /// Writes the model's package and returns its path.
  static func write(into folder: String) throws -> String {
    let path = "\(folder)/Drill.xcdatamodeld"
    try FileManager.default.createDirectory(
      atPath: "\(path)/Drill.xcdatamodel", withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/Drill.xcdatamodel/contents"))
    return path
  }

  private static let text = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Note" representedClassName="Note" syncable="YES">
        <attribute name="name" attributeType="String"/>
        <attribute name="text" optional="YES" attributeType="String"/>
        <attribute name="count" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>
        <relationship name="group" optional="YES" maxCount="1" deletionRule="Nullify" \
    destinationEntity="Group" inverseName="notes" inverseEntity="Group"/>
        <relationship name="related" optional="YES" toMany="YES" deletionRule="Nullify" \
    destinationEntity="Note" inverseName="relatedTo" inverseEntity="Note"/>
        <relationship name="relatedTo" optional="YES" toMany="YES" deletionRule="Nullify" \
    destinationEntity="Note" inverseName="related" inverseEntity="Note"/>
        <uniquenessConstraints>
          <uniquenessConstraint><constraint value="name"/></uniquenessConstraint>
        </uniquenessConstraints>
      </entity>
      <entity name="Group" representedClassName="Group" syncable="YES">
        <attribute name="name" attributeType="String"/>
        <relationship name="notes" optional="YES" toMany="YES" deletionRule="Nullify" \
    destinationEntity="Note" inverseName="group" inverseEntity="Note"/>
        <uniquenessConstraints>
          <uniquenessConstraint><constraint value="name"/></uniquenessConstraint>
        </uniquenessConstraints>
      </entity>
    </model>
    """
}
