import CairnModel

/// One section of fetched results.
///
/// Source: `NSFetchedResultsSectionInfo`.
public protocol FetchedResultsSectionInfo {
  /// The text of the objects' common value at the section key path; empty without sections.
  var name: String { get }
  /// What a list of sections shows for it, such as the first letter of the name.
  var indexTitle: String? { get }
  var numberOfObjects: Int { get }
  /// The section's objects in their order.
  var objects: [Any]? { get }
}

/// A section as it was when it was asked for; later changes make new ones.
struct FetchedResultsSection: FetchedResultsSectionInfo {
  let name: String
  let indexTitle: String?
  /// The whole results, shared by all sections.
  let content: ResultsContent
  let range: Range<Int>

  var numberOfObjects: Int { range.count }
  var objects: [Any]? { Array(content.objects[range]) }
}
