// The manual page of the control protocol, made of the interface texts.

/// The page `cairn-varlink(7)`: how calls travel, and every interface as introspection gives it.
public struct ProtocolManual: Sendable {
  private let service: ServiceDescription

  public init(_ service: ServiceDescription) { self.service = service }

  /// The page in the language of `troff`, with the macros of `man`.
  public var text: String {
    var page = Troff()
    page.macro("TH", ["CAIRN-VARLINK", "7", "", "Cairn \(CairnVersion.text)", "Cairn"])
    page.macro("SH", ["Name"])
    page.line("cairn-varlink - the control protocol of cairnd")
    page.macro("SH", ["Synopsis"])
    page.line("/run/cairnd/control")
    page.macro("SH", ["Description"])
    page.paragraph(Self.description)
    page.macro("SH", ["Roles"])
    page.paragraph(Self.roles)
    page.macro("SH", ["Limits"])
    page.paragraph(Self.limits)
    page.macro("SH", ["Examples"])
    page.paragraph("With varlinkctl of systemd 255 and later:")
    page.example(Self.examples)
    page.macro("SH", ["Interfaces"])
    page.line("As varlinkctl introspect prints them; the comment above a method says its role.")
    for interface in service.interfaces {
      page.macro("SS", [interface.name])
      page.example(interface.text)
    }
    page.macro("SH", ["See also"])
    page.line("cairnctl(1), cairnd(8), cairnd.yaml(5), varlinkctl(1)")
    return page.text
  }

  private static let description = """
    cairnd speaks Varlink at a Unix stream socket: each message is one JSON object and a NUL byte, in both \
    directions. A call has a method and parameters; its answer has parameters, or an error with parameters of its \
    own. Answers come in the order of the calls, and the next call on a connection waits for the answer to the one \
    before. Any client of Varlink works as it is.

    A method whose comment says that it needs more answers with a stream: each answer but the last has continues \
    set. What is now comes first on such a stream, and then what changes.

    Whole numbers beyond 2^53 are strings; so are decimals and UUIDs. Dates are strings of ISO 8601 with a fraction \
    and Z, binary values base64. References to records are their IDs.
    """

  private static let roles = """
    The kernel says who has connected. root and the user of the daemon have the role owner, members of \
    control.adminGroup the role control, members of control.statusGroup the role status; each role may do what the \
    ones after it may. All others are refused, whatever they call.
    """

  private static let limits = """
    A call has at most \(JSONLimits.message.byteCount >> 20) MiB, which must arrive within ten seconds of its first \
    byte, and is nested at most \(JSONLimits.message.depth) deep. A connection ends when its client leaves \
    answers unread for half a minute.
    """

  private static let examples = """
    varlinkctl info /run/cairnd/control
    varlinkctl introspect /run/cairnd/control io.cairn.Sync
    varlinkctl call /run/cairnd/control io.cairn.Daemon.GetStatus '{}'
    varlinkctl call --more /run/cairnd/control io.cairn.Daemon.Monitor '{}'
    """
}
