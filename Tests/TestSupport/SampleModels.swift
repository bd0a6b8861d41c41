import CairnModel
import CairnModelFiles
import CairnPredicates
import Foundation

/// Models that several suites use.
package enum SampleModels {
  /// Authors, books and all that a model can hold, as an editor would write it.
  package static func everything() throws -> ManagedObjectModel {
    try ModelDocumentReader.read(Data(document.utf8), file: "Library/contents")
  }

  /// An index over an expression, an index with a condition, and an attribute that is derived of some.
  package static func computedParts() -> ManagedObjectModel {
    let computed = ExpressionDescription()
    computed.name = "total"
    computed.expression = ObjectExpression(format: "price * 2 + 1")
    computed.expressionResultType = .double
    let element = FetchIndexElementDescription(property: computed, collationType: .binary)
    element.isAscending = false
    let index = FetchIndexDescription(name: "byTotal", elements: [element])
    index.partialIndexPredicate = ObjectPredicate(format: "price > 3 AND name != nil")
    let count = DerivedAttributeDescription()
    count.name = "count"
    count.attributeType = .integer64
    count.derivationExpression = ObjectExpression(format: "count:(parts)")
    count.filteringPredicate = ObjectPredicate(
      format: "SUBQUERY(parts, $p, $p.price > 1).@count > 0")
    let item = EntityDescription(
      name: "Item",
      properties: [
        AttributeDescription(name: "name", type: .string),
        AttributeDescription(name: "price", type: .double), count,
      ])
    let parts = RelationshipDescription()
    parts.name = "parts"
    parts.destinationEntity = item
    item.properties.append(parts)
    item.indexes = [index]
    let model = ManagedObjectModel()
    model.entities = [item]
    return model
  }

  package static let document = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" \
    userDefinedModelVersionIdentifier="1.0">
      <entity name="Work" representedClassName=".Work" isAbstract="YES" syncable="YES">
        <attribute name="title" attributeType="String" defaultValueString="" minValueString="1" \
    maxValueString="200" regularExpressionString="[A-Z].*"/>
        <attribute name="year" optional="YES" attributeType="Integer 16" defaultValueString="1900" \
    minValueString="-500" maxValueString="2100" usesScalarValueType="YES" indexed="YES"/>
        <attribute name="price" optional="YES" attributeType="Decimal" \
    defaultValueString="12.50" minValueString="0.5"/>
        <attribute name="added" optional="YES" attributeType="Date" \
    defaultDateTimeInterval="694224000" minDateTimeInterval="0" maxDateTimeInterval="1000000000"/>
        <attribute name="isSigned" attributeType="Boolean" defaultValueString="YES"/>
        <attribute name="cover" optional="YES" attributeType="Binary" \
    allowsExternalBinaryDataStorage="YES"/>
        <attribute name="uuid" optional="YES" attributeType="UUID" preserveAfterDeletion="YES" \
    defaultValueString="6B29FC40-CA47-1067-B31D-00DD010662DA"/>
        <attribute name="page" optional="YES" attributeType="URI" \
    defaultValueString="https://example.org/a?b=c"/>
        <attribute name="tags" optional="YES" attributeType="Transformable" \
    valueTransformerName="NSSecureUnarchiveFromData" customClassName="[String]"/>
        <attribute name="scratch" optional="YES" transient="YES"/>
        <attribute name="size" optional="YES" attributeType="Composite" composite="Size"/>
        <relationship name="author" maxCount="1" deletionRule="Nullify" \
    destinationEntity="Author" inverseName="works" inverseEntity="Author"/>
        <fetchIndex name="byYear">
          <fetchIndexElement property="year" type="Binary" order="descending"/>
          <fetchIndexElement property="title" type="Binary" order="ascending"/>
        </fetchIndex>
        <uniquenessConstraints>
          <uniquenessConstraint>
            <constraint value="uuid"/>
          </uniquenessConstraint>
          <uniquenessConstraint>
            <constraint value="title"/>
            <constraint value="year"/>
          </uniquenessConstraint>
        </uniquenessConstraints>
      </entity>
      <entity name="Book" representedClassName="Book" parentEntity="Work" syncable="YES" \
    codeGenerationType="class" elementID="Volume" versionHashModifier="2">
        <attribute name="pages" attributeType="Integer 32" defaultValueString="0" \
    elementID="pageCount"/>
        <userInfo>
          <entry key="shelf" value="north"/>
        </userInfo>
      </entity>
      <entity name="Author" representedClassName="Author" syncable="YES">
        <attribute name="name" attributeType="String"/>
        <attribute name="workCount" optional="YES" attributeType="Integer 64" derived="YES" \
    derivationExpression="count:(works)"/>
        <relationship name="works" optional="YES" toMany="YES" deletionRule="Cascade" \
    ordered="YES" destinationEntity="Work" inverseName="author" inverseEntity="Work"/>
        <relationship name="friends" optional="YES" toMany="YES" minCount="1" maxCount="5" \
    deletionRule="No Action" destinationEntity="Author" inverseName="friends" \
    inverseEntity="Author"/>
        <fetchedProperty name="recent" optional="YES">
          <fetchRequest name="fetchedPropertyFetchRequest" entity="Book" \
    predicateString="author == $FETCH_SOURCE AND year &gt; 2000"/>
        </fetchedProperty>
      </entity>
      <configuration name="Local">
        <memberEntity name="Author"/>
      </configuration>
      <fetchRequest name="thick" entity="Book" predicateString="pages &gt;= $PAGES" \
    fetchLimit="10" includesSubentities="NO"/>
      <composite name="Size">
        <attribute name="height" optional="YES" attributeType="Double" defaultValueString="0.0"/>
        <attribute name="width" optional="YES" attributeType="Double" defaultValueString="0.0"/>
      </composite>
      <elements>
        <element name="Book" positionX="0" positionY="0" width="128" height="44"/>
      </elements>
    </model>
    """
}
