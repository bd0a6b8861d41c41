// Where and how much the lists of what waits show.
import ArgumentParser

/// The options of commands that list what waits in stores, page by page.
struct WaitingOptions: ParsableArguments {
  @Option(name: .long, help: "Only what waits in this store.", completion: .stores)
  var store: String?

  @OptionGroup var length: LengthOption

  var limit: Int { length.limit }
}

/// The option of commands whose lists may be long.
struct LengthOption: ParsableArguments {
  @Option(name: .long, parsing: .unconditional, help: "At most so many.")
  var limit = 100

  func validate() throws {
    if limit < 1 { throw ValidationError("--limit is at least 1.") }
  }
}
