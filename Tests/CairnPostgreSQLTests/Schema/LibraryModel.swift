// The model that tests of SQL share, as the schemas that PostgreSQL's tables are made from.

import CairnModel
import CairnSQL
import TestSupport

extension LibraryModel {
  static func make(_ change: (([String: EntityDescription]) -> Void)? = nil) throws -> SQLSchema {
    SQLSchema(model: try model(change))
  }

  static func schema(_ entities: [EntityDescription]) throws -> SQLSchema {
    SQLSchema(model: try model(of: entities))
  }
}
