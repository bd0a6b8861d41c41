// The real `cairnctl page` beside a real daemon.
import CairnTesting
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct PageTests {
  private let folder: TemporaryFolder
  private let daemon: Daemon

  init() throws {
    folder = try TemporaryFolder()
    daemon = try Daemon(
      in: folder,
      .init(replicas: [
        ("nas", folder.file("nas.sqlite")), ("away", folder.file("nowhere/away.sqlite")),
      ]))
  }

  private func pages(_ more: String...) async throws -> ServedPages {
    try await ServedPages(
      ["page", "--socket", daemon.socket, "--listen", folder.file("page")] + more)
  }

  @Test func linksStoresAndWhatWaitsAreShown() async throws {
    try await daemon.start()
    let package = "{\"name\": \"<script>alert(1)</script>\", \"version\": \"1\"}"
    let imported = try await daemon.ctl(
      "import", "-", "--entity", "Package", "--key", "name", input: package)
    #expect(imported.code == 0, "\(imported.errors)")
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    let pages = try await pages()
    let first = try await pages.answer("/")
    #expect(first.hasPrefix("HTTP/1.1 200"))
    #expect(first.contains(">serving</span>") && first.contains(">in sync</span>"))
    #expect(first.contains(">unavailable</span>"), "of the replica without a folder")
    #expect(first.contains("http-equiv=\"refresh\" content=\"10\""))
    #expect(first.contains("at most an hour of them"), "what plots are made of")
    let still = try await pages.answer("/?refresh=off")
    #expect(!still.contains("http-equiv=\"refresh\"") && still.contains("/links/nas?refresh=off"))
    let link = try await pages.answer("/links/away")
    #expect(link.contains("there is no") && link.contains("Next attempt"))
    for store in ["local", "nas"] {
      let rows = try await pages.answer("/stores/\(store)/entities/Package")
      #expect(rows.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !rows.contains("<script"))
      #expect(rows.contains("href=\"/stores/\(store)/records/Package/p1\""))
      let history = try await pages.answer("/stores/\(store)/history")
      #expect(history.contains("href=\"/stores/\(store)/records/Package/p1\""))
    }
    for (path, code) in [
      ("/stores/nas/records/Package/p1", "200"), ("/stores/nas/changes/Package/p1", "200"),
      ("/stores/nas/check", "200"), ("/stores/nas/diagram.svg", "200"), ("/icon.svg", "200"),
      ("/conflicts", "200"), ("/quarantine", "200"), ("/style.css", "200"),
      ("/stores/away/", "503"), ("/stores/nope/", "404"), ("/links/nope", "404"),
      ("/conflicts/nope", "404"), ("/conflicts?after=nope", "404"), ("/nothing", "404"),
      ("/stores/..%2f..%2fetc/", "404"),
    ] {
      #expect(try await pages.answer(path).hasPrefix("HTTP/1.1 \(code)"), "\(path)")
    }
    #expect(try await pages.answer("/", method: "POST").hasPrefix("HTTP/1.1 405"))
    #expect(try await pages.answer("/", host: "evil.example").hasPrefix("HTTP/1.1 421"))
    #expect(try await pages.end() == 0)
  }

  @Test func aDaemonThatIsAwayIsSaidToBeSinceWhenAndNothingIsClaimedOfItsStores() async throws {
    let pages = try await pages("--refresh", "0")
    let before = try await pages.answer("/")
    #expect(before.contains("It has not answered since this page began."))
    #expect(!before.contains("http-equiv=\"refresh\""))
    #expect(try await pages.answer("/stores/local/").hasPrefix("HTTP/1.1 503"))
    try await daemon.start()
    let isSeen = try await eventually { try pages.answerNow("/").contains(">in sync</span>") }
    #expect(isSeen, "the daemon came")
    daemon.kill()
    let isMissed = try await eventually { try pages.answerNow("/").contains("No answer since ") }
    #expect(isMissed, "the daemon went")
    for path in ["/", "/links/nas"] {
      let gone = try await pages.answer(path)
      #expect(gone.contains("Its last answer came at "), "\(path)")
      for claim in [">in sync<", ">open<", ">serving<", ">none<"] {
        #expect(!gone.contains(claim), "\(path) claims \(claim)")
      }
    }
    #expect(try await pages.answer("/stores/local/").hasPrefix("HTTP/1.1 503"))
    #expect(try await pages.answer("/conflicts").hasPrefix("HTTP/1.1 503"))
    try await daemon.start()
    let isBack = try await eventually {
      let page = try pages.answerNow("/")
      return page.contains(">in sync</span>") && !page.contains("No answer since ")
    }
    #expect(isBack, "the daemon came back")
    #expect(try await pages.end() == 0)
  }

  /// A name has at most eight characters; the version of the model is the same without that.
  private func model(isStrict: Bool) throws -> String {
    try TestModel.write(
      isStrict ? "Strict" : "Lax", in: folder,
      contents: """
        <entity name="Item" representedClassName="Item" syncable="YES">
          <attribute name="name" optional="YES" attributeType="String"
            \(isStrict ? "maxValueString=\"8\"" : "")/>
          <attribute name="count" optional="YES" attributeType="Integer 64"/>
        </entity>
        """)
  }

  @Test func conflictsAndWhatWaitsAreShownWithTheirCommandsAndNothingInThemIsMarkup() async throws {
    let near = folder.file("near.sqlite")
    let daemon = try Daemon(
      in: folder, .init(name: "e", model: try model(isStrict: true), replicas: [("near", near)]))
    try await daemon.start()
    for name in ["nut", "bolt"] { try await daemon.ctl("insert", "Item", "name=\(name)") }
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    try await daemon.ctl("pause", "near")
    let application = try ApplicationStore(model: try model(isStrict: false), path: near)
    try application.update("Item", named: "nut", ["name": "<b>nut</b>"])
    try application.update("Item", named: "bolt", ["name": "<i>much too long</i>"])
    let found = try await daemon.ctl(
      "fetch", "Item", "--where", "name == 'nut'", "--properties", "id", "--format", "csv")
    let id = try #require(found.output.split(whereSeparator: \.isNewline).last.map(String.init))
    try await daemon.ctl("update", "Item", id, "name=<u>n")
    try await daemon.ctl("resume", "near")
    let pages = try await ServedPages(
      ["page", "--socket", daemon.socket, "--listen", folder.file("page")])
    let isMerged = try await eventually {
      try pages.answerNow("/conflicts").contains("href=\"/conflicts/")
        && pages.answerNow("/quarantine").contains("from near")
    }
    #expect(isMerged, "\(daemon.log(last: 5))")
    let conflicts = try await pages.answer("/conflicts")
    #expect(conflicts.contains("&lt;b&gt;nut&lt;/b&gt;") && conflicts.contains("&lt;u&gt;n"))
    #expect(conflicts.contains("the later write won") && conflicts.contains(id))
    let link = try #require(conflicts.firstMatch(of: /href="(\/conflicts\/[^"]+)"/)?.1)
    let conflict = try await pages.answer(String(link))
    #expect(conflict.contains("<code>cairnctl conflicts restore "))
    #expect(conflict.contains("&lt;b&gt;nut&lt;/b&gt;"))
    let quarantine = try await pages.answer("/quarantine")
    #expect(quarantine.contains("in local, from near"), "\(quarantine)")
    #expect(quarantine.contains("<code>cairnctl quarantine show "))
    for page in [conflicts, conflict, quarantine] {
      for tag in ["<b>", "<u>", "<i>"] { #expect(!page.contains(tag)) }
    }
    // The link says so when its pass has ended.
    let isBehind = try await eventually {
      try pages.answerNow("/").contains(">behind</span>")
        && pages.answerNow("/links/near").contains("<code>cairnctl quarantine</code>")
    }
    #expect(isBehind, "one record waits")
    #expect(try await pages.end() == 0)
  }

  @Test func aPortNeedsTheKey() async throws {
    let pages = try await ServedPages(["page", "--socket", daemon.socket])
    let base = try #require(pages.location.split(separator: "?").first.map(String.init))
    let stranger = URLSession(configuration: .ephemeral)
    #expect(try await ServedPages.answer(base, in: stranger).code == 403)
    #expect(try await ServedPages.answer(base + "links/nas", in: stranger).code == 403)
    let session = URLSession(configuration: .ephemeral)
    #expect(try await ServedPages.answer(pages.location, in: session).code == 200)
    #expect(try await ServedPages.answer(base + "style.css", in: session).code == 200)
    #expect(
      try await ServedPages.answer(pages.location, host: "evil.example", in: session).code == 421)
    #expect(try await pages.end() == 0)
  }

  @Test(arguments: [
    (["--listen", "0.0.0.0:80"], Int32(64), "is not of this machine alone"),
    (["--refresh", "1"], 64, "--refresh is a number of seconds"),
    (["--listen", "/no/such/folder/page"], 1, "page: No such file or directory\n"),
    (["--timeout", "-1"], 64, "--timeout"),
  ])
  func badInputIsRefused(arguments: [String], code: Int32, text: String) async throws {
    let outcome = try await daemon.ctl(["page"] + arguments)
    #expect(outcome.code == code && outcome.errors.contains(text), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }
}
