/// Documents of models and mapping models that ask for more than there can be.
package enum HostileModelDocuments {
  private static func model(_ contents: String) -> String {
    "<?xml version=\"1.0\"?>\n<model>\n\(contents)\n</model>\n"
  }

  /// Composites that hold each other, or stand for more attributes than memory holds.
  package static var composites: [String] {
    let bomb = (0..<20).map { level in
      "<composite name=\"C\(level)\">"
        + (0..<10).map {
          "<attribute name=\"a\($0)\" attributeType=\"Composite\" composite=\"C\(level + 1)\"/>"
        }.joined() + "</composite>"
    }
    let chain = (0..<60).map {
      "<composite name=\"C\($0)\"><attribute name=\"a\" attributeType=\"Composite\" "
        + "composite=\"C\($0 + 1)\"/></composite>"
    }
    let last =
      "<composite name=\"C20\"/><composite name=\"C60\"><attribute name=\"x\" "
      + "attributeType=\"String\"/></composite>"
    let entity =
      "<entity name=\"E\"><attribute name=\"c\" attributeType=\"Composite\" composite=\"C0\"/>"
      + "</entity>"
    return [
      model(entity + bomb.joined() + last), model(entity + chain.joined() + last),
      model(
        entity + "<composite name=\"C0\"><attribute name=\"x\" attributeType=\"Composite\" "
          + "composite=\"C0\"/></composite>"),
      model(entity + "<composite name=\"C0\"/>"),
    ]
  }

  /// Entities that inherit from each other, or one from the other for ever.
  package static var inheritance: [String] {
    let chain = (0..<20_000).map { "<entity name=\"E\($0)\" parentEntity=\"E\($0 + 1)\"/>" }
    return [
      model((chain + ["<entity name=\"E20000\"/>"]).joined()),
      model((chain.reversed() + ["<entity name=\"E20000\"/>"]).joined()),
      model((chain + ["<entity name=\"E20000\" parentEntity=\"E0\"/>"]).joined()),
      model("<entity name=\"E\" parentEntity=\"E\"/>"),
    ]
  }

  /// Entities that multiply the properties of the one they inherit from.
  package static var inheritedProperties: [String] {
    let attributes = (0..<5000).map { "<attribute name=\"a\($0)\" attributeType=\"String\"/>" }
    let entities = (0..<5000).map { "<entity name=\"E\($0)\" parentEntity=\"A\"/>" }
    return [model("<entity name=\"A\">" + attributes.joined() + "</entity>" + entities.joined())]
  }

  /// XML that is larger or deeper than it looks.
  package static var markup: [String] {
    let entities = (1..<12).map { level in
      "<!ENTITY e\(level) \"" + String(repeating: "&e\(level - 1);", count: 10) + "\">"
    }
    return [
      "<?xml version=\"1.0\"?><!DOCTYPE model [<!ENTITY e0 \"lollollol\">"
        + entities.joined() + "]><model><entity name=\"&e11;\"/></model>",
      "<?xml version=\"1.0\"?><!DOCTYPE model [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>"
        + "<model><entity name=\"A\"/>&x;</model>",
      String(repeating: "<model>", count: 100_000), String(repeating: "<", count: 100_000),
      "<model " + (0..<20_000).map { "a\($0)=\"\" " }.joined() + "/>", "<model>", "", "\0",
      "<?xml version=\"1.0\" encoding=\"UTF-32\"?><model/>", "<a/>",
    ]
  }

  /// A mapping model as the editor writes it, for damage.
  package static let mapping = """
    <?xml version="1.0" standalone="yes"?>
    <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
    <database>
    <databaseInfo>
    <version>134481920</version>
    <UUID>E621E1F8-C36C-495A-93FC-0C247A3E6E5F</UUID>
    <nextObjectID>107</nextObjectID>
    </databaseInfo>
    <object type="XDDEVMAPPINGMODEL" id="z100">
    <attribute name="sourcemodelpath" type="string">Old.xcdatamodel</attribute>
    <attribute name="destinationmodelpath" type="string">New.xcdatamodel</attribute>
    <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z101 z102"></relationship>
    </object>
    <object type="XDDEVENTITYMAPPING" id="z101">
    <attribute name="sourcename" type="string">Item</attribute>
    <attribute name="destinationname" type="string">Item</attribute>
    <attribute name="mappingtypename" type="string">Undefined</attribute>
    <attribute name="mappingnumber" type="int16">1</attribute>
    <relationship name="mappingmodel" type="1/1" destination="XDDEVMAPPINGMODEL" idrefs="z100"></relationship>
    <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z103 z104"></relationship>
    <relationship name="relationshipmappings" type="0/0" destination="XDDEVRELATIONSHIPMAPPING" idrefs="z105 z106"></relationship>
    </object>
    <object type="XDDEVENTITYMAPPING" id="z102">
    <attribute name="sourcename" type="string">Box</attribute>
    <attribute name="destinationname" type="string">Box</attribute>
    <attribute name="migrationpolicyclassname" type="string">BoxPolicy</attribute>
    <attribute name="mappingnumber" type="int16">2</attribute>
    <relationship name="mappingmodel" type="1/1" destination="XDDEVMAPPINGMODEL" idrefs="z100"></relationship>
    <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING"></relationship>
    <relationship name="relationshipmappings" type="0/0" destination="XDDEVRELATIONSHIPMAPPING"></relationship>
    </object>
    <object type="XDDEVATTRIBUTEMAPPING" id="z103">
    <attribute name="name" type="string">name</attribute>
    <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z101"></relationship>
    </object>
    <object type="XDDEVATTRIBUTEMAPPING" id="z104">
    <attribute name="name" type="string">i64</attribute>
    <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z101"></relationship>
    </object>
    <object type="XDDEVRELATIONSHIPMAPPING" id="z105">
    <attribute name="name" type="string">tags</attribute>
    <attribute name="sourcekeypath" type="string">$source.tags</attribute>
    <attribute name="sourcemappingname" type="string">TagToTag</attribute>
    <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z101"></relationship>
    </object>
    <object type="XDDEVRELATIONSHIPMAPPING" id="z106">
    <attribute name="name" type="string">box</attribute>
    <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z101"></relationship>
    </object>
    </database>
    """
}
