import CairnModel
import CairnStore

extension SQLQueryPlan {
  /// Says of a fetch what the database does and what is left for memory.
  package func explain(
    _ request: StoreFetchRequest, in result: inout StoreFetchExplanation,
    statements: [StoreFetchExplanation.Statement]
  ) {
    result.statements = statements
    result.predicateInMemory = remainder?.predicateFormat
    result.sortInMemory = memorySort.map(\.description)
    result.makesDictionariesInMemory = isDictionaryInMemory
    result.limitsInMemory =
      limitsInMemory && dictionary == nil && (request.limit > 0 || request.offset > 0)
  }
}
