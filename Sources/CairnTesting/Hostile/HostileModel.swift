// A model with every kind of property, for calls that try to do harm.

package enum HostileModel {
  /// What is in the `model` element of the document.
  package static let contents = """
    <entity name="Thing" representedClassName="Thing" isAbstract="YES" syncable="YES">
      <attribute name="name" optional="YES" attributeType="String"/>
    </entity>
    <entity name="Item" representedClassName="Item" parentEntity="Thing" syncable="YES">
      <attribute name="i16" optional="YES" attributeType="Integer 16" minValueString="-5"/>
      <attribute name="i32" optional="YES" attributeType="Integer 32"/>
      <attribute name="i64" optional="YES" attributeType="Integer 64"/>
      <attribute name="dec" optional="YES" attributeType="Decimal"/>
      <attribute name="dbl" optional="YES" attributeType="Double"/>
      <attribute name="flt" optional="YES" attributeType="Float"/>
      <attribute name="flag" optional="YES" attributeType="Boolean"/>
      <attribute name="date" optional="YES" attributeType="Date"/>
      <attribute name="data" optional="YES" attributeType="Binary"/>
      <attribute name="uuid" optional="YES" attributeType="UUID"/>
      <attribute name="uri" optional="YES" attributeType="URI"/>
      <attribute name="code" optional="YES" attributeType="String" maxValueString="30"
        regularExpressionString="[a-z]*"/>
      <attribute name="temp" optional="YES" transient="YES" attributeType="String"/>
      <relationship name="box" optional="YES" maxCount="1" deletionRule="Nullify"
        destinationEntity="Box" inverseName="items" inverseEntity="Box"/>
      <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify"
        destinationEntity="Tag" inverseName="items" inverseEntity="Tag"/>
      <relationship name="parts" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade"
        destinationEntity="Part" inverseName="item" inverseEntity="Part"/>
    </entity>
    <entity name="Tag" representedClassName="Tag" parentEntity="Thing" syncable="YES">
      <relationship name="items" optional="YES" toMany="YES" deletionRule="Nullify"
        destinationEntity="Item" inverseName="tags" inverseEntity="Item"/>
    </entity>
    <entity name="Box" representedClassName="Box" syncable="YES">
      <attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="shelf" optional="YES" attributeType="Integer 32"/>
      <relationship name="items" optional="YES" toMany="YES" deletionRule="Deny"
        destinationEntity="Item" inverseName="box" inverseEntity="Item"/>
      <uniquenessConstraints>
        <uniquenessConstraint>
          <constraint value="name"/><constraint value="shelf"/>
        </uniquenessConstraint>
      </uniquenessConstraints>
    </entity>
    <entity name="Part" representedClassName="Part" syncable="YES">
      <attribute name="size" attributeType="Integer 64" defaultValueString="0"/>
      <relationship name="item" optional="YES" maxCount="1" deletionRule="Nullify"
        destinationEntity="Item" inverseName="parts" inverseEntity="Item"/>
    </entity>
    """

  /// The whole document.
  package static let document = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
    \(contents)
    </model>
    """
}
