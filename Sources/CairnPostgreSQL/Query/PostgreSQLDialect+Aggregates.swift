import CairnModel
import CairnSQL

// Aggregates as the evaluator makes them: sums of integers are exact, those of doubles are added from the smallest to the
// largest, whatever order the rows come in.

extension PostgreSQLDialect {
  func aggregate(
    _ function: SQLAggregate, _ term: SQLTerm, isOfMembers: Bool
  ) throws -> SQLTerm {
    switch function {
    case .count:
      return SQLTerm("COUNT(" + (term.parts.first ?? term.fragment) + ")", .integer)
    case .minimum: return try extreme("MIN", term, isOfMembers)
    case .maximum: return try extreme("MAX", term, isOfMembers)
    case .sum:
      if term.kind == .decimal, !isOfMembers {
        return SQLTerm("SUM(" + term.fragment + ")", .decimal)
      }
      let (sum, kind) = try sum(term)
      guard isOfMembers else { return SQLTerm(sum, kind) }
      return SQLTerm(ofAny(term, sum), kind)
    case .average:
      let (sum, kind) = try sum(term)
      let total = kind.isInteger ? "SUM(" + integer(term) + ")::double precision" : sum
      let average: SQLFragment = total + " / NULLIF(COUNT(" + term.fragment + "), 0)"
      return SQLTerm(isOfMembers ? ofAny(term, average) : "(" + average + ")", .double)
    }
  }

  /// The sum of numbers; NULL of none.
  private func sum(_ term: SQLTerm) throws -> (SQLFragment, SQLKind) {
    if term.kind.isInteger {
      // A sum that is no integer is the server's error, and memory's to tell.
      return ("SUM(" + integer(term) + ")::bigint", .integer)
    }
    guard term.kind == .double else { throw SQLUnsupported() }
    // Opposite infinities have no sum.
    let sum = "SUM(" + term.fragment + " ORDER BY " + term.fragment + ")"
    return ("NULLIF(" + sum + ", 'NaN')", .double)
  }

  /// 0 of nothing.
  private func ofAny(_ term: SQLTerm, _ value: SQLFragment) -> SQLFragment {
    "CASE WHEN COUNT(" + term.fragment + ") = 0 THEN 0 ELSE " + value + " END"
  }

  private func extreme(
    _ name: String, _ term: SQLTerm, _ isOfMembers: Bool
  ) throws -> SQLTerm {
    switch term.kind {
    case .boolean: return SQLTerm("(\(name)(" + integer(term) + ") <> 0)", .boolean)
    case .integer, .double, .decimal, .string, .date:
      return SQLTerm("\(name)(" + term.fragment + ")", term.kind)
    case .url where !isOfMembers: return SQLTerm("\(name)(" + term.fragment + ")", .url)
    case .uuid, .url, .data, .opaqueData, .object, .entity, .null: throw SQLUnsupported()
    }
  }
}
