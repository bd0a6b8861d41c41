// Names of Objective-C and Foundation that sources for Core Data use and Linux lacks.
import CairnStack
import Foundation

/// The name of a method, for sort descriptors and custom comparisons.
public typealias Selector = SelectorName

/// Runs the body; on Linux there is no pool to be emptied, objects go as soon as nobody holds them.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
  try body()
}
